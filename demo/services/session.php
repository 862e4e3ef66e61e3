<?php
/* A page that asks a slow service while it has its session, so that other pages of the same visitor wait for that. */
function ask_payment_service(): void
{
	usleep(40000);
}

function show_cart(): void
{
	session_start();
	$_SESSION['views'] = ($_SESSION['views'] ?? 0) + 1;
	ask_payment_service();
	echo $_SESSION['views'];
}

show_cart();
