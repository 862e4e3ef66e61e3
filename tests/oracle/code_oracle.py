#!/usr/bin/env python3
"""What Lode reads out of code is what objdump reads.

	tests/oracle/code_oracle.py CODE_DUMP FILE...

For each FILE, with symbols and stripped, and for files of random instructions: the
returns, tail calls and callees of each function are compared with the text that
`objdump -d` writes. Exits with 77 (skipped) where objdump is missing, or what Lode
needs for this machine.
"""
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

DUMP = os.path.abspath(sys.argv[1])
CLONE = re.compile(r'(\.(part|cold|constprop|isra|localalias|specialized)(\.\d+)?)+$')

HEADER = re.compile(r'^([0-9a-f]+) <(.*)>:$')
INSTRUCTION = re.compile(r'^ *([0-9a-f]+):\t(?:(?:bnd|notrack|rex\.W|repz|data16|addr32|cs|ds) )*([^ \t]+)\s*(.*)')
CHOSEN = re.compile(r'\*ABS\*\+0x([0-9a-f]+)@plt')
TARGET = re.compile(r'([0-9a-f]+) <(.*?)>')

CALLS = {'bl', 'call', 'callq'}
JUMPS = {'b', 'jmp', 'jmpq'}
BRANCHES = ('b.', 'bc.', 'cbz', 'cbnz', 'tbz', 'tbnz', 'j', 'loop')
POINTERS = {'br', 'blr', 'braa', 'braaz', 'brab', 'brabz', 'blraa', 'blraaz', 'blrab', 'blrabz'}
RETURNS = {'ret', 'retq'}


MACHINES = {183: 'aarch64', 62: 'x86_64'}


def machine(path):
    with open(path, 'rb') as file:
        return MACHINES.get(struct.unpack('<H', file.read(20)[18:])[0])


def tool(name, path):
    """The tool for the machine of a file, with its full name where that is another machine."""
    other = machine(path) != os.uname().machine
    return '%s-linux-gnu-%s' % (machine(path), name) if other else name


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, errors='replace').stdout


class Function:
    def __init__(self, name, indirect, unknown):
        self.name, self.indirect, self.unknown = name, indirect == '1', unknown == '1'
        self.entries, self.ends, self.callees = [], [], []


class Found:
    """What Lode found."""

    def __init__(self, path):
        self.functions, self.pieces, self.main = [], [], -1
        for line in run(DUMP, path).splitlines():
            what, *words = line.split('\t')
            if what == 'function':
                self.functions.append(Function(*words))
            elif what in ('entries', 'ends'):
                setattr(self.functions[-1], what, [int(word, 16) for word in words])
            elif what == 'callees':
                self.functions[-1].callees = [int(word) if word.isdigit() else word for word in words]
            elif what == 'piece':
                self.pieces.append((int(words[0], 16), int(words[1], 16), int(words[2])))
            elif what == 'main':
                self.main = int(words[0])

    def at(self, offset):
        """The function at an offset, or None."""
        if offset is None:
            return None
        low, high = 0, len(self.pieces)
        while low < high:
            middle = (low + high) // 2
            if self.pieces[middle][1] <= offset:
                low = middle + 1
            else:
                high = middle
        if low < len(self.pieces) and self.pieces[low][0] <= offset:
            return self.pieces[low][2]
        return None


def offsets_of(path):
    """From address to file offset."""
    loads = []
    for line in run('readelf', '-lW', path).splitlines():
        words = line.split()
        if words[:1] == ['LOAD']:
            loads.append(tuple(int(word, 16) for word in (words[1], words[2], words[4])))

    def offset(address):
        for start, memory, size in loads:
            if memory <= address < memory + size:
                return address - memory + start
        return None
    return offset


class Expected:
    """What a function does, by objdump."""

    def __init__(self):
        self.ends, self.callees, self.pointers, self.headers = set(), set(), set(), []


