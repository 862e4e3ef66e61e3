/* Threads that answer from memory, and one that syncs a journal while it has the lock of all: journal FILE */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static int file;
static long table[1024];

__attribute__((noinline)) static void write_journal(void)
{
	static char block[65536];

	if (pwrite(file, block, sizeof(block), 0) > 0)
		fdatasync(file);
}

static void *keep_journal(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&table_lock);
		write_journal();
		pthread_mutex_unlock(&table_lock);
		usleep(3000);
	}
	return unused;
}

__attribute__((noinline)) static void look_up(long key)
{
	pthread_mutex_lock(&table_lock);
	table[key % 1024]++;
	pthread_mutex_unlock(&table_lock);
}

static void *answer(void *unused)
{
	for (long i = 0;; i++) {
		look_up(i);
		usleep(200);
	}
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t thread;

	file = count > 1 ? open(arguments[1], O_CREAT | O_WRONLY, 0600) : -1;
	pthread_create(&thread, NULL, keep_journal, NULL);
	pthread_setname_np(thread, "journal");
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, answer, NULL);
		pthread_setname_np(thread, "answer");
	}
	pthread_join(thread, NULL);
	return 0;
}
