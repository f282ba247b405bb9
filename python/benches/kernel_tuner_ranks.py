"""Ranks of the best config that each strategy finds in a simulated space: Kernel Tuner's and greenup.kernel_tuner's.

    python benches/kernel_tuner_ranks.py [RUNS] [STRATEGY ...]

A made-up cache of 3,600 configs whose time and energy disagree; the objective is the energy, with 150 evaluations and no seed.
A line for each strategy: median, third quartile and worst rank over the runs, from 0.
"""

import importlib
import itertools
import json
import math
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

MODULES = ("kernel_tuner", "greenup.kernel_tuner")
PARAMS = {
    "block": [32, 64, 96, 128, 160, 192, 224, 256, 384, 512, 768, 1024], "tile": [1, 2, 3, 4, 5, 6, 7, 8, 12, 16], "unroll": [0, 1, 2, 4, 8, 16],
    "vector": [1, 2, 4, 8, 16],
}  # fmt: skip
STRATEGIES = (
    "genetic_algorithm", "mls", "greedy_mls", "ordered_greedy_mls", "greedy_ils", "simulated_annealing", "dual_annealing", "diff_evo",
    "pso", "firefly_algorithm", "basinhopping", "minimize", "hybrid_vndx", "adaptive_tabu_greywolf", "bayes_opt", "random_sample",
)  # fmt: skip


def measured(block, tile, unroll, vector):
    """Time (ms) and energy (J): smooth in each parameter, with an interaction and a roughness that repeats."""
    x, y, z, w = math.log2(block), math.log2(tile), math.log2(unroll + 1), math.log2(vector)
    rough = 0.06 * math.sin(12.9898 * x + 78.233 * y + 37.719 * z + 4.581 * w)
    time = 1 + 0.10 * (x - 8.2) ** 2 + 0.15 * (y - 1.4) ** 2 + 0.05 * (z - 2.3) ** 2 + 0.08 * (w - 2) ** 2 + 0.12 * abs(x + y - 9.6) + rough
    power = 90 + 12 * x + 25 * y - 6 * z + 14 * w
    return time, 1e-3 * time * power


def write_cache(file):
    entries = {}
    for config in itertools.product(*PARAMS.values()):
        t, e = measured(*config)
        entries[",".join(map(str, config))] = {
            **dict(zip(PARAMS, config)), "time": t, "energy": e, "times": [t] * 7, "compile_time": 100.0, "verification_time": 0,
            "benchmark_time": 10.0, "strategy_time": 1.0, "framework_time": 1.0, "timestamp": "2024-01-01",
        }  # fmt: skip
    head = {"device_name": "X", "kernel_name": "k", "problem_size": 100, "tune_params_keys": list(PARAMS), "tune_params": PARAMS}
    file.write_text(json.dumps({**head, "objective": ["energy"], "cache": entries}, indent=""))


def runs(module, file, strategy, count):
    """Prints the ranks of some runs."""
    # This folder has a file of Kernel Tuner's name.
    sys.path.pop(0)
    tuner = importlib.import_module(module)
    warnings.simplefilter("ignore")
    order = sorted(measured(*c)[1] for c in itertools.product(*PARAMS.values()))
    ranks = []
    for _ in range(count):
        results, _ = tuner.tune_kernel(
            "k", "__global__ void k() {}", 100, [], PARAMS, strategy=strategy, strategy_options={"max_fevals": 150}, cache=file,
            simulation_mode=True, quiet=True, objective="energy", objective_higher_is_better=False, block_size_names=["block"],
        )  # fmt: skip
        best = min(r["energy"] for r in results if "__error__" not in r)
        ranks.append(sum(e < best for e in order))
    print(json.dumps(ranks))


def summary(ranks):
    ranks = sorted(ranks)
    return f"{statistics.median(ranks):g}, {ranks[3 * len(ranks) // 4]}, {ranks[-1]}"


def main(count, strategies):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cache.json")
        write_cache(file)
        for strategy in strategies:
            cells = []
            for module in MODULES:
                command = [sys.executable, __file__, "--runs", module, str(file), strategy, str(count)]
                run = subprocess.run(command, capture_output=True, text=True)
                cells.append(summary(json.loads(run.stdout.splitlines()[-1])) if run.returncode == 0 else run.stderr.splitlines()[-1])
            print(f"| {strategy} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--runs"]:
        runs(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2:] or STRATEGIES)
