"""How many configs of recorded sweeps are measured in full, and how much more energy the best of those needs than the best of all.

python3 docs/results/data/tuner/energy_line.py sweeps/*

100 random orders of each sweep with energies; "before": up to 1.25 times the best time or where constant power uses up the least energy;
"now": 1.1 times, or where a power law of energy over time, less two standard deviations, does.
"""

import gzip
import json
import math
import random
import statistics
import sys
from pathlib import Path


def costs(folder):
    file = Path(folder) / "trials.jsonl.gz"
    if not file.exists():
        return []
    with gzip.open(file, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    measured = [r["measured"] for r in rows if r.get("measured")]
    return [(m["time_s"], m["energy_j"]) for m in measured if m.get("energy_j")]


def by_line(known, best, least):
    """Time from which the line takes more than the least energy; none if it does not grow."""
    near = [(math.log(t), math.log(e)) for t, e in known if t <= 2 * best]
    if len(near) < 6:
        return math.inf
    x0, y0 = (statistics.fmean(column) for column in zip(*near))
    power = sum((x - x0) * (y - y0) for x, y in near) / sum((x - x0) ** 2 for x, _ in near)
    spread = math.sqrt(sum((y - y0 - power * (x - x0)) ** 2 for x, y in near) / (len(near) - 2))
    return math.exp(min(700, x0 + (math.log(least) - y0 + 2 * spread) / power)) if power > 0 else math.inf


def race(rows, now):
    known, best = [], math.inf
    for t, e in rows:
        if len(known) >= 5:
            least = min(e for _, e in known)
            constant = 0.15 * min(e / t for t, e in known)
            limit = (least - min(e - constant * t for t, e in known)) / constant
            if now:
                limit = min(limit, by_line(known, best, least))
            if t > max(limit, (1.1 if now else 1.25) * best):
                continue
        known.append((t, e))
        best = min(best, t)
    return len(known) / len(rows), min(e for _, e in known) / min(e for _, e in rows) - 1


for folder in sys.argv[1:]:
    rows = costs(folder)
    if len(rows) < 20:
        continue
    found = []
    for now in (False, True):
        orders = [race(random.Random(seed).sample(rows, len(rows)), now) for seed in range(100)]
        found += [statistics.fmean(part for part, _ in orders), max(lost for _, lost in orders)]
    print(f"{Path(folder).name}: {len(rows)} configs, in full before {found[0]:.2f} (lost {found[1]:.3f}), now {found[2]:.2f} (lost {found[3]:.3f})")
