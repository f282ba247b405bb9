#!/usr/bin/env python3
"""Energy of kernels that run alone for seconds: the model's over the meter's, at the mean clock of all and at the clock of each.

usage: alone_table.py MACHINE.toml FOLDER      FOLDER has phases.jsonl of alone.py and kernels.csv.xz of its profile
"""

import csv
import json
import lzma
import sys
import tomllib
from pathlib import Path

machine = tomllib.loads(Path(sys.argv[1]).read_text())
folder = Path(sys.argv[2])
cost = {op: c["energy_j"]["value"] for op, c in machine["cost"].items() if "energy_j" in c}
constant_w = machine["constant_power_w"]["value"]
highest, slope = (machine["clock"][k]["value"] for k in ("highest_hz", "voltage_slope"))
# A part of the kernel's name and its blocks, by the phase's beginning.
KERNELS = {
    "bf16 8192,": ("nvjet_sm90_tst_320x128", "2 66 1"),
    "bf16 8192x": ("nvjet_sm90_tst_256x128", "2 66 1"),
    "f64": ("f64f64", "32 64 1"),
    "f32": ("f32f32", "16 32 1"),
    "add bf16, DRAM": ("CUDAFunctor_add", "262144 1 1"),
    "add bf16, L2": ("CUDAFunctor_add", "4096 1 1"),
    "add f32": ("CUDAFunctor_add", "65536 1 1"),
    "dropout": ("dropout", "1056 1 1"),
    "attention": ("flash_fprop", "132 1 1"),
    "layer norm": ("layer_norm", "8192 1 1"),
}
phases = [json.loads(line) for line in (folder / "phases.jsonl").read_text().splitlines()]
rows = list(csv.DictReader(lzma.open(folder / "kernels.csv.xz", "rt")))


def energy(work, clock_hz):
    """Joules of one launch without constant power; those of the core fall with the square of its voltage."""
    squared = (1 - slope * (1 - min(clock_hz / highest, 1))) ** 2
    return sum(n * cost[op] * (1 if op in ("dram", "random") else squared) for op, n in work.items())


mean_hz = sum(p["clock_hz"] * p["seconds"] for p in phases) / sum(p["seconds"] for p in phases)
print(f"mean clock {mean_hz / 1e6:.0f} MHz")
print("| phase | W | clock, MHz | µs | model over meter at the mean clock | at its clock |")
print("|---|---|---|---|---|---|")
sums = [0.0, 0.0, 0.0]
for p in phases:
    part, grid = next(k for begin, k in KERNELS.items() if p["phase"].startswith(begin))
    found = [r for r in rows if part in r["symbol"] and r["grid"] == grid and int(r["launches"]) > 100]
    assert len(found) == 1, (p["phase"], len(found))
    work = {op: float(found[0][op]) for op in cost if found[0].get(op)}
    launch_s, launch_j = p["seconds"] / p["launches"], p["joules"] / p["launches"]
    models = [energy(work, hz) + constant_w * launch_s for hz in (mean_hz, p["clock_hz"])]
    for i, j in enumerate([launch_j, *models]):
        sums[i] += j * p["launches"]
    a, b = (100 * (j / launch_j - 1) for j in models)
    print(f"| {p['phase']} | {launch_j / launch_s:.0f} | {p['clock_hz'] / 1e6:.0f} | {1e6 * launch_s:.1f} | {a:+.1f} % | {b:+.1f} % |")
print(f"| all | | {mean_hz / 1e6:.0f} | | {100 * (sums[1] / sums[0] - 1):+.1f} % | {100 * (sums[2] / sums[0] - 1):+.1f} % |")
