// Takes turns with another process from some functions deep: for bench/languages_cost.
//
//	turns.js DEPTH same
//
// Answers each byte of standard input by one on standard output, from a loop in the innermost function.
'use strict';
const fs = require('fs');
const buffer = Buffer.alloc(1);

function answer() {
	while (fs.readSync(0, buffer, 0, 1) === 1)
		fs.writeSync(1, buffer, 0, 1);
	return 1;
}

function handle(depth) {
	const left = depth - 1;
	return (left > 0 ? handle(left) : answer()) + 1;
}

handle(Number(process.argv[2]));
