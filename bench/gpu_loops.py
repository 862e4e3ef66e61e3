#!/usr/bin/env python3
"""Training loops of PyTorch whose cause of slowness is known, for an NVIDIA GPU.

	lode record --gpu -o corpus -- bench/gpu_loops.py KIND SECONDS

KIND is loader (slow workers), lock (another thread holds it while it sleeps), item (`.item()` in each step), noitem and noaugment
(the same without that, and without the step's own work), small (bound by launches: prints what one takes), or profile-cuda and
profile-both (small under PyTorch's own profiler).
The first finding of `lode mine` should be the cause. docs/speed.md has what was measured.
"""
import sys
import threading
import time

import torch
from torch import nn

KIND, SECONDS = sys.argv[1], float(sys.argv[2])
DEVICE = torch.device('cuda')


def decode_picture(seed):
    """What is slow about the loader: 15 ms of plain Python."""
    end = time.perf_counter() + 0.015
    value = seed
    while time.perf_counter() < end:
        value = (value * 1103515245 + 12345) & 0x7fffffff
    return value


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return 1 << 30

    def __getitem__(self, i):
        return torch.full((1024,), float(decode_picture(i) & 255))


class Metrics:
    """A thread writes metrics every now and then, and holds the lock meanwhile."""
    def __init__(self):
        self.lock = threading.Lock()
        self.values = []
        threading.Thread(target=self.write_metrics, daemon=True).start()

    def write_metrics(self):
        while True:
            with self.lock:
                self.flush_slowly()
            time.sleep(0.001)

    def flush_slowly(self):
        time.sleep(0.020)

    def add(self, value):
        with self.lock:
            self.values.append(value)


def make_model(width, layers):
    return nn.Sequential(*[part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU())]).to(DEVICE)


def train_step(model, optimizer, batch):
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    return loss


def train(batches, use, width=1024, layers=12):
    # Imports a good part of PyTorch when it is first made: before the GPU is used.
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1e-6).step()
    model = make_model(width, layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for _ in range(3):
        train_step(model, optimizer, torch.ones(64, width, device=DEVICE))
    torch.cuda.synchronize()
    began = time.perf_counter()
    steps = 0
    for batch in batches:
        use(train_step(model, optimizer, batch.to(DEVICE, non_blocking=True)))
        steps += 1
        if time.perf_counter() - began > SECONDS:
            break
    torch.cuda.synchronize()
    print('%s: %.1f steps/s' % (KIND, steps / (time.perf_counter() - began)), flush=True)


def same_batches(size=2048, width=1024):
    batch = torch.ones(size, width, device=DEVICE)
    while True:
        yield batch


def loader():
    data = torch.utils.data.DataLoader(Pictures(), batch_size=4, num_workers=2, pin_memory=True)
    train(data, lambda loss: None)


def lock():
    metrics = Metrics()
    train(same_batches(), lambda loss: metrics.add(loss.detach()))


def augment(seconds=0.004):
    """What the CPU does for each step, while the GPU could work on the last one."""
    end = time.perf_counter() + seconds
    value = 1
    while time.perf_counter() < end:
        value = (value * 1103515245 + 12345) & 0x7fffffff


def augmented_batches():
    for batch in same_batches():
        augment()
        yield batch


LOSSES = []


def report(loss):
    LOSSES.append(loss.item())


def item():
    train(augmented_batches(), report)


def noitem():
    train(augmented_batches(), lambda loss: LOSSES.append(loss.detach()))


def noaugment():
    train(same_batches(), report)


def add_small(x):
    x.add_(1)


def small():
    x = torch.zeros(16, device=DEVICE)
    add_small(x)
    torch.cuda.synchronize()
    began = time.perf_counter()
    times = []
    while time.perf_counter() - began < SECONDS:
        start = time.perf_counter()
        for _ in range(1000):
            add_small(x)
        times.append(time.perf_counter() - start)
        torch.cuda.synchronize()
    times.sort()
    print('small: %.2f us a launch (p10 %.2f), mean %.2f' % (times[len(times) // 2] * 1e3, times[len(times) // 10] * 1e3, sum(times) / len(times) * 1e3), flush=True)


def profiled(activities):
    from torch.profiler import profile
    x = torch.zeros(16, device=DEVICE)
    add_small(x)
    with profile(activities=activities):
        add_small(x)
        torch.cuda.synchronize()
    with profile(activities=activities):
        small()


if KIND == 'profile-cuda':
    profiled([torch.profiler.ProfilerActivity.CUDA])
elif KIND == 'profile-both':
    profiled([torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU])
else:
    {'loader': loader, 'lock': lock, 'item': item, 'noitem': noitem, 'noaugment': noaugment, 'small': small}[KIND]()
