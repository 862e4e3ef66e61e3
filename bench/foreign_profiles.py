"""Profiles in formats that Lode reads and does not write, or writes too small: pprof, gperftools, Instruments, V8; and a CTF
trace as LTTng writes it.

All profiles have the same contents: samples of random stacks of one call tree, on 64 threads. A few stacks take most samples,
as in a real profile. Seeds are fixed, so a file is the same in every run.
"""
import json
import random
import struct

FUNCTIONS = 6000
STACKS = 20000
THREADS = 64
PIECE = 40000  # samples that are made; a larger file has them again


def call_stacks():
    """Stacks from the root to the leaf, each grown from an earlier one; 22 frames in the mean of samples, as in services."""
    numbers = random.Random(7)
    stacks = [[0]]
    while len(stacks) < STACKS:
        caller = stacks[numbers.randrange(max(0, len(stacks) - 800), len(stacks))]
        if len(caller) < 60:
            stacks.append(caller + [numbers.randrange(1, FUNCTIONS)])
        else:
            stacks.append(caller[:numbers.randrange(1, 30)])
    return stacks


def samples(stacks):
    """Pairs of a stack's number and a thread's."""
    numbers = random.Random(8)
    for _ in range(PIECE):
        yield int(len(stacks) * numbers.random() ** 2), numbers.randrange(THREADS)


def repeated(header, pieces, trailer, size):
    """As many pieces as it takes for so many bytes."""
    piece = b''.join(pieces)
    return header + piece * max(1, round(size / len(piece))) + trailer


# ---- pprof ----

def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body


def number(field, value):
    return varint(field << 3) + varint(value)


def pprof(size):
    stacks = call_stacks()
    texts = ['', 'samples', 'count', 'cpu', 'nanoseconds', 'thread id', '/usr/bin/program']
    first = len(texts)
    texts += ['module_%d::function_%d' % (i % 90, i) for i in range(FUNCTIONS)]
    head = [message(1, number(1, 1) + number(2, 2)), message(1, number(1, 3) + number(2, 4)),
            message(3, number(1, 1) + number(2, 0x400000) + number(3, 0x4000000) + number(5, 6))]
    for i in range(FUNCTIONS):
        head.append(message(4, number(1, i + 1) + number(2, 1) + number(3, 0x400000 + 4096 * i) +
                            message(4, number(1, i + 1) + number(2, i % 900))))
        head.append(message(5, number(1, i + 1) + number(2, first + i)))
    head += [message(6, text.encode()) for text in texts]
    head += [message(11, number(1, 3) + number(2, 4)), number(12, 10000000)]
    places = [b''.join(varint(i + 1) for i in reversed(stack)) for stack in stacks]
    piece = [message(2, message(1, places[stack]) + message(2, b'\x01' + varint(10000000)) +
                     message(3, number(1, 5) + number(3, 1000 + thread))) for stack, thread in samples(stacks)]
    return repeated(b''.join(head), piece, b'', size)


# ---- gperftools ----

def gperftools(size):
    stacks = call_stacks()
    words = [struct.pack('<%dQ' % (len(stack) + 2), 3, len(stack), *(0x400000 + 4096 * i for i in reversed(stack)))
             for stack in stacks]
    trailer = struct.pack('<3Q', 0, 1, 0) + b'00400000-04000000 r-xp 00000000 08:01 77 /usr/bin/program\n'
    return repeated(struct.pack('<5Q', 0, 3, 0, 10000, 0), [words[stack] for stack, _ in samples(stacks)], trailer, size)


# ---- Instruments ----

class Ids:
    """What was written once is a reference from then on."""

    def __init__(self):
        self.known = {}

    def put(self, key, tag, rest):
        if key in self.known:
            return '<%s ref="%d"/>' % (tag, self.known[key])
        self.known[key] = len(self.known) + 1
        return '<%s id="%d"%s' % (tag, self.known[key], rest())


def instruments_backtrace(ids, stacks, stack):
    def frame(function):
        return ids.put(('frame', function), 'frame', lambda: ' name="function_%d" addr="0x%x">%s</frame>' % (
            function, 0x400000 + 4096 * function,
            ids.put('binary', 'binary', lambda: ' name="program" load-addr="0x400000" path="/usr/bin/program"/>')))
    return ids.put(('stack', stack), 'backtrace',
                   lambda: '>' + ''.join(frame(function) for function in reversed(stacks[stack])) + '</backtrace>')


