"""Answers as a worker on a host with two GPUs does, without any: for tests of launchers. A run takes 1 ms, and the temperature is
the number of the GPU. HOST, VERSION and MODEL are variables of the environment."""

import json
import os
import sys

HOST, VERSION = os.environ["HOST"], os.environ["VERSION"]
FACTS = {
    "multiprocessors": 132, "warp_size": 32, "max_threads_per_block": 1024, "max_threads_per_multiprocessor": 2048,
    "max_blocks_per_multiprocessor": 32, "max_registers_per_block": 65536, "registers_per_multiprocessor": 65536,
    "shared_bytes_per_block": 232448, "shared_bytes_per_multiprocessor": 233472, "l2_bytes": 62914560,
    "compute_capability_major": 9,
}


def gpu(number):
    return {
        "ordinal": number, "name": os.environ.get("MODEL", "H200"), "bus_id": f"00000000:0{number + 1}:00.0",
        "uuid": f"GPU-{HOST}-{number}", "arch": "sm_90", "multiprocessors": 132, "memory_bytes": 1 << 37,
        "clock_hz": 1.98e9, "memory_clock_hz": 3.2e9, "facts": list(FACTS.items()),
    }


def introduced(question):
    wanted = question.get("gpus") or "0"
    numbers = [0, 1] if wanted == "all" else [int(n) for n in wanted.split(",")]
    if max(numbers) > 1:
        return {"Environment": {"message": f"there is no GPU {max(numbers)}"}}
    return {"Introduced": {
        "version": VERSION, "commit": "", "host": HOST, "cpu": "", "arch": os.uname().machine, "isa": "",
        "gpus": [gpu(n) for n in numbers], "sensor": None, "missing": "no sensor", "folder": "/nowhere",
    }}


def answers(job):
    task = job["task"]
    if "Introduce" in task:
        return [introduced(task["Introduce"])]
    verified = {"Verified": {"error": 0.0, "seconds": 0.0}}
    if "Trial" in task:
        measured = {"Measured": {
            "times_s": [1e-3] * 9, "energy_j": None, "time_error": 0.001, "flags": [],
            "state": {"temperature": float(job["inputs"]["gpu"])}, "baseline_s": [], "baseline_j": None,
        }}
        return ["Ready", "Loaded", "Ran", verified, measured, verified]
    rounds, kernels = task["Interleaved"]["rounds"], task["Interleaved"]["kernels"]
    times = {"times_s": [[1e-3] * rounds for _ in kernels], "energies_j": [[] for _ in kernels]}
    return ["Ready", "Loaded", {"Interleaved": times}]


for line in sys.stdin:
    nonce, job = line.split(" ", 1)
    for answer in [*answers(json.loads(job)), "Done"]:
        print(f"\n{nonce} {json.dumps(answer)}", flush=True)
