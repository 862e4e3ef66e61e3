"""A made-up machine with a GPU whose every gap and wait has a known cause, and its trace as three profilers would write it.

Times are nanoseconds. Threads and streams do one thing after another; `causes` lists for each stretch in which a stream had
nothing to run, or a thread waited for a stream, who was the root of it: (from, until, thread, last frame).
"""
import json
import sqlite3

PID = 100
LATENCY = 2000  # from the end of a launch to the start of the kernel, where nothing else is in the way


class Stream:
    def __init__(self, number):
        self.number, self.end, self.kernels = number, None, []
        self.awaits = []  # (moment of the end of what is awaited, stream, kernel)

    @property
    def name(self):
        return f"gpu0 stream {self.number}"


class Thread:
    def __init__(self, world, tid, name):
        self.world, self.tid, self.name, self.now = world, tid, name, 1000
        self.slices = []  # (from, until, category, name)
        self.open = []

    def begin(self, name):
        self.open.append((self.now, name))

    def end(self):
        start, name = self.open.pop()
        self.slices.append((start, self.now, "python_function", name))

    def spend(self, duration, name, category="cpu_op"):
        """Runs or, in a function of Python that blocks, waits. Returns the stretch."""
        self.slices.append((self.now, self.now + duration, category, name))
        self.now += duration
        return self.now - duration, self.now

    def call(self, name, duration, **facts):
        correlation = len(self.world.calls) + 1
        self.world.calls.append({"thread": self, "t0": self.now, "t1": self.now + duration, "name": name, **facts})
        self.slices.append((self.now, self.now + duration, "cuda_runtime", name))
        self.now += duration
        return correlation

    def launch(self, stream, name, work, count=1, call="cudaLaunchKernel", gap=0):
        """Kernels of one launch follow one another with `gap` between them."""
        t0 = self.now
        correlation = self.call(call, 5000)
        for i in range(count):
            self.world.run(stream, f"{name}{i}" if count > 1 else name, work, correlation, self.now + LATENCY + gap * i, self, self.now)
        return t0

    def record(self, stream):
        correlation = self.call("cudaEventRecord", 1000, event=len(self.world.calls) + 1, stream=stream)
        last = stream.kernels[-1] if stream.kernels else None
        return correlation, stream, last

    def wait_event(self, stream, event):
        correlation, of, last = event
        self.call("cudaStreamWaitEvent", 1000, stream=stream, awaited=of, recorded=correlation)
        if last:
            stream.awaits.append((last["t1"], of, last))

    def synchronize(self, stream, call="cudaStreamSynchronize"):
        """Spins until the stream is done, and notices a little later."""
        until = max(self.now + 500, stream.end or 0)
        blocked = self.now, max(self.now, stream.end or 0)
        self.call(call, until + 3000 - self.now, stream=None if "Device" in call else stream)
        self.world.waits.append((self, *blocked, stream))

    def copy(self, stream, name, work):
        """A copy to pageable memory: the call comes back when it is done."""
        start = max(self.now + 10000, stream.end or 0)
        correlation = len(self.world.calls) + 1
        blocked = self.now, start + work
        launched = self.now
        self.call("cudaMemcpyAsync", start + work + 2000 - self.now)
        self.world.run(stream, name, work, correlation, start, self, launched, pageable=True)
        self.world.waits.append((self, *blocked, stream))


