"""Slow, independent readings of other tools' files: what `tests/import/compare` holds Lode's import against.

Each reader takes the bytes of a file and returns (counts, costs): how many runs and waits there
are, and nanoseconds by (kind, stack), where a stack is a tuple of function names from the root.
Readers follow the description of the format and share nothing with Lode but the rules that
lode-import(1) gives for what becomes a run or a wait.
"""
import collections
import json
from decimal import Decimal


class Reading:
    def __init__(self):
        self.counts = collections.Counter()
        self.costs = collections.Counter()

    def add(self, kind, stack, cost):
        self.counts[kind] += 1
        self.costs[kind, tuple(stack)] += cost


def nanoseconds(value):
    return int((Decimal(value) * 1000).to_integral_value(rounding="ROUND_HALF_UP"))


# ---- Chrome's trace events ----


def load_chrome(data):
    text = data.decode("utf-8", "replace")
    try:
        root = json.loads(text, parse_float=Decimal)
    except ValueError:  # cut off: an array may lack its end
        root = json.loads(text.rstrip().rstrip(",") + "]", parse_float=Decimal)
    return root if isinstance(root, dict) else {"traceEvents": root}


def whole_slices(events):
    """[(from, until, order, name)] of one thread; ends close the innermost of their name."""
    marks = [(nanoseconds(e["ts"]), i, e) for i, e in events if e["ph"] in "BE"]
    last = max([nanoseconds(e["ts"]) + nanoseconds(e.get("dur", e.get("tdur", 0))) for _, e in events], default=0)
    done, opened = [], []
    for t, i, event in sorted(marks, key=lambda m: m[:2]):
        name = event.get("name") or "(unnamed)"
        if event["ph"] == "B":
            opened.append((t, i, name))
            continue
        fits = [k for k, o in enumerate(opened) if "name" not in event or o[2] == name]
        while fits and len(opened) > fits[-1]:
            begun = opened.pop()
            done.append((begun[0], t, begun[1], begun[2]))
    return done, opened, last


def nest(slices):
    """Yields (stack, cost) of each stretch between two changes."""
    slices = sorted((t0, -t1, order, name) for t0, t1, order, name in slices if t1 > t0)
    nested = []  # (from, until, names)
    for t0, negative, _, name in slices:
        t1, around = -negative, ()
        for a, b, names in reversed(nested):
            if a <= t0 < b:
                around, t1 = names, min(t1, b)
                break
        nested.append((t0, t1, around + (name,)))
    changes = sorted({t for a, b, _ in nested for t in (a, b)})
    active, following = [], 0
    for t, end in zip(changes, changes[1:]):
        while following < len(nested) and nested[following][0] <= t:
            active.append(nested[following])
            following += 1
        active = [s for s in active if s[1] > t]
        if active:
            yield max(active, key=lambda s: len(s[2]))[2], end - t


def add_v8(reading, start, end, nodes, samples, deltas):
    parents, names = {}, {}
    for node in nodes:
        call = node["callFrame"]
        line = call.get("lineNumber", -1)
        names[node["id"]] = call["functionName"] or (f"(anonymous):{line + 1}" if line >= 0 else "(anonymous)")
        if "parent" in node:
            parents[node["id"]] = node["parent"]
        for child in node.get("children", ()):
            parents[child] = node["id"]

    def stack(node):
        frames = []
        while node is not None:
            if names[node] != "(root)" or node in parents:
                frames.append(names[node])
            node = parents.get(node)
        return tuple(reversed(frames))

    t, stretches = start, []  # [stack, from]
    for sample, delta in zip(samples, deltas):
        t += nanoseconds(max(delta, 0))
        if not (stretches and names[sample] == "(idle)" and stretches[-1][0] == stack(sample)):
            stretches.append((stack(sample), t))
    stretches.append((None, max(end, t)))
    for (frames, begin), (_, until) in zip(stretches, stretches[1:]):
        reading.add("wait" if frames and frames[-1] == "(idle)" else "run", frames, until - begin)


