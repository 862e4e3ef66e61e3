/* Burns processor time in two functions: two_parts PARSE RENDER, in rounds of a loop. */
#include <stdlib.h>

static volatile unsigned long sum;

__attribute__((noinline)) void parse(unsigned long rounds);
__attribute__((noinline)) void render(unsigned long rounds);

void parse(unsigned long rounds)
{
	while (rounds--)
		sum += rounds;
}

void render(unsigned long rounds)
{
	while (rounds--)
		sum += 2 * rounds;
}

int main(int count, char **words)
{
	if (count != 3)
		return 2;
	parse(strtoul(words[1], NULL, 10));
	render(strtoul(words[2], NULL, 10));
	return 0;
}
