"""Takes turns with another process from some functions deep: for bench/languages_cost.

	turns.py DEPTH same|changing      (an odd number of functions)

Answers each byte of standard input by one on standard output. `same`: from a loop in the innermost function, so that the
stack of every turn is the same. `changing`: every turn calls all of the functions again, and of four innermost ones the next.
"""
import os
import sys


class Service:
    """Functions as programs have them: a few arguments and locals."""

    def __init__(self, changes):
        self.changes = changes

    def answer(self, depth, number):
        while True:
            byte = os.read(0, 1)
            if not byte:
                sys.exit(0)
            os.write(1, byte)
            if self.changes:
                return depth + number

    def answer_first(self, depth, number):
        return self.answer(depth, number)

    def answer_second(self, depth, number):
        return self.answer(depth, number)

    def answer_third(self, depth, number):
        return self.answer(depth, number)

    def answer_fourth(self, depth, number):
        return self.answer(depth, number)

    def handle(self, depth, number):
        left = depth - 1
        if left > 0:
            result = self.forward(left, number)
        else:
            choice = (self.answer_first, self.answer_second, self.answer_third, self.answer_fourth)
            result = choice[number & 3](left, number)
        return result

    def forward(self, depth, number):
        left = depth - 1
        kind = 'even' if left & 1 else 'odd'
        result = self.handle(left, number)
        return result if kind else None


def main():
    # Without <module>, main, answer_first or another one, and answer; an odd number, for handle is the last of them.
    depth, number = int(sys.argv[1]) - 4, 0
    service = Service(sys.argv[2] == 'changing')
    while True:
        service.handle(depth, number)
        number += 1


main()
