#!/usr/bin/env python3
"""The model's sum over the meter of recorded profiles, with the bytes between the partitions of L2 counted once and waiting at idle power.

usage: l2_partitions.py MACHINE.toml PROFILE…

A profile is a folder with kernels.csv and run.json, either packed by xz; the summary.json beside it has the joules of its window. The records lack the counter
of bytes between the partitions: half of the bytes of slow memory are taken, as `greenup profile` does for such records.
"""

import csv
import json
import lzma
import sys
import tomllib
from pathlib import Path

machine = tomllib.loads(Path(sys.argv[1]).read_text())
cost = {op: c["energy_j"]["value"] for op, c in machine["cost"].items() if "energy_j" in c}
constant_w = machine["constant_power_w"]["value"]
node = machine.get("network", {})
idle_w = node["idle_power_w"]["value"] / node.get("devices_per_node", 1) if "idle_power_w" in node else constant_w


def text(file):
    """What a file holds, packed or not."""
    packed = file.with_name(file.name + ".xz")
    return lzma.open(packed, "rt").read() if packed.exists() else file.read_text()


def saved(row, counters):
    """Joules that one launch loses: bytes of L2 that were counted twice, less those of L1 that take their place."""
    dram, l2 = float(row["dram"] or 0), float(row["l2"] or 0)
    between = min(0.5 * dram, l2)
    loads = 128 * counters["global_loads"]
    l1 = max(0, loads - counters["l2_bytes"] + between) - max(0, loads - counters["l2_bytes"])
    return cost["l2"] * between - cost["l1"] * l1


for folder in map(Path, sys.argv[2:]):
    summary = json.loads((folder.parent / "summary.json").read_text())[folder.name]
    rows = list(csv.DictReader(text(folder / "kernels.csv").splitlines()))
    counted = {
        (c["name"], " ".join(map(str, c["grid"])), " ".join(map(str, c["block"]))): c["counters"]
        for c in json.loads(text(folder / "run.json"))["counters"]
    }
    # The core's energies fall with the square of its voltage.
    clock = machine["clock"]
    slower = 1 - summary["clock_hz"] / clock["highest_hz"]["value"]
    squared = (1 - clock["voltage_slope"]["value"] * slower) ** 2
    gap = next(r for r in rows if r["name"] == "between kernels")
    before = summary["model_j"]
    partitions = squared * sum(
        int(r["launches"]) * saved(r, counted[r["symbol"], r["grid"], r["block"]]) for r in rows if r["basis"] == "counters"
    )
    waiting = (constant_w - idle_w) * float(gap["share_s"])
    meter = summary["window_j"]
    for what, joules in (
        ("as recorded", before),
        ("partitions of L2 once", before - partitions),
        ("and waiting at idle power", before - partitions - waiting),
    ):
        print(f"{folder.name:8} {what:28} {joules:8.1f} J, meter {meter:8.1f} J: {joules / meter - 1:+.1%}")
