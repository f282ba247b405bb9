#!/usr/bin/env python3
"""Regions compared with Zeus's windows in one process: time, energy, and what a window costs.

    python3 docs/results/regions_zeus.py --library target/release/libgreenup_regions.so [--out FILE.json] [--seconds S]

On an NVIDIA GPU with torch: matrix products and copies in windows of 1 s, 100 ms and 10 ms. Without a GPU: busy loops on
the CPU, and time alone. Each window is measured by both, Zeus's calls around the library's; costs are measured in
interleaved loops that use one of them or none.
"""
import argparse
import ctypes
import json
import os
import random
import statistics
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--library", required=True)
parser.add_argument("--out")
parser.add_argument("--seconds", type=float, default=5.0, help="length of each series of windows")
args = parser.parse_args()

folder = tempfile.mkdtemp()
lines = os.path.join(folder, "regions.jsonl")
os.environ["GREENUP_REGIONS"] = "summary,lines"
os.environ["GREENUP_REGIONS_FILE"] = lines

from zeus.monitor import ZeusMonitor  # noqa: E402

try:
    import torch

    cuda = torch.cuda.is_available()
except ImportError:
    cuda = False

library = ctypes.CDLL(args.library)
begin, end = library.greenup_region_begin, library.greenup_region_end
begin.argtypes = end.argtypes = [ctypes.c_char_p]
begin.restype = end.restype = None

if cuda:
    n = 8192
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.empty_like(a)
    x = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
    y = torch.empty_like(x)
    works = {"product": lambda: torch.mm(a, b, out=c), "copy": lambda: y.copy_(x)}
    sync = torch.cuda.synchronize
    monitor = ZeusMonitor(gpu_indices=[0], cpu_indices=[])
    device = torch.cuda.get_device_name(0)
else:
    def busy():
        until = time.perf_counter() + 0.0005
        while time.perf_counter() < until:
            pass

    works = {"busy": busy}
    sync = lambda: None  # noqa: E731
    monitor = ZeusMonitor(gpu_indices=[], cpu_indices=[])
    device = "CPU"


def work(name, times):
    step = works[name]
    for _ in range(times):
        step()
    sync()


def quartiles(values):
    v = sorted(values)
    pick = lambda q: v[min(len(v) - 1, int(q * len(v)))]  # noqa: E731
    return {"median": statistics.median(v), "q1": pick(0.25), "q3": pick(0.75), "min": v[0], "max": v[-1], "n": len(v)}


results = {"device": device, "windows": [], "cost": {}, "in_loop": []}
print(f"{device}; {library.greenup_available()} energy sensors of the library", flush=True)

# What an empty window costs.
def pair():
    begin(b"empty")
    end(b"empty")


def window():
    monitor.begin_window("empty")
    return monitor.end_window("empty")


def cost(call, batch, batches):
    call()
    per = []
    for _ in range(batches):
        t = time.perf_counter()
        for _ in range(batch):
            call()
        per.append((time.perf_counter() - t) / batch)
    return quartiles(per)


results["cost"] = {"library": cost(pair, 200, 51), "zeus": cost(window, 20, 21)}
for name, q in results["cost"].items():
    print(f"empty window, {name}: median {q['median'] * 1e6:.2f} µs, quartiles {q['q1'] * 1e6:.2f} {q['q3'] * 1e6:.2f}", flush=True)

# How many steps a second has, of each work, warm.
rate = {}
for name in works:
    work(name, 3)
    t, k = time.perf_counter(), 0
    while time.perf_counter() - t < 1.5:
        work(name, 4)
        k += 4
    rate[name] = k / (time.perf_counter() - t)

# The same windows by both.
zeus_says = {}
spans = []
for length in (1.0, 0.1, 0.01):
    series = list(works) * max(2, round(args.seconds / length / len(works)))
    for name in series:
        label = f"{name} {length:g} s"
        times = max(1, round(rate[name] * length))
        monitor.begin_window(label)
        begin(label.encode())
        work(name, times)
        end(label.encode())
        m = monitor.end_window(label)
        zeus_says.setdefault(label, []).append((m.time, sum(m.gpu_energy.values()) if m.gpu_energy else None))
    print(f"windows of {length:g} s done", flush=True)