class Reading:
    """objdump's text, line by line, each given to the function whose piece it is in."""

    def __init__(self, path, found):
        self.found, self.offset = found, offsets_of(path)
        self.starts = {start for start, _, _ in found.pieces}
        self.functions = {}
        for line in run(tool('objdump', path), '-d', '--no-show-raw-insn', path).splitlines():
            header, instruction = HEADER.match(line), INSTRUCTION.match(line)
            place = self.offset(int((header or instruction)[1], 16)) if header or instruction else None
            number = found.at(place)
            if number is None:
                continue
            function = self.functions.setdefault(number, Expected())
            if header:
                function.headers.append(int(header[1], 16))
            else:
                self.take(number, function, place, instruction[2], instruction[3])

    def take(self, number, function, place, word, rest):
        target = TARGET.match(rest)
        if word in RETURNS:
            function.ends.add(place)
        elif word in CALLS and target:
            self.call(number, function, target)
        elif word in JUMPS and target:
            if self.leaves(number, function, target):
                function.ends.add(place)
        elif word in POINTERS or (word in CALLS | JUMPS and rest.startswith('*')):
            function.pointers.add(place)
        elif word.startswith(BRANCHES) and TARGET.search(rest):
            self.leaves(number, function, TARGET.search(rest))

    def call(self, number, function, target):
        """Notes a callee; returns whether there is one."""
        chosen = CHOSEN.match(target[2])
        if target[2].endswith('@plt') and not chosen:
            function.callees.add(target[2].split('@')[0])
            return True
        callee = self.found.at(self.offset(int(chosen[1] if chosen else target[1], 16)))
        if callee is None or callee == number:
            return False
        function.callees.add(callee)
        return True

    def leaves(self, number, function, target):
        """Jumps to the beginning of another function are calls."""
        starts = self.offset(int(target[1], 16)) in self.starts or target[2].endswith('@plt')
        return starts and self.call(number, function, target)


def first(offsets):
    return [hex(offset) for offset in sorted(offsets)[:10]]


def compare(path, known=0.9):
    """Compares all functions, of which this share must be known; returns how many."""
    found = Found(path)
    reading = Reading(path, found)
    for number, expected in reading.functions.items():
        function = found.functions[number]
        ends, where = set(function.ends), (path, function.name)
        if function.unknown:
            continue
        assert len(ends) == len(function.ends), (where, 'ends twice')
        assert ends >= expected.ends, (where, 'missing ends', first(expected.ends - ends))
        assert ends <= expected.ends | expected.pointers, (where, 'more ends', first(ends - expected.ends))
        # Calls through slots, which objdump does not name, are more.
        callees = {callee for callee in function.callees if callee in expected.callees or not isinstance(callee, str)}
        assert callees == expected.callees, (where, list(callees ^ expected.callees)[:10])
        assert function.indirect or not expected.pointers or callees < set(function.callees), (where, 'pointers')
        # On x86-64 an entry is behind endbr64 (four bytes), where there is one.
        assert all(entry in reading.starts or entry - 4 in reading.starts for entry in function.entries), (where, 'entries')
    unknown = sum(function.unknown for function in found.functions)
    assert unknown <= (1 - known) * len(found.functions), (path, unknown, len(found.functions))
    return reading


def compare_names(path, reading):
    """What has symbols of different names is not one function, but for clones and for other names of one place."""
    names = {}
    for line in run(tool('nm', path), path).splitlines():
        words = line.split()
        if len(words) == 3:
            names.setdefault(int(words[0], 16), set()).add(CLONE.sub('', words[2]))
    for number, expected in reading.functions.items():
        known = [names.get(address, set()) for address in expected.headers]
        assert not known or set.intersection(*known), ('joined', reading.found.functions[number].name, known)


