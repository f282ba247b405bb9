"""Runs every script of a folder that imports Kernel Tuner through ``greenup.kernel_tuner``, and says how each ended.

    python benches/kernel_tuner_scripts.py FOLDER [--limit 60] [--simulate-gpu] [--only TEXT] [--jobs 1] [-o table.json]

``kernel_tuner`` is the only import that changes: it is this package's. Files named ``test_*.py`` run under pytest. Every script runs in
a process of its own, in its own folder, which it may write to: give a copy. With ``--simulate-gpu`` CUDA kernels are neither compiled
nor run: each config gets a made-up time, and outputs are the inputs, so that scripts reach their ends without a GPU.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

IMPORT = re.compile(r"^\s*(import|from) kernel_tuner\b", re.M)
#: Ends of a script, from best to worst.
ENDS = ("result", "refused", "missing here", "measuring", "running", "own error", "failed here")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a script")
    parser.add_argument("--simulate-gpu", action="store_true", help="make up times of CUDA kernels")
    parser.add_argument("--only", default="", help="scripts whose path has this text")
    parser.add_argument("--jobs", type=int, default=1, help="scripts at a time")
    parser.add_argument("-o", "--output", type=Path, help="JSON file for all ends")
    args = parser.parse_args()
    scripts = sorted(
        f for f in args.folder.rglob("*.py") if args.only in str(f) and IMPORT.search(f.read_text(encoding="utf-8", errors="replace"))
    )
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for script, end in zip(scripts, pool.map(lambda s: run(s, args.limit, args.simulate_gpu), scripts)):
            rows.append({"script": str(script.relative_to(args.folder)), **end})
            print(f"{end['end']:15} {end['seconds']:6.1f} s  {rows[-1]['script']}  {end['why']}", flush=True)
    count = collections.Counter(r["end"] for r in rows)
    print("\n" + ", ".join(f"{count[e]} {e}" for e in ENDS if count[e]) + f" of {len(rows)}")
    if args.output:
        args.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def run(script, limit, simulate):
    """How a script ended: one of ENDS, why, its seconds, and how many calls returned."""
    with tempfile.TemporaryDirectory() as place:
        record = Path(place) / "end.json"
        command = [sys.executable, "-W", "ignore", str(Path(__file__).resolve().with_name("kernel_tuner_script.py"))]
        command += [str(script.resolve()), str(record), "simulate" if simulate else "real"]
        start = time.perf_counter()
        environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.Popen(
            command, cwd=script.parent, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        late = False
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            late = True
            # As Ctrl-C: the tuner ends its own processes.
            process.send_signal(signal.SIGINT)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        seconds = time.perf_counter() - start
        found = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {"end": "failed here", "why": "died"}
        if late:
            end = "measuring" if found.get("calls", {}).get("begun") else "running"
            found.update(end=end, why=f"after {limit:.0f} s")
        return {**found, "seconds": round(seconds, 2)}


if __name__ == "__main__":
    main()
