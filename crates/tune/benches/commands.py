"""Time of a trial beyond its command's: greenup, a loop in Python and pyATF in turn.

usage: commands.py GREENUP [TRIALS]     the program takes 20 ms; pyATF by `pip install pyatf`
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

greenup = os.path.abspath(sys.argv[1])
N = int(sys.argv[2]) if len(sys.argv) > 2 else 60
work = pathlib.Path(tempfile.mkdtemp())
(work / "app.c").write_text('''#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
int main(int argc, char **argv) { double s = now(); volatile double x = 0; while (now() - s < 0.02) x += 1; printf("t %.9f\\n", now() - s); return 0; }
''')
subprocess.run(["cc", "-O1", "app.c", "-o", "app"], cwd=work, check=True)
(work / "p.toml").write_text('''name = "overhead"
[parameters]
a = [%s]
[run]
command = "./app {a}"
[measure]
seconds = 0.001
''' % ",".join(map(str, range(N))))

def ours():
    out = work / f"s{time.time_ns()}"
    subprocess.run([greenup, "tune", "p.toml", "--strategy", "random", "--budget", str(N), "--finalists", "1", "--rounds", "1",
                    "--near-ties", "0", "--sensor", "none", "--out", str(out), "-q"], cwd=work, check=True, stdout=subprocess.DEVNULL)
    trials = [json.loads(l) for l in (out / "trials.jsonl").read_text().splitlines()]
    over = []
    for a, b in zip(trials, trials[1:]):
        times = b["measured"]["times_s"]
        runs = 1 + len(times)
        over.append(b["at"] - a["at"] - runs * statistics.mean(times))
    return over, statistics.median(t["measured"]["time_s"] for t in trials)

def loop():
    """What a tuner in Python does at least: a process, its time, a row of a log."""
    over, log = [], open(work / "log.csv", "a")
    last = time.perf_counter()
    for a in range(N):
        times = []
        for _ in range(4):
            s = time.perf_counter()
            subprocess.run(["./app", str(a)], cwd=work, check=True, stdout=subprocess.PIPE)
            times.append(time.perf_counter() - s)
        log.write(f"{a},{min(times)}\n"); log.flush()
        now = time.perf_counter()
        over.append(now - last - sum(times)); last = now
    return over[1:], statistics.median(times)

def pyatf():
    try:
        from pyatf import TP, Interval, Tuner
        from pyatf.search_techniques import Random
        from pyatf.abort_conditions import Evaluations
    except ImportError:
        return None
    stamps = []
    def cost(config):
        times = []
        for _ in range(4):
            s = time.perf_counter()
            subprocess.run(["./app", str(config["a"])], cwd=work, check=True, stdout=subprocess.PIPE)
            times.append(time.perf_counter() - s)
        stamps.append((time.perf_counter(), sum(times)))
        return min(times)
    Tuner().tuning_parameters(TP("a", Interval(0, N - 1))).search_technique(Random()).verbosity(0).tune(cost, Evaluations(N))
    return [b[0] - a[0] - b[1] for a, b in zip(stamps, stamps[1:])], None

def show(name, of):
    if of is None:
        return print(f"{name}: not installed")
    over = sorted(of[0])
    print(f"{name}: {1e3 * statistics.median(over):.3f} ms a trial over the command [{1e3 * over[len(over) // 10]:.3f} … {1e3 * over[9 * len(over) // 10]:.3f}]", flush=True)

for round in range(3):
    show("greenup", ours()); show("loop in Python", loop()); show("pyATF", pyatf())