def read_chrome(data):
    root, reading = load_chrome(data), Reading()
    threads, profiles = collections.defaultdict(list), {}
    for i, event in enumerate(root["traceEvents"]):
        data = event.get("args", {}).get("data", {}) if isinstance(event.get("args"), dict) else {}
        key = event.get("pid"), event.get("id")
        if event.get("name") in ("Profile", "ProfileChunk", "CpuProfile") and event["ph"] in "PI":
            inner = {**data, **data.get("cpuProfile", {})}
            profile = profiles.setdefault(key, {"thread": (event.get("pid"), event.get("tid")), "nodes": [], "samples": [],
                                                "timeDeltas": [], "startTime": event["ts"], "endTime": 0})
            for part in ("nodes", "samples", "timeDeltas"):
                profile[part] += inner.get(part, [])
            for part in ("startTime", "endTime"):
                profile[part] = inner.get(part, profile[part])
        elif event["ph"] in "BEX" and "ts" in event:
            threads[event.get("pid"), event.get("tid")].append((i, event))
    last, slices = 0, {}
    for thread, events in threads.items():
        done, opened, end = whole_slices(events)
        last = max(last, end)
        done += [(nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e.get("dur", e.get("tdur", 0))), i,
                  e.get("name") or "(unnamed)") for i, e in events if e["ph"] == "X"]
        slices[thread] = done, opened
    for thread, (done, opened) in slices.items():
        if thread in [p["thread"] for p in profiles.values()]:
            continue
        done += [(t, last, order, name) for t, order, name in opened]
        for stack, cost in nest(done):
            reading.add("run", stack, cost)
    for p in profiles.values():
        add_v8(reading, nanoseconds(p["startTime"]), nanoseconds(p["endTime"]), p["nodes"], p["samples"], p["timeDeltas"])
    return reading


