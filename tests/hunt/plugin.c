/* A plugin that prey loads while it runs. */

void plugin_work(void (*burn)(void *context), void *context);

static volatile int done;

void plugin_work(void (*burn)(void *context), void *context)
{
	burn(context);
	burn(context);
	done++; /* so that the last call is no tail call */
}