class World:
    def __init__(self, seed=0):
        self.threads, self.streams, self.calls, self.kernels, self.waits, self.gaps = [], [], [], [], [], []
        self.samples = []
        self.seed = seed

    def thread(self, name):
        self.threads.append(Thread(self, PID + len(self.threads), name))
        return self.threads[-1]

    def stream(self, number):
        self.streams.append(Stream(number))
        return self.streams[-1]

    def run(self, stream, name, work, correlation, earliest, thread, launched, pageable=False):
        awaited = max(stream.awaits, key=lambda a: a[0], default=(0, None, None))
        stream.awaits = []
        start = max(earliest, stream.end or 0, awaited[0])
        kernel = {"t0": start, "t1": start + work, "name": name, "stream": stream, "correlation": correlation,
                  "pageable": pageable}
        if stream.end is not None and start > stream.end:
            self.gaps.append((stream, stream.end, start, thread, launched, awaited))
        stream.end = start + work
        stream.kernels.append(kernel)
        self.kernels.append(kernel)

    def sample(self, thread, since, until, period, stack):
        """Samples of a thread that runs, or spins."""
        t = since + period // 2
        while t < until:
            self.samples.append((t, thread, stack))
            t += period

    # ---- as PyTorch's profiler writes it ----

    def kineto(self, path, sync_records=False):
        def us(ns):
            return ns / 1000

        events = []
        for thread in self.threads:
            events += [{"ph": "X", "cat": c, "name": n, "pid": PID, "tid": thread.tid, "ts": us(a), "dur": us(b - a), "args": {}}
                       for a, b, c, n in thread.slices if c != "cuda_runtime"]
            events.append({"ph": "M", "name": "thread_name", "pid": PID, "tid": thread.tid, "args": {"name": thread.name}})
        for i, call in enumerate(self.calls, 1):
            events.append({"ph": "X", "cat": "cuda_runtime", "name": call["name"], "pid": PID, "tid": call["thread"].tid,
                           "ts": us(call["t0"]), "dur": us(call["t1"] - call["t0"]), "args": {"correlation": i}})
            stream = call.get("stream")
            if sync_records and stream and "Record" not in call["name"]:
                args = {"device": 0, "stream": stream.number, "correlation": i}
                if call.get("awaited"):
                    args.update(wait_on_stream=call["awaited"].number, wait_on_cuda_event_record_corr_id=call["recorded"])
                events.append({"ph": "X", "cat": "cuda_sync", "name": "Sync", "pid": 0, "tid": stream.number, "ts": us(call["t0"]),
                               "dur": us(call["t1"] - call["t0"]), "args": args})
        for k in self.kernels:
            category = "gpu_memcpy" if k["pageable"] else "kernel"
            events.append({"ph": "X", "cat": category, "name": k["name"] + (" Pageable" if k["pageable"] else ""), "pid": 0,
                           "tid": k["stream"].number, "ts": us(k["t0"]), "dur": us(k["t1"] - k["t0"]),
                           "args": {"device": 0, "stream": k["stream"].number, "correlation": k["correlation"]}})
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": events}, out)

    # ---- as Nsight Systems exports it ----

    def nsight(self, path):
        db = sqlite3.connect(path)
        strings = {}

        def string(text):
            return strings.setdefault(text, len(strings))

        def thread_id(thread):
            return 1 << 56 | PID << 24 | thread.tid

        for sql in ("StringIds (id INTEGER PRIMARY KEY, value TEXT)",
                    "ThreadNames (nameId INT, priority INT, globalTid INT)",
                    "ENUM_CUDA_MEM_KIND (id INT, name TEXT, label TEXT)",
                    "CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, "
                    "correlationId INT, globalPid INT, demangledName INT, shortName INT)",
                    "CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT, streamId INT, "
                    "correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT)",
                    "CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT, "
                    "nameId INT, returnValue INT, callchainId INT)",
                    "CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INT, contextId INT, streamId INT, correlationId INT, "
                    "globalPid INT, eventId INT)",
                    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, deviceId INT, contextId INT, streamId INT, "
                    "correlationId INT, globalPid INT, syncType INT, eventId INT)",
                    "NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT)",
                    "OSRT_API (start INT, end INT, eventClass INT, globalTid INT, nameId INT)",
                    "COMPOSITE_EVENTS (id INT, start INT, cpu INT, threadState INT, globalTid INT)",
                    "SAMPLING_CALLCHAINS (id INT, symbol INT, module INT, unresolved INT, originalIP INT, stackDepth INT)"):
            if self.samples or not sql.startswith(("COMPOSITE", "SAMPLING")):
                db.execute("CREATE TABLE " + sql)
        pid = 1 << 56 | PID << 24
        db.executemany("INSERT INTO ENUM_CUDA_MEM_KIND VALUES (?, ?, ?)", [(0, "P", "Pageable"), (2, "D", "Device")])
        for thread in self.threads:
            db.execute("INSERT INTO ThreadNames VALUES (?, 0, ?)", (string(thread.name), thread_id(thread)))
            for a, b, category, name in thread.slices:
                if name in ("pthread_mutex_lock", "<built-in method acquire of _thread.lock object at 0x7f0012>"):
                    db.execute("INSERT INTO OSRT_API VALUES (?, ?, 0, ?, ?)", (a, b, thread_id(thread), string("pthread_mutex_lock")))
                elif category != "cuda_runtime":
                    db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?)", (a, b, name, thread_id(thread)))
        for i, call in enumerate(self.calls, 1):
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0, NULL)",
                       (call["t0"], call["t1"], thread_id(call["thread"]), i, string(call["name"] + "_v3020")))
            stream = call.get("stream")
            if "event" in call:
                db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, ?, ?, ?, 7)", (stream.number, i, pid))
            elif stream:
                db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?, ?, 0, 1, ?, ?, ?, ?, 7)",
                           (call["t0"], call["t1"], stream.number, i, pid, 2 if call.get("awaited") else 3))
        for k in self.kernels:
            if k["pageable"]:
                db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 1, ?, ?, ?, 4, 2, 2, 0)",
                           (k["t0"], k["t1"], k["stream"].number, k["correlation"], pid))
            else:
                db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, ?, ?, NULL)",
                           (k["t0"], k["t1"], k["stream"].number, k["correlation"], pid, string(k["name"])))
        for i, (t, thread, stack) in enumerate(self.samples, 1):
            db.execute("INSERT INTO COMPOSITE_EVENTS VALUES (?, ?, 0, 1, ?)", (i, t, thread_id(thread)))
            db.executemany("INSERT INTO SAMPLING_CALLCHAINS VALUES (?, ?, ?, 0, 0, ?)",
                           [(i, string(f), string("/usr/bin/python3"), depth) for depth, f in enumerate(reversed(stack))])
        db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, text) for text, i in strings.items()])
        db.commit()
        db.close()

    # ---- as wprof writes it ----

    def wprof(self, path):
        stacks, lines = {}, []

        def stack_id(stack):
            return stacks.setdefault(tuple(stack), len(stacks) + 1)

        def task(thread):
            return {"tid": thread.tid, "pid": PID, "comm": thread.name}

        owner = {"tid": PID, "pid": PID, "comm": self.threads[0].name}
        for i, call in enumerate(self.calls, 1):
            around = [n for a, b, c, n in sorted(call["thread"].slices, key=lambda s: (s[0], -s[1]))
                      if a <= call["t0"] and b >= call["t1"] and c != "cuda_runtime"]
            lines.append((call["t0"], {"t": "cuda_api", "task": task(call["thread"]), "dur": (call["t1"] - call["t0"]) / 1e9,
                                       "name": call["name"], "corr_id": i, "stack_id": stack_id(around + [call["name"]])}))
            stream = call.get("stream")
            if stream and "event" not in call:
                lines.append((call["t0"], {"t": "cuda_sync", "task": owner, "dur": (call["t1"] - call["t0"]) / 1e9,
                                           "kind": "stream", "stream_id": stream.number, "corr_id": i}))
        for k in self.kernels:
            line = {"t": "cuda_memcpy" if k["pageable"] else "cuda_kernel", "task": owner, "dur": (k["t1"] - k["t0"]) / 1e9,
                    "device_id": 0, "stream_id": k["stream"].number, "corr_id": k["correlation"]}
            line.update({"kind": "DtoH", "src_kind": "device", "dst_kind": "pageable"} if k["pageable"] else {"name": k["name"]})
            lines.append((k["t0"], line))
        for t, thread, stack in self.samples:
            lines.append((t, {"t": "timer", "task": task(thread), "stack_id": stack_id(stack)}))
        with open(path, "w", encoding="utf-8") as out:
            head = {"version": "3.1", "dur": 1.0, "timer_freq_hz": 1000, "stack_cnt": len(stacks), "stacks": ["timer"], "pmus": []}
            print(json.dumps(head), file=out)
            for stack, number in stacks.items():
                print(json.dumps({"id": number, "frames": [f"[U] {f}" for f in stack]}), file=out)
            for t, line in sorted(lines, key=lambda l: l[0]):
                print(json.dumps({"ts": t / 1e9, "cpu": 0, **line}), file=out)
