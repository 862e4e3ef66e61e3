"""Removes duplicates from a list, in time that grows with its square: dedupe.py COUNT"""
import sys


def remove_duplicates(items):
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen


print(len(remove_duplicates([i * 7919 % 1000003 for i in range(int(sys.argv[1]))])))
