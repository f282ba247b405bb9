"""Medians of CUPTI against those of ncu over the same launches of the same program: profile folder, table of ncu."""
import csv
import json
import statistics
import sys
from pathlib import Path

folder, table = Path(sys.argv[1]), Path(sys.argv[2])
lines = table.read_text(errors="replace").splitlines()
start = next(i for i, l in enumerate(lines) if l.startswith('"ID"'))
times = {}
three = lambda t: tuple(int(n) for n in t.strip("() ").split(","))
for row in csv.DictReader(lines[start:]):
    if row["ID"]:
        key = (row["Kernel Name"], three(row["Grid Size"]), three(row["Block Size"]))
        times.setdefault(key, []).append(float(row["gpu__time_duration.sum"].replace(",", "")) * 1e-9)
g = json.loads((folder / "profile.json").read_text())["gpus"][0]
rows = []
for r in g["kernels"]:
    key = (r["symbol"], tuple(r["grid"]), tuple(r["block"]))
    if key in times and r["share_s"] >= 0.01 * g["busy_s"]:
        theirs = statistics.median(times[key])
        rows.append((r["median_s"] / theirs - 1, r["median_s"], theirs, r["launches"], len(times[key]), r["name"]))
rows.sort(key=lambda r: -abs(r[0]))
for d, ours, theirs, n, m, name in rows:
    print(f"{100 * d:+6.2f} %  {1e6 * ours:9.2f} µs ({n})  ncu {1e6 * theirs:9.2f} µs ({m})  {name[:60]}")
print(json.dumps({"kernels": len(rows), "within_3_percent": sum(abs(r[0]) <= 0.03 for r in rows), "worst": rows[0][0] if rows else None,
                  "median_abs": statistics.median(abs(r[0]) for r in rows) if rows else None}))
