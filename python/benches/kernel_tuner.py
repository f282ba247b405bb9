"""Kernel Tuner's example scripts, run by Kernel Tuner and by ``greenup.kernel_tuner``, with nothing but the import line changed.

    python benches/kernel_tuner.py examples/c vector_add.py
    python benches/kernel_tuner.py examples/cuda vector_add.py matmul.py -o table.json

Both run in processes of their own, one after the other, in copies of the folder. The table has the best config of each, its
time by each of them, and the time until each call of ``tune_kernel`` returned. Needs ``kernel_tuner`` in this Python's packages.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Records every call of tune_kernel: how long it took, and all results.
RECORDER = """
import json, runpy, sys, time
script, record, which = sys.argv[1:4]
module = __import__("kernel_tuner") if which == "kernel_tuner" else __import__("greenup.kernel_tuner", fromlist=["tune_kernel"])
tune, calls = module.tune_kernel, []
def tune_kernel(*args, **kwargs):
    start = time.perf_counter()
    results, env = tune(*args, **kwargs)
    names = list(kwargs.get("tune_params") or args[4])
    calls.append({"seconds": time.perf_counter() - start, "parameters": names, "results": [
        {"config": {n: r[n] for n in names}, "time": None if "__error__" in r else float(r["time"])} for r in results]})
    with open(record, "w") as file:
        json.dump(calls, file)
    return results, env
module.tune_kernel = tune_kernel
sys.argv = [script]
runpy.run_path(script, run_name="__main__")
"""


def changed(text):
    """The script with its imports of Kernel Tuner changed."""
    text = re.sub(r"^(\s*)import kernel_tuner\s*$", r"\1from greenup import kernel_tuner", text, flags=re.M)
    return re.sub(r"^(\s*)from kernel_tuner\b", r"\1from greenup.kernel_tuner", text, flags=re.M)


def run(folder, script, which, timeout):
    """Runs a script; returns its calls and the seconds of the whole process, or why there are none."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "examples"
        shutil.copytree(folder, copy)
        path = copy / script
        if which == "greenup":
            path.write_text(changed(path.read_text()))
        record = Path(place) / "calls.json"
        start = time.perf_counter()
        environment = {**os.environ, "CUPY_CACHE_DIR": str(Path(place) / "cupy"), "XDG_CACHE_HOME": str(Path(place) / "cache")}
        command = [sys.executable, "-W", "ignore", "-c", RECORDER, str(path), str(record), which]
        try:
            done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=timeout, env=environment, check=False)
        except subprocess.TimeoutExpired:
            return None, f"did not end in {timeout} s"
        seconds = time.perf_counter() - start
        if done.returncode != 0 or not record.exists():
            return None, "\n".join((done.stdout[-300:] + done.stderr[-1500:]).splitlines()[-8:])
        return json.loads(record.read_text()), seconds


def best(call, among=None):
    valid = [r for r in call["results"] if r["time"] is not None and (among is None or json.dumps(r["config"]) in among)]
    return min(valid, key=lambda r: r["time"]) if valid else None


def time_of(call, config):
    return next((r["time"] for r in call["results"] if r["config"] == config), None)


def compared(script, i, theirs, ours):
    """One row: call ``i`` of a script by both."""
    # What one of them cannot run is no best of the other: it has measured a launch that failed.
    both = [{json.dumps(r["config"]) for r in c["results"] if r["time"] is not None} for c in (theirs, ours)]
    alike = both[0] & both[1]
    a, b = best(theirs, alike), best(ours, alike)
    row = {"script": script, "call": i, "kernel_tuner": theirs["seconds"], "greenup": ours["seconds"]}
    row["configs"] = [sum(r["time"] is not None for r in c["results"]) for c in (theirs, ours)]
    row["only_kernel_tuner"] = [r for r in theirs["results"] if json.dumps(r["config"]) in both[0] - alike]
    if a is None or b is None:
        return row
    row.update(best_kernel_tuner=a["config"], best_greenup=b["config"])
    row["time_ms"] = {"kernel_tuner": a["time"], "greenup": b["time"]}
    # What each of them loses by its own measurement if it takes the other's best.
    x, y = time_of(theirs, b["config"]), time_of(ours, a["config"])
    row["ours_by_theirs"] = x / a["time"] - 1 if x else None
    row["theirs_by_ours"] = y / b["time"] - 1 if y else None
    return row


def shown(row):
    def config(c):
        return ", ".join(f"{k}={v}" for k, v in c.items()) if c else "none"

    def share(x):
        return "" if x is None else f"{100 * x:+.1f} %"

    times = row.get("time_ms", {"kernel_tuner": float("nan"), "greenup": float("nan")})
    return (
        f"| {row['script']} | {row['configs'][0]}, {row['configs'][1]} | {config(row.get('best_kernel_tuner'))} | {config(row.get('best_greenup'))} "
        f"| {times['kernel_tuner']:.4g} | {times['greenup']:.4g} | {share(row.get('ours_by_theirs'))} | {share(row.get('theirs_by_ours'))} "
        f"| {row['kernel_tuner']:.1f} | {row['greenup']:.1f} | {row['kernel_tuner'] / row['greenup']:.2f} |"
    )


HEAD = (
    "| script | configs (Kernel Tuner, Greenup) | best by Kernel Tuner | best by Greenup | ms by Kernel Tuner | ms by Greenup "
    "| Greenup's best by Kernel Tuner's times | Kernel Tuner's best by Greenup's times | s, Kernel Tuner | s, Greenup | speedup |\n"
    + "|---" * 11
    + "|"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of example scripts")
    parser.add_argument("scripts", nargs="+", help="scripts in it")
    parser.add_argument("-o", "--out", type=Path, help="write the rows as JSON")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds of one run of a script")
    args = parser.parse_args()
    rows = []
    print(HEAD, flush=True)
    for number, script in enumerate(args.scripts):
        found = {}
        # The one that runs first alternates.
        for which in ("kernel_tuner", "greenup") if number % 2 == 0 else ("greenup", "kernel_tuner"):
            found[which] = run(args.folder, script, which, args.timeout)
        wrong = {w: seconds for w, (calls, seconds) in found.items() if calls is None}
        if wrong:
            print(f"| {script} | " + "; ".join(f"{w}: {m}" for w, m in wrong.items()).replace("\n", " "), flush=True)
            rows.append({"script": script, "failed": wrong})
        else:
            (theirs, whole_a), (ours, whole_b) = found["kernel_tuner"], found["greenup"]
            for i, (a, b) in enumerate(zip(theirs, ours)):
                row = compared(script, i, a, b)
                row["process_s"] = {"kernel_tuner": whole_a, "greenup": whole_b}
                rows.append(row)
                print(shown(row), flush=True)
        if args.out:
            args.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
