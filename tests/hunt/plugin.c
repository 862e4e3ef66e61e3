/* A plugin that prey loads while it runs. */
#include <stdint.h>

void plugin_work(void (*burn)(void *context), void *context);

void plugin_work(void (*burn)(void *context), void *context)
{
	burn(context);
	burn(context);
}
