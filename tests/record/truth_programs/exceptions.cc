/*
 * Exceptions: what is recorded in functions that caught one, and behind them, has the
 * right stack, whatever was thrown through.
 */
#include "truth.h"

#include <cstring>
#include <stdexcept>

extern "C" {
void truth_linger_here();
void truth_throw(unsigned depth);
void truth_catch(unsigned depth);
void truth_case_exceptions();
}

static volatile unsigned kept;

/* Pops its name also when an exception leaves the function. */
struct entered {
	explicit entered(const char *name)
	{
		truth_push(name);
	}
	~entered()
	{
		truth_pop();
	}
};

TRUTH_FUNCTION void truth_linger_here()
{
	entered here("truth_linger_here");

	for (int i = 0; i < 8; i++)
		truth_wait();
	truth_work(2);
}

TRUTH_FUNCTION void truth_throw(unsigned depth)
{
	volatile char room[300];
	entered here("truth_throw");

	room[depth] = 1;
	if (!depth)
		throw std::runtime_error("out");
	truth_throw(depth - 1);
	kept += (unsigned)room[depth];
}

/* Throws from `depth` functions below, catches it, and goes on, in the handler and behind it. */
TRUTH_FUNCTION void truth_catch(unsigned depth)
{
	entered here("truth_catch");

	try {
		truth_throw(depth);
	} catch (const std::exception &caught) {
		kept += (unsigned)std::strlen(caught.what());
		truth_linger_here();
	}
	truth_linger_here();
}

void truth_case_exceptions()
{
	entered here("truth_case_exceptions");

	for (unsigned i = 0; i < 20; i++)
		truth_catch(i * 10);
}

extern "C" const struct truth_case truth_cases[] = {
	{ "exceptions", truth_case_exceptions },
	{ nullptr, nullptr },
};
