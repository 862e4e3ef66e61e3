/* A program whose work is inlined: work computes in outer_inlined, which has inner_inlined in it. */
static volatile unsigned long sum, count = 1000000;

static inline __attribute__((always_inline)) void inner_inlined(unsigned long times)
{
	for (unsigned long i = 0; i < times; i++)
		sum += i * i;
}

static inline __attribute__((always_inline)) void outer_inlined(unsigned long times)
{
	inner_inlined(times);
	sum++;
}

static __attribute__((noinline)) void work(unsigned long times)
{
	outer_inlined(times);
	sum--;
}

int main(void)
{
	for (int i = 0; i < 100; i++)
		work(count);
	return 0;
}
