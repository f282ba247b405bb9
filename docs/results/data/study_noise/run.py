#!/usr/bin/env python3
"""The study of a host that is quiet, with one busy loop, and with as many as it has cores: are the roofs those of the quiet host?

    docs/results/data/study_noise/run.py target/release/greenup OUT

Writes OUT/busy-N/ (three studies, about 2 min each) and prints a Markdown table. Fails where a roof differs from the quiet one by more than
10 % without being named in the banner. On a host that others use, the "quiet" study is not: its banner says so.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

TOLERANCE = 0.10
LOOP = "while True:\n pass"


def study(greenup: str, out: Path, loops: int) -> tuple[dict, float]:
    """One study beside so many busy loops; its first device and the seconds it took."""
    busy = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(loops)]
    start = time.monotonic()
    try:
        command = [greenup, "study", "--device", "cpu", "--sensor", "none", "--no-tuning", "--out", str(out), "--json"]
        run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    finally:
        for loop in busy:
            loop.kill()
            loop.wait()
    return json.loads(run.stdout)["devices"][0], time.monotonic() - start


def roofs(device: dict) -> dict[str, float]:
    """Operations or bytes a second of each class."""
    costs = device["machine"]["cost"].items()
    return {op: 1 / cost["time_s"]["value"] for op, cost in costs if cost.get("time_s")}


def main() -> int:
    greenup, out = sys.argv[1], Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    loops = sorted({0, 1, len(os.sched_getaffinity(0))})
    found = [study(greenup, out / f"busy-{n}", n) for n in loops]
    quiet = roofs(found[0][0])
    print("| busy loops | " + " | ".join(quiet) + " | disturbed | others | repeated | not clean | time |")
    print("|---" * (len(quiet) + 6) + "|")
    wrong = []
    for n, (device, took) in zip(loops, found):
        own = roofs(device)
        not_clean = [entry["what"] for entry in device["not_clean"]]
        cells = []
        for op, rate in quiet.items():
            ratio = own[op] / rate if op in own else float("nan")
            cells.append(f"{own.get(op, float('nan')):.3g}" if n == 0 else f"{100 * ratio:.0f} %")
            if n and op not in not_clean and not abs(ratio - 1) <= TOLERANCE:
                wrong.append(f"{op} beside {n} loops: {100 * ratio:.0f} % of the quiet roof, and not said")
        others = device["noise"]["others_share"]
        cells += [
            "yes" if device["disturbed"] else "no",
            "–" if others is None else f"{100 * others:.0f} %",
            str(sum(entry["times"] for entry in device["repeated"])),
            ", ".join(not_clean) or "–",
            f"{took:.0f} s",
        ]
        print(f"| {n} | " + " | ".join(cells) + " |")
    print("\n".join(wrong) or "every roof is within 10 % of the quiet one, or named in the banner", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