# One window around a long series, by both: the mean power of each work, from the counter's ticks alone.
steady = {}
for name in works:
    label = f"steady {name}"
    monitor.begin_window(label)
    begin(label.encode())
    work(name, round(rate[name] * args.seconds))
    end(label.encode())
    m = monitor.end_window(label)
    zeus_says.setdefault(label, []).append((m.time, sum(m.gpu_energy.values()) if m.gpu_energy else None))

library.greenup_flush()
ours = {}
for line in open(lines):
    entry = json.loads(line)
    if entry["type"] == "region":
        joules = entry["joules"]
        gpu = [v for k, v in (joules or {}).items() if k.startswith("nvml:0")]
        ours.setdefault(entry["path"][0], []).append((entry["seconds"], gpu[0] if gpu else None))
    else:
        summary = entry
results["sensors"] = summary["sensors"]
regions = {r["path"][0]: r for r in summary["regions"]}

power = {}
for label in zeus_says:
    z, o = zeus_says[label], ours.get(label, [])
    assert len(z) == len(o), (label, len(z), len(o))
    row = {"window": label, "n": len(z)}
    row["zeus_s"], row["ours_s"] = statistics.median(t for t, _ in z), statistics.median(t for t, _ in o)
    if z[0][1] is not None and o[0][1] is not None:
        for who, says in (("zeus", z), ("ours", o)):
            watts = [j / t for t, j in says]
            row[f"{who}_j"] = sum(j for _, j in says)
            row[f"{who}_w"] = row[f"{who}_j"] / sum(t for t, _ in says)
            row[f"{who}_w_of_a_window"] = quartiles(watts)
            row[f"{who}_zeros"] = sum(j == 0 for _, j in says)
        row["accumulated"] = regions[label].get("accumulated")
        if label.startswith("steady"):
            power[label.split()[1]] = row["ours_w"]
    results["windows"].append(row)
for row in results["windows"]:
    text = f"{row['window']:16} n {row['n']:4}  median time {row['ours_s'] * 1e3:9.3f} ms, Zeus {row['zeus_s'] * 1e3:9.3f} ms"
    if "ours_w" in row:
        q, r = row["ours_w_of_a_window"], row["zeus_w_of_a_window"]
        text += (
            f"  mean power {row['ours_w']:6.1f} W, Zeus {row['zeus_w']:6.1f} W (steady {power.get(row['window'].split()[0], 0):6.1f})"
            f"  of one window {q['q1']:.0f}–{q['q3']:.0f} W, Zeus {r['q1']:.0f}–{r['q3']:.0f} W, {row['zeus_zeros']} of them 0 J"
        )
    print(text, flush=True)

# What windows cost a program: the same loop with one, the other, or none.
name = next(iter(works))
for length in (0.01, 0.001):
    times = max(1, round(rate[name] * length))
    count = 60
    kinds = {"none": [], "library": [], "zeus": []}
    for _ in range(7):
        order = list(kinds)
        random.shuffle(order)
        for kind in order:
            t = time.perf_counter()
            for _ in range(count):
                if kind == "library":
                    begin(b"loop")
                    work(name, times)
                    end(b"loop")
                elif kind == "zeus":
                    monitor.begin_window("loop")
                    work(name, times)
                    monitor.end_window("loop")
                else:
                    work(name, times)
            kinds[kind].append((time.perf_counter() - t) / count)
    row = {"length_s": length, **{k: quartiles(v) for k, v in kinds.items()}}
    results["in_loop"].append(row)
    base = row["none"]["median"]
    for kind in ("library", "zeus"):
        q = row[kind]
        print(
            f"loop of {length * 1e3:g} ms, {kind}: {q['median'] * 1e3:.4f} ms a window"
            f" ({(q['median'] / base - 1) * 100:+.2f} %), quartiles {q['q1'] * 1e3:.4f} {q['q3'] * 1e3:.4f}; none {base * 1e3:.4f}",
            flush=True,
        )
if args.out:
    with open(args.out, "w") as f:
        json.dump(results, f, indent=1)