def compare_stripped(path, folder):
    """Where functions end is the same without symbols, wherever their bounds are."""
    stripped = os.path.join(folder, 'stripped')
    run(tool('strip', path), '-o', stripped, path)
    whole, bare = Found(path), compare(stripped).found
    assert bare.functions and all(f.name.startswith('0x') or not f.name[0].isdigit() for f in bare.functions)
    same = compared = 0
    for function in whole.functions:
        number = bare.at(function.entries[0]) if function.entries else None
        if number is None or function.unknown or bare.functions[number].unknown:
            continue
        compared += 1
        same += set(bare.functions[number].ends) <= set(function.ends) or set(function.entries) != set(
            bare.functions[number].entries)
    assert compared > 0.5 * len(whole.functions), (compared, len(whole.functions))
    assert same > 0.99 * compared, (same, compared)
    if whole.main >= 0:
        assert bare.main >= 0, 'main is not found'
        assert set(bare.functions[bare.main].entries) & set(whole.functions[whole.main].entries)


# ---- random instructions ----

def random_word(rng, here, count):
    """An instruction of aarch64, mostly one that matters."""
    away = rng.randrange(count) - here
    register = rng.randrange(32)
    return rng.choice((
        lambda: 0x14000000 | away & 0x3ffffff,
        lambda: 0x94000000 | away & 0x3ffffff,
        lambda: 0x54000000 | (away & 0x7ffff) << 5 | rng.randrange(16),
        lambda: 0xb4000000 | (away & 0x7ffff) << 5 | register,
        lambda: 0x37000000 | (away & 0x3fff) << 5 | register,
        lambda: 0xd65f0000 | register << 5,
        lambda: 0xd65f03c0,
        lambda: 0xd61f0000 | register << 5,
        lambda: 0xd63f0000 | register << 5,
        lambda: 0xd503201f,
        lambda: rng.getrandbits(32),
        lambda: rng.getrandbits(32),
    ))()


def random_elf(rng, path):
    """A program of small functions, all of them random."""
    count, each, base = 4096, 16, 0x10000
    words = [random_word(rng, i, count) for i in range(count)]
    code = struct.pack('<%dI' % count, *words)
    names, symbols = b'\0', struct.pack('<IBBHQQ', 0, 0, 0, 0, 0, 0)
    for i in range(0, count, each):
        symbols += struct.pack('<IBBHQQ', len(names), 0x12, 0, 1, base + 4 * i, 4 * each)
        names += b'f%d\0' % i
    sections = b'\0.text\0.symtab\0.strtab\0.shstrtab\0'
    parts = [code, symbols, names, sections]
    places, at = [], 0x1000
    for part in parts:
        places.append(at)
        at += len(part) + 15 & ~15
    header = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 183, 1, base, 64, at, 0, 64, 56, 1, 64, 5, 4)
    load = struct.pack('<IIQQQQQQ', 1, 5, 0x1000, base, base, len(code), len(code), 0x1000)

    def section(name, kind, flags, address, i, link, entry):
        return struct.pack('<IIQQQQIIQQ', name, kind, flags, address, places[i], len(parts[i]), link, 0, 4, entry)
    table = bytes(64) + section(1, 1, 6, base, 0, 0, 0) + section(7, 2, 0, 0, 1, 3, 24) + section(
        15, 3, 0, 0, 2, 0, 0) + section(23, 3, 0, 0, 3, 0, 0)
    with open(path, 'wb') as file:
        file.write(header + load)
        for place, part in zip(places, parts):
            file.seek(place)
            file.write(part)
        file.seek(at)
        file.write(table)


def main():
    if not shutil.which('objdump') or not shutil.which('readelf'):
        print('skipped: objdump and readelf are needed; install binutils')
        return 77
    if os.uname().machine == 'x86_64' and all(f.unknown for f in Found(sys.argv[2]).functions):
        print('skipped: Lode was built without capstone')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for path in sys.argv[2:]:
            reading = compare(path)
            print('%s: %d functions' % (os.path.basename(path), len(reading.functions)))
            if '.symtab' in run('readelf', '-SW', path):
                compare_names(path, reading)
                compare_stripped(path, folder)
        if os.uname().machine == 'aarch64':
            for seed in range(4):
                path = os.path.join(folder, 'random')
                random_elf(random.Random(seed), path)
                print('random %d: %d functions' % (seed, len(compare(path, 0.5).functions)))
    return 0


if __name__ == '__main__':
    sys.exit(main())
