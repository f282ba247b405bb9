"""Time of simulated searches in Kernel Tuner and in greenup.kernel_tuner: alternating rounds in processes of their own.

    python benches/kernel_tuner_simulation.py [ROUNDS]

A made-up cache of 10,000 and one of 90,000 configs, 200 evaluations. The time is that of `tune_kernel`, with reading the cache.
"""

import importlib
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

MODULES = ("kernel_tuner", "greenup.kernel_tuner")
CASES = [((10, 10, 10, 10), s) for s in ("random_sample", "genetic_algorithm", "mls", "simulated_annealing", "pso")]
CASES += [((10, 10, 10, 90), "genetic_algorithm")]


def params_of(sizes):
    return {f"p{i}": list(range(1, n + 1)) for i, n in enumerate(sizes)}


def write_cache(file, sizes):
    params, entries = params_of(sizes), {}
    for config in itertools.product(*params.values()):
        t = float((config[0] - 5) ** 2 + (config[1] - 3) ** 2 + sum(config[2:]))
        entries[",".join(map(str, config))] = {
            **dict(zip(params, config)), "time": t, "times": [t] * 7, "compile_time": 100.0, "verification_time": 0, "benchmark_time": 10.0,
            "strategy_time": 1.0, "framework_time": 1.0, "timestamp": "2024-01-01",
        }  # fmt: skip
    head = {"device_name": "X", "kernel_name": "k", "problem_size": 100, "tune_params_keys": list(params), "tune_params": params}
    file.write_text(json.dumps({**head, "objective": ["time"], "cache": entries}, indent=""))


def one(module, file, sizes, strategy):
    # This folder has a file of Kernel Tuner's name.
    sys.path.pop(0)
    tuner = importlib.import_module(module)
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    tuner.tune_kernel(
        "k", "__global__ void k() {}", 100, [], params_of(sizes), strategy=strategy, strategy_options={"max_fevals": 200}, cache=file,
        simulation_mode=True, quiet=True,
    )  # fmt: skip
    print(time.perf_counter() - start)


def main(rounds):
    with tempfile.TemporaryDirectory() as folder:
        for sizes, strategy in CASES:
            file = Path(folder, f"{'x'.join(map(str, sizes))}.json")
            if not file.exists():
                write_cache(file, sizes)
            times = {m: [] for m in MODULES}
            for i in range(rounds):
                for module in MODULES[:: 1 if i % 2 == 0 else -1]:
                    command = [sys.executable, __file__, "--one", module, str(file), json.dumps(sizes), strategy]
                    times[module].append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]))
            theirs, own = (sorted(times[m]) for m in MODULES)
            ratio = statistics.median(own) / statistics.median(theirs)
            cells = [f"{statistics.median(t):.2f} ({t[0]:.2f}–{t[-1]:.2f})" for t in (theirs, own)]
            print(f"| {'·'.join(map(str, sizes))} | {strategy} | {cells[0]} | {cells[1]} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]), sys.argv[5])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