def instruments_row(ids, stacks, stack, thread, t):
    def process():
        return ids.put('process', 'process', lambda: ' fmt="program (581)">%s</process>' % ids.put(
            'pid', 'pid', lambda: ' fmt="581">581</pid>'))

    def thread_body():
        return ' fmt="Thread %d (program, pid: 581)">%s%s</thread>' % (
            thread, ids.put(('tid', thread), 'tid', lambda: '>%d</tid>' % (4000 + thread)), process())
    return '<row><sample-time id="%d" fmt="00:00.%09d">%d</sample-time>%s%s%s%s%s%s</row>\n' % (
        10**9 + t, t, t, ids.put(('thread', thread), 'thread', thread_body), process(),
        ids.put(('core', thread % 8), 'core', lambda: ' fmt="CPU %d">%d</core>' % (thread % 8, thread % 8)),
        ids.put('state', 'thread-state', lambda: ' fmt="Running">Running</thread-state>'),
        ids.put('weight', 'weight', lambda: ' fmt="1.00 ms">1000000</weight>'),
        instruments_backtrace(ids, stacks, stack))


def instruments(size):
    stacks, ids, rows, t = call_stacks(), Ids(), [], 0
    for stack, thread in samples(stacks):
        t += 1000000
        rows.append(instruments_row(ids, stacks, stack, thread, t))
    head = '<?xml version="1.0"?>\n<trace-query-result>\n'
    node = '<node xpath="/trace-toc/run/data/table">%s</node>\n' % (
        '<schema name="time-profile"></schema>' + ''.join(rows))
    return repeated(head.encode(), [node.encode()], b'</trace-query-result>\n', size)


# ---- V8 ----

V8_SAMPLES = 10  # of a node