# ---- protobuf ----


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def fields(data):
    """(number, value) of a message: numbers, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 in (1, 5):
            size = 8 if tag & 7 == 1 else 4
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def message(data):
    """All values of each field."""
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def numbers(values):
    """A repeated number, packed or not."""
    for value in values:
        at = 0
        while isinstance(value, bytes) and at < len(value):
            number, at = varint(value, at)
            yield number
        if not isinstance(value, bytes):
            yield value


def fixed(values):
    for value in values:
        if isinstance(value, bytes):
            yield from (int.from_bytes(value[i:i + 8], "little") for i in range(0, len(value), 8))
        else:
            yield value


# ---- OpenTelemetry's profiles ----

WAITS = ("off_cpu", "block", "lock", "contention", "delay")


def otlp_stacks(tables):
    strings = [s.decode("utf-8", "replace") for s in tables[5]]
    functions = [strings[(message(f)[1] or [0])[0]] for f in tables[3]]
    locations = []
    for data in tables[2]:
        location = message(data)
        lines = [functions[(message(line)[1] or [0])[0]] for line in location[3]]
        address = (location[2] or [0])[0]
        if (location[1] or [0])[0]:
            mapping = message(tables[1][location[1][0]])
            start, limit, offset = ((mapping[i] or [0])[0] for i in (1, 2, 3))
            address = address - start + offset if start <= address < limit else address
        locations.append(tuple(reversed(lines)) or (hex(address),))
    return strings, [sum((locations[i] for i in reversed(list(numbers(message(s)[1])))), ()) for s in tables[7]]


def read_otlp(data):
    root, reading = message(data), Reading()
    strings, stacks = otlp_stacks(message(b"".join(root[2])))
    for resource in root[1]:
        for scope in message(resource)[2]:
            for profile in map(message, message(scope)[2]):
                kind = message(profile[1][0])
                name, unit = strings[kind[1][0]], strings[kind[2][0]]
                scale = {"nanoseconds": 1}.get(unit) or (profile[6] or [1])[0]
                for sample in map(message, profile[2]):
                    values, times = list(numbers(sample[4])), list(fixed(sample[5]))
                    for value in values or [1] * len(times):
                        reading.add("wait" if name in WAITS else "run", stacks[(sample[1] or [0])[0]], value * scale)
    return reading


# ---- Perfetto's traces ----


def perfetto_switches(bundle):
    """(time, order, cpu, who runs or None, state, next) of switches, and (time, order, cpu, waker or None, woken)."""
    cpu = (bundle[1] or [0])[0]
    for event in map(message, bundle[2]):
        if event[4]:
            switch = message(event[4][0])
            first = lambda n: (switch[n] or [0])[0]  # noqa: E731
            yield event[1][0], cpu, "switch", first(2), first(4), first(6)
        for waking in event[17] + event[20] + event[21]:
            yield event[1][0], cpu, "waking", (event[2] or [0])[0], None, message(waking)[2][0]
    for compact in map(message, bundle[4]):
        t = 0
        for step, state, following in zip(*(numbers(compact[n]) for n in (1, 2, 3))):
            t += step
            yield t, cpu, "switch", None, state, following
        t = 0
        for step, woken in zip(*(numbers(compact[n]) for n in (7, 8))):
            t += step
            yield t, cpu, "waking", None, None, woken


def join_waits(reading, events):
    """Waits without stacks: from a switch in a blocking state to the waking, else to the next switch to the thread."""
    running, out = {}, {}
    for t, cpu, what, who, state, to in events:
        who = running.get(cpu) if who is None else who
        if what == "waking":
            if to in out and out[to][1] is None:
                out[to] = out[to][0], t
            continue
        if who and state & 0xff and not state & 0xff00 and not state & 0x30:
            out[who] = t, None
        running[cpu] = to
        if to in out:
            begin, woken = out.pop(to)
            reading.add("wait", (), (t if woken is None else woken) - begin)
    for begin, woken in out.values():
        reading.add("wait", (), (events[-1][0] if woken is None else woken) - begin)


def read_perfetto(data):
    reading, interned, events, period = Reading(), {}, [], 0
    for packet in map(message, message(data)[1]):
        for defaults in packet[59]:
            period = 10**9 // message(message(message(defaults)[12][0])[1][0])[2][0]
        for number, value in (pair for part in packet[12] for pair in fields(part)):
            interned[number, message(value)[1][0]] = message(value)
        for bundle in packet[1]:
            events += perfetto_switches(message(bundle))
        for sample in map(message, packet[66]):
            stack = []
            for iid in numbers(interned[7, sample[4][0]][2]):
                frame = interned[6, iid]
                stack.append(interned[5, frame[2][0]][2][0].decode() if frame[2] else hex((frame[4] or [0])[0]))
            reading.add("run", stack, period)
    if events:
        join_waits(reading, sorted(events, key=lambda e: e[0]))
    return reading


# ---- wprof's JSON ----


def read_wprof(data):
    reading, stacks, out = Reading(), {None: ()}, {}
    head, *lines = [json.loads(line, parse_float=Decimal) for line in data.splitlines()]
    ns, last = (lambda t: int((t * 10**9).to_integral_value())), 0
    for line in lines:
        if "t" not in line:
            stacks[line["id"]] = tuple(f.split("] ", 1)[1].replace(" (inlined)", "").split("+0x")[0] for f in line["frames"])
            continue
        last = t = ns(line["ts"])
        if line["t"] == "timer" and "tid" in line["task"]:
            reading.add("run", stacks[line.get("stack_id")], round(10**9 / head["timer_freq_hz"]))
        elif line["t"] == "waking":
            tid = line["wakee"].get("tid")
            if tid in out and out[tid][1] is None:
                out[tid] = out[tid][0], t
        elif line["t"] == "switch":
            if line["prev"].get("tid") and line["prev_state"] not in ("runnable", "preempted", "task_dead"):
                out[line["prev"]["tid"]] = t, None
            if line["next"].get("tid") in out:
                begin, woken = out.pop(line["next"]["tid"])
                reading.add("wait", stacks[line.get("offcpu_stack_id")], (t if woken is None else woken) - begin)
    for begin, woken in out.values():
        reading.add("wait", (), (last if woken is None else woken) - begin)
    return reading


# ---- speedscope ----


def read_speedscope(data):
    root, reading = json.loads(data, parse_float=Decimal), Reading()
    names = [f["name"] or "(anonymous)" for f in root["shared"]["frames"]]
    for profile in root["profiles"]:
        unit = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6, "seconds": 10**9}.get(profile["unit"], 1)
        ns = lambda value: int((Decimal(value) * unit).to_integral_value(rounding="ROUND_HALF_UP"))  # noqa: E731,B023
        if profile["type"] == "sampled":
            for sample, weight in zip(profile["samples"], profile["weights"]):
                reading.add("run", [names[i] for i in sample], ns(weight))
            continue
        opened, last = [], 0
        for event in profile["events"]:
            t = ns(event["at"])
            if opened and t > last:
                reading.add("run", [names[i] for i in opened], t - last)
            last = t
            if event["type"] == "O":
                opened.append(event["frame"])
            else:
                del opened[len(opened) - 1 - opened[::-1].index(event["frame"]):]
    return reading


# ---- Firefox Profiler ----


def firefox_column(table, name):
    if "schema" not in table:
        return table.get(name) or []
    at = table["schema"].get(name)
    return [row[at] if at is not None and at < len(row) else None for row in table["data"]] if at is not None else []


def firefox_stacks(thread, shared):
    table = lambda name: thread.get(name) or shared.get(name)  # noqa: E731
    strings = table("stringArray") or table("stringTable")
    places, functions = firefox_column(table("frameTable"), "location"), firefox_column(table("frameTable"), "func")
    names = [strings[i] for i in places] if places else [strings[firefox_column(table("funcTable"), "name")[i]] for i in functions]
    if places:
        names = [n[:n.index(" (")] if " (" in n and n.endswith(")") else n for n in names]
    stacks = []
    for frame, prefix in zip(*(firefox_column(table("stackTable"), n) for n in ("frame", "prefix"))):
        above = stacks[prefix] if prefix is not None and prefix >= 0 else ()
        stacks.append(above + (names[frame] or "(anonymous)",))
    return stacks


def firefox_measured(reading, rows):
    """Rows (time, stack, time on a CPU): what is not on a CPU in a gap of which less than half is, is a wait."""
    last, wait = None, None
    for t, stack, cpu in rows:
        gap = cpu if last is None else t - last
        waits = cpu < gap // 2
        if wait and not (waits and not cpu and wait[0] == stack):
            reading.add("wait", *wait)
            wait = None
        if waits:
            wait = (stack, (wait[1] if wait else 0) + gap - (0 if wait else cpu))
        if cpu:
            reading.add("run", stack, cpu)
        last = t
    if wait:
        reading.add("wait", *wait)


def read_firefox(data):
    reading = Reading()

    def read_process(profile):
        meta = profile["meta"]
        unit = {"ns": 1, "\u00b5s": 1000}.get(meta.get("sampleUnits", {}).get("threadCPUDelta"))
        for thread in profile["threads"]:
            stacks = firefox_stacks(thread, profile.get("shared", {}))
            column = lambda name: firefox_column(thread["samples"], name)  # noqa: E731,B023
            times, cpus, weights = column("time"), column("threadCPUDelta"), column("weight")
            if not times:
                times = [sum(column("timeDeltas")[:i + 1]) for i in range(len(column("timeDeltas")))]
            rows = []
            for i, stack in enumerate(column("stack")):
                frames = stacks[stack] if stack is not None else ()
                if unit and cpus and cpus[i] is not None:
                    rows.append((int(times[i] * 1e6 + 0.5), frames, int(cpus[i] * unit + 0.5)))
                else:
                    reading.add("run", frames, int((weights[i] if weights else 1) * meta["interval"] * 1e6 + 0.5))
            firefox_measured(reading, rows)
        for process in profile.get("processes", []):
            read_process(process)

    root = json.loads(data)
    read_process(root.get("profile", root))
    return reading


# ---- V8's CPU profiles ----


def read_cpuprofile(data):
    root, reading = json.loads(data, parse_float=Decimal), Reading()
    add_v8(reading, nanoseconds(root["startTime"]), nanoseconds(root["endTime"]), root["nodes"], root["samples"],
            root["timeDeltas"])
    return reading
