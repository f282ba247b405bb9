"""Kernels one after the other, each for seconds, with the joules of each by the energy counter: what the model's sum is compared with.

Usage: alone.py SECONDS OUT.jsonl. Each line: phase, launches, seconds, joules, mean clock in Hz. The file is appended to: the first run is the one without a profiler.
"""
import json
import sys
import threading
import time

import pynvml
import torch
import torch.nn.functional as F

seconds, out = float(sys.argv[1]), sys.argv[2]
pynvml.nvmlInit()
gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
torch.manual_seed(7)
torch.backends.cuda.matmul.allow_tf32 = False
cuda = "cuda"


def normal(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device=cuda, dtype=torch.float32).to(dtype)


def uniform(*shape, dtype=torch.bfloat16):
    return (torch.rand(*shape, device=cuda, dtype=torch.float32) - 0.5).to(dtype)


def product(make, m, k, n, dtype=torch.bfloat16):
    a, b = make(m, k, dtype=dtype), make(k, n, dtype=dtype)
    c = torch.empty(m, n, device=cuda, dtype=dtype)
    return lambda: torch.mm(a, b, out=c)


def sum_of(n, dtype, make=normal):
    a, b = make(n, dtype=dtype), make(n, dtype=dtype)
    c = torch.empty_like(a)
    return lambda: torch.add(a, b, out=c)


def attention():
    q, k, v = (normal(16, 16, 512, 64) for _ in range(3))
    return lambda: F.scaled_dot_product_attention(q, k, v)


def dropout():
    a = normal(1 << 24)
    return lambda: F.dropout(a, 0.1)


def layer_norm():
    a, w, b = normal(8192, 1024, dtype=torch.float32), normal(1024, dtype=torch.float32), normal(1024, dtype=torch.float32)
    return lambda: F.layer_norm(a, (1024,), w, b)


PHASES = {
    "bf16 8192, normal": lambda: product(normal, 8192, 8192, 8192),
    "bf16 8192, uniform": lambda: product(uniform, 8192, 8192, 8192),
    "bf16 8192x1024x4096, normal": lambda: product(normal, 8192, 1024, 4096),
    "bf16 8192x1024x4096, uniform": lambda: product(uniform, 8192, 1024, 4096),
    "f64 4096, normal": lambda: product(normal, 4096, 4096, 4096, torch.float64),
    "f64 4096, uniform": lambda: product(uniform, 4096, 4096, 4096, torch.float64),
    "f32 4096, normal": lambda: product(normal, 4096, 4096, 4096, torch.float32),
    "add bf16, DRAM": lambda: sum_of(1 << 28, torch.bfloat16),
    "add bf16, L2": lambda: sum_of(1 << 22, torch.bfloat16),
    "add f32, DRAM, normal": lambda: sum_of(1 << 26, torch.float32),
    "add f32, DRAM, uniform": lambda: sum_of(1 << 26, torch.float32, uniform),
    "dropout": dropout,
    "attention": attention,
    "layer norm": layer_norm,
}


def tick():
    """Waits for the counter to change: joules and the time of the change."""
    old = pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu)
    while True:
        new = pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu)
        if new != old:
            return new / 1e3, time.perf_counter()


with open(out, "a") as file:
    for name, make in PHASES.items():
        run = make()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        # As many launches between two synchronisations as take about 20 ms.
        t = time.perf_counter()
        for _ in range(10):
            run()
        torch.cuda.synchronize()
        batch = max(1, int(0.02 / ((time.perf_counter() - t) / 10)))
        count, measured, clocks, stop = 0, {}, [], threading.Event()

        def meter():
            time.sleep(0.4 * seconds)  # the clock and the temperature settle
            e0, t0 = tick()
            n0 = count
            while time.perf_counter() < begin + seconds - 0.15:
                clocks.append(pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM))
                time.sleep(0.01)
            e1, t1 = tick()
            measured.update(launches=count - n0, seconds=t1 - t0, joules=e1 - e0, clock_hz=1e6 * sum(clocks) / len(clocks))
            stop.set()

        thread = threading.Thread(target=meter)
        thread.start()
        pending = []
        while not stop.is_set():
            for _ in range(batch):
                run()
            e = torch.cuda.Event()
            e.record()
            pending.append(e)
            # Two batches are queued, so that the GPU never waits.
            if len(pending) > 1:
                pending.pop(0).synchronize()
                count += batch
        thread.join()
        torch.cuda.synchronize()
        line = {"phase": name, **measured}
        print(json.dumps(line), flush=True)
        file.write(json.dumps(line) + "\n")
        del run
        torch.cuda.empty_cache()
        time.sleep(0.3)
