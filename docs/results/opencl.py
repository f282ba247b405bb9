#!/usr/bin/env python3
"""Tunes the OpenCL examples exhaustively, by greenup and by Kernel Tuner (pyopencl), one after the other.

Usage: opencl.py GREENUP OUT [EXAMPLE…], from the root of the repository. Needs kernel_tuner and pyopencl beside OpenCL. Both
get a fresh cache of compiled kernels (pocl's) for each example, and the same restricted spaces, seen in SPACES. The second
best config is compared in greenup's sweep, so that one clock decides.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

EXAMPLES = os.path.join(os.getcwd(), "examples", "opencl")
# The parameters' values, the default config, and grid and block as in problem.toml.
SPACES = {
    "vector_add": dict(
        parameters=dict(width=[1, 4, 16], each=[1, 2, 8], block=[16, 64, 256, 1024], strided=[0, 1]),
        default=dict(width=1, each=1, block=256, strided=0),
        keep=lambda p: p["each"] > 1 or p["strided"] == 0,
        blocks=["block"],
        grid=lambda p: (-(-4194304 // (p["width"] * p["each"] * p["block"])), 1, 1),
    ),
    "convolution": dict(
        parameters=dict(block_x=[16, 64], block_y=[1, 4, 16], per_x=[1, 4], per_y=[1, 4], use_local=[0, 1]),
        default=dict(block_x=16, block_y=16, per_x=1, per_y=1, use_local=0),
        keep=lambda p: p["block_x"] * p["block_y"] <= 512,
        blocks=["block_x", "block_y"],
        grid=lambda p: (-(-1024 // (p["block_x"] * p["per_x"])), -(-1024 // (p["block_y"] * p["per_y"])), 1),
    ),
    "gemm": dict(
        parameters=dict(
            tile_m=[16, 64], tile_n=[16, 64], tile_k=[32], block_m=[4, 16], block_n=[1, 4, 16], width=[1, 16], use_local=[0, 1]
        ),
        default=dict(tile_m=16, tile_n=16, tile_k=32, block_m=16, block_n=16, width=1, use_local=0),
        keep=lambda p: p["tile_n"] % (p["block_n"] * p["width"]) == 0
        and p["tile_m"] * p["tile_n"] // (p["block_m"] * p["block_n"]) <= 256,
        blocks=["block_n", "block_m"],
        grid=lambda p: (512 // p["tile_n"], 512 // p["tile_m"], 1),
    ),
}


def data(name):
    """Arguments for Kernel Tuner, and the expected output."""
    rng = np.random.default_rng(1)
    random = lambda *n: rng.uniform(-1, 1, n).astype(np.float32)
    if name == "vector_add":
        n = 4194304
        a, b = random(n), random(n)
        return [np.zeros(n, np.float32), a, b, np.int32(n)], a + b
    if name == "convolution":
        n, size = 1024, 7
        image, kernel = random(n + size - 1, n + size - 1), random(size, size)
        out = np.zeros((n, n))
        for i in range(size):
            for j in range(size):
                out += kernel[i, j].astype(float) * image[i : i + n, j : j + n]
        return [np.zeros((n, n), np.float32), image, kernel], out.astype(np.float32)
    n = 512
    a, b = random(n, n), random(n, n)
    return [np.zeros((n, n), np.float32), a, b], (a.astype(float) @ b).astype(np.float32)


def environment(cache):
    vendors = {"OCL_ICD_VENDORS": "/etc/OpenCL/vendors"}
    return {**os.environ, **vendors, "POCL_CACHE_DIR": cache, "PYOPENCL_NO_CACHE": "1"}


def kernel_tuner(name):
    """In a process of its own: prints the best config and all times as JSON."""
    import kernel_tuner as kt

    space = SPACES[name]
    constants = {"vector_add": {}, "convolution": dict(n=[1024], size=[7]), "gemm": dict(n=[512])}[name]
    arguments, expected = data(name)
    start = time.perf_counter()
    results, _ = kt.tune_kernel(
        kernel_name=name,
        kernel_source=os.path.join(EXAMPLES, name, f"{name}.cl"),
        problem_size=lambda p: space["grid"](p)[:2],
        arguments=arguments,
        tune_params={**space["parameters"], **constants},
        grid_div_x=[],
        grid_div_y=[],
        block_size_names=space["blocks"],
        restrictions=space["keep"],
        answer=[expected] + [None] * (len(arguments) - 1),
        atol=1e-3,
        lang="OpenCL",
        compiler_options=["-I" + os.path.join(EXAMPLES, name)],
        quiet=True,
    )
    seconds = time.perf_counter() - start
    valid = [r for r in results if isinstance(r["time"], float)]
    best = min(valid, key=lambda r: r["time"])
    config = {k: int(best[k]) for k in space["parameters"]}
    print(json.dumps(dict(config=config, time_s=best["time"] * 1e-3, trials=len(results), failed=len(results) - len(valid), seconds=seconds)))


def greenup(program, name, out, cache):
    space = SPACES[name]
    sweep = os.path.join(out, f"{name}_opencl")
    command = [program, "tune", os.path.join(EXAMPLES, name, "problem.toml"), "--strategy", "exhaustive", "--budget", "100%"]
    command += ["--measure", "0.1", "--finalists", "3", "--sensor", "none", "--out", sweep, "--json"]
    for parameter, values in space["parameters"].items():
        command += ["--set", f"{parameter}={','.join(map(str, values))}"]
    start = time.perf_counter()
    run = subprocess.run(command, env=environment(cache), capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if run.returncode != 0:
        sys.exit(run.stderr)
    found = json.loads(run.stdout)
    trials = [json.loads(line) for line in open(os.path.join(sweep, "trials.jsonl"))]
    names = found["parameters"]
    times = {}
    for t in trials:
        if "measured" in t:
            times[tuple(t["config"])] = t["measured"]["time_s"]
    best = found["finalists"][0]
    return dict(
        config=dict(zip(names, best["config"])),
        time_s=best["time_s"]["median"],
        interval=[best["time_s"]["lo"], best["time_s"]["hi"]],
        ties=[dict(zip(names, f["config"])) for f in found["finalists"][1:] if f["tie"]],
        trials=found["trials"],
        failures=found["failures"],
        seconds=seconds,
    ), {tuple(sorted(zip(names, c))): s for c, s in times.items()}


def main():
    program, out = sys.argv[1:3]
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[3:] or SPACES:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            ours, times = greenup(program, name, out, one)
            start = time.perf_counter()
            run = subprocess.run([sys.executable, __file__, "--kernel-tuner", name], env=environment(two), capture_output=True, text=True)
            seconds = time.perf_counter() - start
            if run.returncode != 0:
                sys.exit(run.stderr)
            theirs = json.loads(run.stdout.strip().splitlines()[-1])
            theirs["seconds"] = seconds
        key = lambda config: tuple(sorted(config.items()))
        fastest = min(times.values())
        result = dict(
            example=name,
            greenup=ours,
            kernel_tuner=theirs,
            default_over_best=times[key(SPACES[name]["default"])] / times[key(ours["config"])],
            kernel_tuners_best_over_ours=times[key(theirs["config"])] / times[key(ours["config"])],
            best_trial_over_ours=fastest / times[key(ours["config"])],
        )
        print(json.dumps(result), flush=True)
        with open(os.path.join(out, "opencl.jsonl"), "a") as file:
            file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--kernel-tuner":
        kernel_tuner(sys.argv[2])
    else:
        main()
