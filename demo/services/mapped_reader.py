"""Reads pages of a mapped file in random order: mapped_reader.py FILE"""
import mmap
import random
import sys


def read_records(data):
    total = 0
    while True:
        total += data[random.randrange(len(data))]


def main():
    with open(sys.argv[1], 'rb') as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        data.madvise(mmap.MADV_RANDOM)
        read_records(data)


main()
