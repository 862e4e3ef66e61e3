/*
 * The program that bench/hunt-cost hunts first: a server in C++ with its clients in one process. Threads take requests from a
 * queue, look words up in a map under a lock and sort what they found.
 *
 *	cost_server REQUESTS
 */
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{

std::mutex queue_lock, table_lock;
std::condition_variable arrived;
std::deque<unsigned> requests;
std::map<std::string, unsigned long> table;
bool is_over;

__attribute__((noinline)) std::string make_word(unsigned seed)
{
	std::string word;

	for (int i = 0; i < 8; i++, seed = seed * 1103515245u + 12345u)
		word += static_cast<char>('a' + (seed >> 16) % 26);
	return word;
}

__attribute__((noinline)) unsigned long count_word(const std::string &word)
{
	std::lock_guard<std::mutex> guard(table_lock);

	return ++table[word];
}

__attribute__((noinline)) unsigned long handle_request(unsigned number)
{
	std::vector<std::string> words;
	unsigned long sum = 0;

	for (unsigned i = 0; i < 200; i++)
		words.push_back(make_word(number * 7919 + i * 31));
	std::sort(words.begin(), words.end());
	for (const std::string &word : words)
		sum += count_word(word.substr(0, 3));
	return sum;
}

void serve(unsigned long *sum)
{
	for (;;) {
		std::unique_lock<std::mutex> guard(queue_lock);

		arrived.wait(guard, [] { return is_over || !requests.empty(); });
		if (requests.empty())
			return;
		unsigned number = requests.front();
		requests.pop_front();
		guard.unlock();
		*sum += handle_request(number);
	}
}

} // namespace

int main(int count, char **words)
{
	unsigned requested = count > 1 ? static_cast<unsigned>(std::atoi(words[1])) : 1000;
	std::vector<std::thread> threads;
	unsigned long sums[4] = {};

	for (unsigned long &sum : sums)
		threads.emplace_back(serve, &sum);
	for (unsigned i = 0; i < requested; i++) {
		std::lock_guard<std::mutex> guard(queue_lock);

		requests.push_back(i);
		arrived.notify_one();
	}
	{
		std::lock_guard<std::mutex> guard(queue_lock);

		is_over = true;
		arrived.notify_all();
	}
	for (std::thread &thread : threads)
		thread.join();
	std::printf("%lu\n", sums[0] + sums[1] + sums[2] + sums[3]);
}