def cpuprofile(size):
    """A tree of nodes, each with some samples, as of some minutes of a program."""
    numbers, count = random.Random(9), max(2, int(size / 320))
    children = [[] for _ in range(count)]
    for i in range(1, count):
        children[numbers.randrange(max(0, i - count // 20), i)].append(i + 1)
    calls = [{'functionName': 'function_%d' % i if i else '(root)', 'scriptId': '%d' % (i % 90), 'lineNumber': i // 2,
              'url': 'file:///usr/lib/program/%d.js' % (i % 90), 'columnNumber': 9} for i in range(FUNCTIONS)]
    nodes = [{'id': i + 1, 'callFrame': calls[numbers.randrange(FUNCTIONS) if i else 0], 'hitCount': V8_SAMPLES,
              **({'children': below} if below else {})} for i, below in enumerate(children)]
    samples_of = [1]
    while len(samples_of) < V8_SAMPLES * count:  # half of them in the function of the one before
        samples_of.append(samples_of[-1] if numbers.random() < 0.5 else 1 + int(count * numbers.random() ** 2))
    return json.dumps({'nodes': nodes, 'startTime': 0, 'endTime': 1000 * len(samples_of), 'samples': samples_of,
                       'timeDeltas': [numbers.randrange(900, 1100) for _ in samples_of]}, separators=(',', ':')).encode()


# ---- CTF ----

LTTNG_METADATA = '''/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
env { hostname = "bench"; domain = "kernel"; kernel_release = "6.1.0"; };
clock { name = monotonic; freq = 1000000000; offset = 1412663327522716450; };
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_t;
struct packet_context { uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end; uint64_t content_size;
	uint64_t packet_size; uint64_t events_discarded; uint32_t cpu_id; };
struct event_header_compact { enum : uint5_t { compact = 0 ... 30, extended = 31 } id; variant <id> {
	struct { uint27_clock_t timestamp; } compact; struct { uint32_t id; uint64_clock_t timestamp; } extended; } v;
	} align(8);
stream { id = 0; event.header := struct event_header_compact; packet.context := struct packet_context; };
event { name = "sched_switch"; id = 0; stream_id = 0; fields := struct {
	integer { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; } _prev_comm[16]; uint32_t _prev_tid;
	uint32_t _prev_prio; uint64_t _prev_state;
	integer { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; } _next_comm[16]; uint32_t _next_tid;
	uint32_t _next_prio; }; };
event { name = "sched_waking"; id = 1; stream_id = 0; fields := struct {
	integer { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; } _comm[16]; uint32_t _tid; uint32_t _prio;
	uint32_t _target_cpu; }; };
event { name = "syscall_entry_openat"; id = 2; stream_id = 0; fields := struct { uint32_t _dfd; string _filename;
	uint32_t _flags; }; };
event { name = "syscall_exit_openat"; id = 3; stream_id = 0; fields := struct { uint64_t _ret; }; };
'''
LTTNG_WINDOW = 1 << 27  # nanoseconds of a packet: what the times of its events can hold


def lttng_events(cpu):
    """Two threads of a CPU take turns; each opens a file and is woken by the other."""
    out, comm = bytearray(), ['worker-%d' % (2 * cpu + i) for i in range(2)]
    tids, turns = [1000 + 2 * cpu, 1001 + 2 * cpu], 900

    def event(number, t, body):
        out.extend(struct.pack('<I', number | t << 5 & 0xffffffff) + body)

    def name(text):
        return text.encode().ljust(16, b'\0')
    for i in range(turns):
        t, a, b = i * (LTTNG_WINDOW // turns - 1), i % 2, (i + 1) % 2
        event(2, t + 1000, struct.pack('<I', 0xffffff9c) + b'/var/lib/program/file-%d\0' % (i % 50) + struct.pack('<I', 0))
        event(3, t + 9000, struct.pack('<Q', 3))
        event(1, t + 20000, name(comm[b]) + struct.pack('<3I', tids[b], 20, cpu))
        event(0, t + 90000, name(comm[a]) + struct.pack('<2IQ', tids[a], 20, 1) + name(comm[b]) +
              struct.pack('<2I', tids[b], 20))
    return bytes(out)


def ctf(size):
    """Files of a folder: four CPUs."""
    files = {'metadata': LTTNG_METADATA.encode()}
    for cpu in range(4):
        events = lttng_events(cpu)
        content = 8 + 5 * 8 + 4 + len(events)
        packet = (content + 4095) // 4096 * 4096
        files['channel0_%d' % cpu] = b''.join(
            struct.pack('<2I5QI', 0xc1fc1fc1, 0, i * LTTNG_WINDOW, (i + 1) * LTTNG_WINDOW - 1, content * 8, packet * 8, 0,
                        cpu) + events + bytes(packet - content)
            for i in range(1, 1 + max(1, round(size / 4 / packet))))
    return files


# ---- trace.dat ----

def repeated_trace_dat(recording, size):
    """A recording of trace-cmd (its version 6) whose pages follow one another several times, each time later.

    Most of a short one describes events: it says nothing about reading them.
    """
    table = recording.rindex(b'flyrecord\0') + 10
    cpus, = struct.unpack_from('<I', recording, recording.rindex(b'options  \0', 0, table) - 4)
    places = [struct.unpack_from('<2Q', recording, table + 16 * cpu) for cpu in range(cpus)]
    times = [struct.unpack_from('<Q', recording, at)[0] for start, length in places
             for at in range(start, start + length, 4096)]
    first, span = min(start for start, length in places if length), max(times) - min(times) + 2 * 10**9
    head, pages = bytearray(recording[:first]), bytearray()
    for cpu, (start, length) in enumerate(places):
        rounds = max(1, round(size / max(1, sum(length for _, length in places))))
        struct.pack_into('<2Q', head, table + 16 * cpu, first + len(pages), length * rounds)
        for i in range(rounds):
            copy = bytearray(recording[start:start + length])
            for at in range(0, length, 4096):
                struct.pack_into('<Q', copy, at, struct.unpack_from('<Q', copy, at)[0] + i * span)
            pages += copy
    return bytes(head + pages)


PROFILES = {'pprof': (pprof, 'pb'), 'gperftools': (gperftools, 'prof'), 'instruments': (instruments, 'xml'),
            'cpuprofile': (cpuprofile, 'cpuprofile'), 'ctf': (ctf, 'ctf')}
