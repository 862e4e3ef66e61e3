"""Sleeps in a known stack, for python_capture. Prints its own number and the thread's when it is there."""
import os
import sys
import threading
import time


class Trainer:
    def step(self, number):
        return sorted([2, 1], key=self.naïve_ключ)

    def naïve_ключ(self, value):
        for result in self.generator(value):
            return result

    def generator(self, value):
        (lambda: [self.sleep(depth) for depth in (3,)])()
        yield value

    def sleep(self, depth):
        if depth:
            return self.sleep(depth - 1)
        print(os.getpid(), threading.get_native_id())
        sys.stdout.flush()
        time.sleep(60)


thread = threading.Thread(target=Trainer().step, args=(1,), daemon=True)
thread.start()
thread.join(60)
