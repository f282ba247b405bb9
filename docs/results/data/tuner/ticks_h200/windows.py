"""Power of windows of few ticks over that of long ones, from `ticks.json.xz`: `python3 windows.py`."""
import collections
import json
import lzma
import pathlib
from statistics import median, pstdev

data = json.loads(lzma.open(pathlib.Path(__file__).with_name("ticks.json.xz")).read())
# A tick happened between the read before it and the one that saw it.
ticks, last = [], None
for start, end, millijoules in data["reads"]:
    if last is not None and millijoules != last[2]:
        ticks.append((0.5 * (last[0] + end), millijoules / 1e3))
    last = (start, end, millijoules)
bursts = collections.defaultdict(list)
for name, start, end, _, _ in data["bursts"]:
    bursts[name].append([t for t in ticks if start <= t[0] <= end])


def power(a, b):
    return (b[1] - a[1]) / (b[0] - a[0])


for name, all_of in bursts.items():
    long = median(power(t[3], t[-1]) for t in all_of)
    print(f"{name}: {long:.0f} W")
    for skipped in (0, 1, 2, 3):
        row = []
        for n in (1, 2, 3, 4):
            ratios = [power(t[skipped], t[skipped + n]) / long for t in all_of if len(t) > skipped + n]
            row.append(f"{n} ticks {median(ratios):.3f} ± {100 * pstdev(ratios):.2f} %")
        print(f"  after {skipped} ticks: " + "; ".join(row))
