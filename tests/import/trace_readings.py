"""More independent readings of other tools' files, for `tests/import/compare`: profiles and traces with modules.

Each reader takes the path of a file and yields (type, stack from the root, nanoseconds) of each event. It is written
from the format's description, slowly and plainly, or asks the format's own tool.
"""
import collections
import decimal
import gzip
import json
import re
import struct
import subprocess
import tempfile
from xml.etree import ElementTree


def contents(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return file.read()


def read_gperftools(path):
    data = contents(path)
    for form in ("<I", ">I", "<Q", ">Q"):
        size = struct.calcsize(form)
        words = [word for word, in struct.iter_unpack(form, data[:len(data) // size * size])]
        if words[0] == 0 and 3 <= words[1] <= 1024 and words[2] == 0 and words[3]:
            break
    at, period, stacks = words[1] + 2, words[3] * 1000, []
    while words[at:at + 3] != [0, 1, 0]:
        stacks.append((words[at], [a - (i > 0) for i, a in enumerate(words[at + 2:at + 2 + words[at + 1]])]))
        at += 2 + words[at + 1]
    for _ in range(2):
        second = collections.Counter(stack[1] for _, stack in stacks if len(stack) > 1)
        for address, count in second.most_common(1):
            if count >= len(stacks) - len(stacks) // 32:
                for _, stack in stacks:
                    if len(stack) > 1 and stack[1] == address:
                        del stack[1]
    maps = []
    for line in data[(at + 3) * size:].decode("latin-1").splitlines():
        fields = line.split(None, 5)
        if len(fields) > 1 and fields[1][2:3] == "x":
            start, end = (int(number, 16) for number in fields[0].split("-"))
            name = fields[5].split("/")[-1] if len(fields) > 5 else ""
            maps.append((start, end, int(fields[2], 16), name))

    def frame(address):
        for start, end, offset, name in maps:
            if start <= address < end:
                return "%s%s0x%x" % (name, "!" if name else "", address - start + offset)
        return "0x%x" % address

    for count, stack in stacks:
        if len(stack) > 1 and stack[0] == stack[1] + 1:
            del stack[1]
        yield "run", tuple(frame(address) for address in reversed(stack)), count * period


def jfr_print(path, events):
    with tempfile.NamedTemporaryFile(suffix=".jfr") as plain:
        plain.write(contents(path))
        plain.flush()
        text = subprocess.run(["jfr", "print", "--json", "--stack-depth", "16384", "--events", events, plain.name],
                              check=True, capture_output=True).stdout
    return json.loads(text)["recording"]["events"]


def nanoseconds(text):
    """PT1.5S, 20 ms, or a bare number."""
    if text.startswith("PT"):
        parts = re.fullmatch(r"PT(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?", text).groups("0")
        return round(sum(decimal.Decimal(part) * unit for part, unit in zip(parts, (3600, 60, 1))) * 10 ** 9)
    number, _, unit = text.partition(" ")
    return int(number) * {"": 1, "ns": 1, "us": 1000, "ms": 10 ** 6, "s": 10 ** 9}[unit]


def read_jfr(path):
    """By `jfr print`. The period of samples is the one that the settings report, or the profiler's default."""
    waits = "JavaMonitorEnter,JavaMonitorWait,ThreadPark,ThreadSleep,SocketRead,SocketWrite,FileRead,FileWrite,FileForce"
    settings = [event["values"] for event in jfr_print(path, "ActiveSetting")]
    asynchronous = any(setting["name"] == "jstackdepth" for setting in settings)
    reported = {setting["id"]: nanoseconds(setting["value"]) for setting in settings
            if setting["name"] in ("period", "interval") and re.fullmatch(r"\d+( [num]?s)?", setting["value"] or "")}
    # Java 17 prints no numbers of types; the setting of samples is the shortest period that one has.
    period = (reported.get(101, 0) if asynchronous else min(reported.values(), default=0)) or (10 ** 7 if asynchronous else 2 * 10 ** 7)

    def frame(item):
        method, kind = item["method"], item["type"]
        name = re.sub(r"\$\$Lambda.*", "$$Lambda", method["type"]["name"] or "") if method["type"] else ""
        name = re.sub(r"[+./]0x0000.*", "", name)
        if kind == "Kernel":
            return "kernel!" + method["name"]
        if kind == "C++" or (kind == "Native" and (not name or ".so" in name or "[" in name)):
            return name + ("!" if name else "") + method["name"]
        simple = name.replace("/", ".").split(".")[-1]
        file = re.match(r".[^$]*", simple).group() + ".java!" if simple else ""
        return file + simple + ("." if simple else "") + method["name"]

    for event in jfr_print(path, "ExecutionSample,NativeMethodSample,WallClockSample," + waits):
        kind, values = event["type"].split(".")[-1], event["values"]
        trace = values["stackTrace"]
        stack = tuple(frame(item) for item in reversed(trace["frames"])) if trace else ()
        if kind in waits.split(","):
            yield "wait", stack, nanoseconds(values["duration"])
        elif kind == "NativeMethodSample":
            yield "run", stack, 2 * 10 ** 7  # what both of the JDK's settings have; no method blocks in what was compared
        else:
            sleeping = "SLEEPING" in (values.get("state") or "")
            yield "wait" if sleeping else "run", stack, period * (values.get("samples") or 1)


def join_switches(events):
    """From (t, woken tid) and (t, tid, whether it blocks, next tid), in order of time, to the lengths of waits."""
    waiting, last, early = {}, 0, {}
    for event in events:
        t = last = event[0]
        if len(event) == 2:
            if event[1] in waiting and waiting[event[1]][1] is None:
                waiting[event[1]][1] = t
            elif event[1] not in waiting:
                early[event[1]] = t
            continue
        before, blocks, after = event[1:]
        if before in waiting:  # its switch-in was not recorded
            out, woken = waiting.pop(before)
            yield "wait", (), (woken if woken is not None else t) - out
            early.pop(before, None)
        if before and blocks:
            waiting[before] = [t, None]
        if after in waiting:
            out, woken = waiting.pop(after)
            if woken is None and after in early and out - early[after] <= 1000000:
                woken = out
            yield "wait", (), (woken if woken is not None else t) - out
        early.pop(after, None)
    for out, woken in waiting.values():
        yield "wait", (), (woken if woken is not None else last) - out


WAKINGS = ("sched_waking", "sched_wakeup", "sched_wakeup_new")


def read_trace_dat(path):
    """By `trace-cmd report`."""
    with tempfile.NamedTemporaryFile(suffix=".dat") as plain:
        plain.write(contents(path))
        plain.flush()
        text = subprocess.run(["trace-cmd", "report", "-t", plain.name], check=True, capture_output=True).stdout

    def events():
        last = 0
        line = re.compile(r"^\s*(.*)-(\d+)\s+\[(\d+)\]\s+(?:\S+\s+)?(\d+)\.(\d{9}): (\w+):\s*(.*)$")
        for found in filter(None, map(line.match, text.decode("latin-1").splitlines())):
            t, name, fields = int(found[4]) * 10 ** 9 + int(found[5]), found[6], found[7]
            last = t
            if name in WAKINGS:
                yield t, int(re.search(r"(?:\bpid=|:)(\d+)", fields)[1])
            elif name == "sched_switch":
                before, state, after = re.match(r".*:(\d+) \[\d+\] (\S+) ==> .*:(\d+) \[\d+\]", fields).groups()
                yield t, int(before), state[0] not in "RXZx", int(after)
        yield last, -1  # the end of the recording
    return join_switches(events())


def read_ctf(path):
    """By babeltrace2. States are those of kernels before 4.14 or of later ones, as the trace's environment says."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", path], check=True, capture_output=True).stdout.decode("latin-1")
    with open(path + "/metadata", "rb") as file:
        release = re.search(rb'kernel_release = "(\d+)\.(\d+)', file.read())
    dead = 0x70 if release and (int(release[1]), int(release[2])) < (4, 14) else 0x30

    def events():
        last = 0
        for line in text.splitlines():
            found = re.match(r"\[(\d+)\.(\d{9})\].*? (\w+): \{", line)
            t, name = int(found[1]) * 10 ** 9 + int(found[2]), found[3]
            last = t
            if name in WAKINGS:
                yield t, int(re.search(r"\btid = (\d+)", line)[1])
            elif name == "sched_switch":
                before, state, after = (int(re.search(key + r" = (?:\( .*? : container = )?(\d+)", line)[1])
                                        for key in ("prev_tid", "prev_state", "next_tid"))
                yield t, before, state & 0xff and not state & 0xff00 and not state & dead, after
        yield last, -1  # the end of the recording
    return join_switches(events())


def read_bpftrace(path):
    text = contents(path).decode("latin-1")
    for key, value in re.findall(r"^@\w*\[(.*?)\]: (\d+)$", text, re.M | re.S):
        frames = [re.sub(r"\+(0x)?[0-9a-f]+$", "", line.strip()) for line in key.split("\n") if line[:1] in " \t" and line.strip()]
        if frames:
            yield "run", tuple(reversed(frames)), int(value)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 0x7f) << shift, shift + 7
        if byte < 0x80:
            return value, at


def old_go_steps(data):
    """Up to Go 1.21: (t, order, what, goroutine, stack)."""
    at, events, strings, stacks, place, t = 16, [], {}, {}, 0, 0
    running, frequency = {}, 1
    while at < len(data):
        kind, count = data[at] & 0x3f, (data[at] >> 6) + 1
        at += 1
        if kind == 37:
            number, at = varint(data, at)
            size, at = varint(data, at)
            strings[number] = data[at:at + size].decode()
            at += size
            continue
        numbers = []
        if count == 4:
            size, at = varint(data, at)
            end = at + size
            while at < end:
                number, at = varint(data, at)
                numbers.append(number)
        else:
            for _ in range(count):
                number, at = varint(data, at)
                numbers.append(number)
        if kind == 48:
            size, at = varint(data, at)
            at += size
        if kind == 1:
            place, t = numbers
        elif kind == 2:
            frequency = numbers[0]
        elif kind == 3:
            stacks[numbers[0]] = numbers[3::4]
        else:
            t += numbers[0]
            events.append((t, kind, numbers, place))
    steps = []
    for t, kind, n, place in events:
        now = running.get(place, 0)
        if kind in (14, 38, 41):
            running[place] = n[1]
            steps.append((t, "start", n[1], 0))
        elif kind in (21, 39):
            steps.append((t, "unblock", n[1], 0))
        elif kind in (16, 19, 20, 22, 23, 24, 25, 26, 27, 42):
            steps.append((t, "block", now, n[1]))
            running[place] = 0
        elif kind in (15, 17, 18, 30):
            if kind != 30:
                steps.append((t, "leave", now, 0))
            running[place] = 0
        elif kind == 28:
            steps.append((t, "syscall", now, n[1]))
        elif kind in (29, 40):
            real = n[3] if kind == 29 else n[2]
            steps.append((real or t, "syscall end", n[1], 0))
        elif kind == 49:
            steps.append((n[1], "sample", n[3], n[4]))
    return frequency, [(t, what, g, tuple(strings.get(name, "[unknown]") for name in reversed(stacks.get(stack, ()))))
                       for t, what, g, stack in steps]


GO_ARGUMENTS = dict(zip(range(9, 49), (3, 3, 1, 4, 3, 4, 2, 3, 1, 1, 3, 3, 4, 3, 1, 1, 4, 3, 1, 2, 3, 2, 2, 2, 3, 2, 2, 1, 2, 2, 2,
                                       5, 3, 4, 4, 5, 3, 3, 4, 5)))


def new_go_steps(data):
    """From Go 1.22 on."""
    at, generations, frequency = 16, {}, 1
    while at < len(data):
        assert data[at] == 1
        head, at = [], at + 1
        for _ in range(4):
            number, at = varint(data, at)
            head.append(number)
        generations.setdefault(head[0], []).append((head[2], head[1], data[at:at + head[3]]))
        at += head[3]
    steps, running = [], {}
    for batches in generations.values():
        strings, stacks, found = {}, {}, []
        for _, _, batch in batches:
            kind, at = batch[0], 1
            if kind == 50:
                kind, at = batch[1], 2
            if kind == 8:
                frequency = varint(batch, at)[0]
            while kind in (2, 4, 6) and at < len(batch):
                numbers, at = [], at + 1
                for _ in range({2: 2, 4: 2, 6: 5}[kind]):
                    number, at = varint(batch, at)
                    numbers.append(number)
                if kind == 4:
                    strings[numbers[0]] = batch[at:at + numbers[1]].decode()
                    at += numbers[1]
                elif kind == 2:
                    frames = []
                    for _ in range(4 * numbers[1]):
                        number, at = varint(batch, at)
                        frames.append(number)
                    stacks[numbers[0]] = frames[1::4]
                else:
                    found.append((numbers[0], "sample", numbers[3], numbers[4]))
        for t, m, batch in sorted((b for b in batches if b[2][0] in GO_ARGUMENTS), key=lambda b: b[0]):
            at = 0
            while at < len(batch):
                kind, n, at = batch[at], [], at + 1
                for _ in range(GO_ARGUMENTS[kind]):
                    number, at = varint(batch, at)
                    n.append(number)
                t += n[0]
                now = running.get(m, 0)
                if kind == 16:
                    running[m] = n[1]
                    found.append((t, "start", n[1], 0))
                elif kind in (25, 48) and n[3] in (2, 3) or kind == 15:
                    running[m] = n[1]
                elif kind in (17, 18, 19, 20):
                    found.append((t, "block" if kind == 20 else "leave", now, n[2] if kind == 20 else 0))
                    running[m] = 0
                elif kind == 21:
                    found.append((t, "unblock", n[1], 0))
                elif kind == 22:
                    found.append((t, "syscall", now, n[2]))
                elif kind in (23, 24):
                    found.append((t, "syscall end" if kind == 24 else "syscall over", now, 0))
                    running[m] = 0 if kind == 24 else now
        steps += [(t, what, g, tuple(strings.get(name, "[unknown]") for name in reversed(stacks.get(stack, ()))))
                  for t, what, g, stack in found]
    return frequency, steps


def read_go_trace(path):
    data = contents(path)
    frequency, steps = (old_go_steps if int(data[5:7]) < 22 else new_go_steps)(data)
    ns = [(t // frequency * 10 ** 9 + int(t % frequency * 1e9 / frequency + 0.5), what, g, stack) for t, what, g, stack in steps]
    waiting, calls, early, last = {}, {}, {}, 0
    for t, what, g, stack in sorted(ns, key=lambda step: step[0]):
        if not g:
            continue
        last = t
        if what == "sample":
            yield "run", stack, 10 ** 7
        elif what == "syscall":
            calls[g] = (t, stack)
        elif what.startswith("syscall ") and g in calls:
            begin, inside = calls.pop(g)
            if what == "syscall end":
                yield "wait", inside, t - begin
        elif what == "unblock":
            if g in waiting and waiting[g][1] is None:
                waiting[g][1] = t
            elif g not in waiting:
                early[g] = t
        elif what in ("start", "block", "leave"):
            if g in waiting:
                out, woken, inside = waiting.pop(g)
                if woken is None and what == "start" and g in early and out - early[g] <= 1000000:
                    woken = out
                yield "wait", inside, (woken if woken is not None else t) - out
            if what == "block":
                waiting[g] = [t, None, stack]
            else:
                early.pop(g, None)
    for out, woken, inside in waiting.values():
        yield "wait", inside, (woken if woken is not None else last) - out


def unpack_xpress(data, size):
    """Plain LZ77 of MS-XCA."""
    out, at, left, flags, half = bytearray(), 0, 0, 0, None
    while len(out) < size:
        if not left:
            flags, at, left = struct.unpack_from("<I", data, at)[0], at + 4, 32
        left -= 1
        if not flags >> left & 1:
            out.append(data[at])
            at += 1
            continue
        match, at = struct.unpack_from("<H", data, at)[0], at + 2
        length = match & 7
        if length == 7:
            if half is None:
                half, length, at = at, data[at] & 15, at + 1
            else:
                length, half = data[half] >> 4, None
            if length == 15:
                length, at = data[at], at + 1
                if length == 255:
                    length, at = struct.unpack_from("<H", data, at)[0] - 22, at + 2
                length += 15
            length += 7
        for _ in range(length + 3):
            out.append(out[-(match >> 3) - 1])
    return bytes(out)


def etl_events(data):
    """(hook or None, version, time, head, event) of all events of the kernel and of manifests."""
    at = 0
    while at + 72 <= len(data):
        size, used = struct.unpack_from("<II", data, at)
        packed, body = struct.unpack_from("<H", data, at + 52)[0] & 0x40, data[at + 72:at + size]
        body, place = unpack_xpress(body, used - 72) if packed else body[:used - 72], 0
        while place + 8 <= len(body) and body[place:place + 4] != b"\xff" * 4:
            head = body[place + 2]
            length, hook = struct.unpack_from("<HH", body, place + 4) if head in (1, 2, 3, 4, 16, 17) else \
                (struct.unpack_from("<H", body, place)[0], None)
            event = body[place:place + length]
            place += length + 7 & ~7
            if hook is not None:
                start, when = {1: (32, 16), 2: (32, 16), 3: (24, 16), 4: (24, 16), 16: (16, 8), 17: (16, 8)}[head]
                yield hook, event[0], struct.unpack_from("<Q", event, when)[0], None, event[start:]
            elif head in (18, 19) and not event[4] & 1:
                yield None, event[42], struct.unpack_from("<Q", event, 16)[0], event[:80], event[80:]
        at += size


def read_etl(path):
    """Traces of 64-bit machines with plain XPRESS or none, without context switches."""
    runtimes = ("230d3ce1bccc124e931bd9cc2eee27e4", "1c0269a650c40946a0355af59af4df18")
    samples, kernel, user, keys, images, methods, owners, interval = [], {}, {}, {}, {}, {}, {}, 10000
    for hook, _, t, head, event in etl_events(contents(path)):
        if hook == 0xf2e:
            samples.append((t,) + struct.unpack_from("<QI", event))
        elif hook in (0xf48, 0xf49, 0xf4a):
            interval = struct.unpack_from("<I", event, 4)[0]
        elif hook in (0x1820, 0x1825, 0x1826):
            of, pid, tid = struct.unpack_from("<QII", event)
            addresses = struct.unpack("<%dQ" % ((len(event) - 16) // 8), event[16:len(event) // 8 * 8])
            owners[tid] = pid
            inside = hook == 0x1825 or hook == 0x1820 and addresses[0] >> 63
            (kernel if inside else user).setdefault((tid, of), (t, hook, tuple(a for a in addresses if a)))
        elif hook in (0x1823, 0x1824):
            addresses = struct.unpack("<%dQ" % (len(event) // 8), event)
            keys.setdefault(addresses[0], []).append((t, tuple(a for a in addresses[1:] if a)))
        elif hook in (0x30a, 0x1402, 0x1403, 0x1404):
            base, size, pid = struct.unpack_from("<QQI", event)
            images.setdefault(pid, {})[base] = (size, event[56:].decode("utf-16-le").split("\0")[0].split("\\")[-1])
        elif hook in (0x501, 0x502, 0x503, 0x504):
            pid, tid = struct.unpack_from("<II", event)
            owners[tid] = pid
        elif hook is None and head[24:40].hex() in runtimes and struct.unpack_from("<H", head, 40)[0] in (143, 144):
            base, size = struct.unpack_from("<QI", event, 16)
            names = event[36:].decode("utf-16-le", "replace").split("\0")
            methods.setdefault(struct.unpack_from("<I", head, 12)[0], []).append((base, size, names[0] + "." + names[1]))

    def addresses_of(part):
        written, hook, addresses = part
        if hook == 0x1820:
            return addresses
        return min((entry for entry in keys[addresses[0]] if entry[0] >= written))[1]

    def frame(pid, address):
        method = [name for base, size, name in methods.get(pid, ()) if base <= address < base + size][-1:]
        for owner in (pid, 0):
            for base, (size, name) in images.get(owner, {}).items():
                if base <= address < base + size:
                    return name + "!" + (method[0] if method else "0x%x" % (address - base))
        return "[jit]!" + method[0] if method else "0x%x" % address

    memo, spans = {}, {}
    for (tid, of), part in user.items():
        spans.setdefault(tid, []).append((of, part[0], part))
    for t, address, tid in samples:
        if not tid:
            continue
        inside, outside = kernel.get((tid, t)), user.get((tid, t))
        if inside and not outside:
            outside = next((part for of, written, part in sorted(spans.get(tid, ()), reverse=True) if of <= t), None)
            outside = outside if outside and outside[0] >= t else None
        row = (addresses_of(inside) if inside else ()) + (addresses_of(outside) if outside else ()) or (address,)
        key = owners.get(tid), row
        if key not in memo:
            memo[key] = tuple(frame(key[0], a - (i > 0)) for i, a in reversed(list(enumerate(row))))
        yield "run", memo[key], interval * 100


def read_instruments(path):
    """By ElementTree. Frames with a name only; all samples of running threads are runs."""
    for node in ElementTree.fromstring(contents(path)).iter("node"):
        known = {}

        def resolve(element):
            if "ref" in element.attrib:
                return known[element.get("ref")]
            for child in element:
                resolve(child)
            if "id" in element.attrib:
                known[element.get("id")] = element
            return element

        def frame(element):
            element = resolve(element)
            binary = element.find("binary")
            binary = resolve(binary) if binary is not None else None
            name, module = element.get("name"), (binary.get("path") or binary.get("name")).split("/")[-1] if binary is not None else ""
            if name.startswith("0x") and module:
                name = "0x%x" % (int(element.get("addr"), 16) - int(binary.get("load-addr"), 16))
            return module + ("!" if module else "") + name

        for row in node.iter("row"):
            values = {child.tag: resolve(child) for child in row}
            trace = values.get("tagged-backtrace", values.get("backtrace"))
            if trace is not None and trace.tag == "tagged-backtrace":
                trace = resolve(trace.find("backtrace"))
            stack = tuple(frame(item) for item in reversed(trace.findall("frame"))) if trace is not None else ()
            state = values["thread-state"].text if "thread-state" in values else "Running"
            yield "wait" if state in ("Blocked", "Waiting") else "run", stack, int(values["weight"].text)


def read_perfview(path):
    """By ElementTree; without frames that PerfView puts in."""
    root = ElementTree.fromstring(contents(path))
    frames = {item.get("ID"): item.text for item in root.iter("Frame")}
    stacks = {item.get("ID"): (item.get("CallerID"), item.get("FrameID")) for item in root.iter("Stack")}

    def stack_of(number):
        row = []
        while number in stacks:
            number, frame = stacks[number]
            row.append(frames[frame])
        return tuple(reversed(row))

    for sample in root.iter("Sample"):
        yield "run", stack_of(sample.get("StackID")), round(decimal.Decimal(sample.get("Metric", "1")) * 10 ** 6)


READERS = {
    "instruments": read_instruments,
    "perfview": read_perfview,
    "etl": read_etl,
    "go-trace": read_go_trace,
    "bpftrace": read_bpftrace,
    "ctf": read_ctf,
    "trace.dat": read_trace_dat,
    "jfr": read_jfr,
    "gperftools": read_gperftools,
}
