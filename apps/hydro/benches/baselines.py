#!/usr/bin/env python3
"""Compares cuBLAS baselines of tuning problems with their references, on a GPU.

usage: baselines.py PROBLEM.toml [NAME=INTEGER ...] [PROBLEM.toml ...]

Constants are overridden by NAME=INTEGER; keep the problems small. Ends with 1 if an element differs by more than 1e-12 of the
largest."""
import array
import ctypes
import pathlib
import random
import subprocess
import sys
import tempfile
import tomllib


def value(of, names):
    return int(eval(of, {"min": min, "max": max}, names)) if isinstance(of, str) else of


def built(problem, table, names, to):
    library = to / (pathlib.Path(table["sources"][0]).stem + ".so")
    sources = [problem.parent / s for s in table["sources"]]
    defines = [f"-D{k}={v}" for k, v in names.items()]
    subprocess.check_call(
        ["cc", "-O2", "-fopenmp", "-fPIC", "-shared", *defines, *map(str, sources), "-o", str(library), "-lm", "-ldl"]
    )
    entry = getattr(ctypes.CDLL(str(library)), table["entry"])
    entry.restype = None
    return entry


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status:
        sys.exit(f"{name} failed with status {status}")


def check(problem, given):
    text = tomllib.loads(problem.read_text())
    names = {}
    for k, v in text["constants"].items():
        names[k] = int(given.get(k, value(v, names)))
    rng = random.Random(1)
    host, on_gpu, out = [], [], []
    for a in text["arguments"]:
        n = value(a["size"], names)
        is_out = a.get("role") == "out"
        data = array.array("d", [float("nan") if is_out else rng.uniform(-1, 1) for _ in range(n)])
        at = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(8 * n))
        call("cuMemcpyHtoD_v2", at, ctypes.c_void_p(data.buffer_info()[0]), ctypes.c_size_t(8 * n))
        host.append(data)
        on_gpu.append(at)
        if is_out:
            out.append((data, at))
    with tempfile.TemporaryDirectory() as folder:
        reference = built(problem, text["reference"], names, pathlib.Path(folder))
        baseline = built(problem, text["baseline"], names, pathlib.Path(folder))
        reference(*[ctypes.c_void_p(d.buffer_info()[0]) for d in host])
        baseline(*[ctypes.c_void_p(at.value) for at in on_gpu], ctypes.c_void_p())
        call("cuCtxSynchronize")
    worst = 0.0
    for want, at in out:
        got = array.array("d", bytes(8 * len(want)))
        call("cuMemcpyDtoH_v2", ctypes.c_void_p(got.buffer_info()[0]), at, ctypes.c_size_t(8 * len(want)))
        largest = max(map(abs, want))
        for x, y in zip(want, got):
            # NaN where nothing was written.
            worst = max(worst, abs(x - y) / largest) if x == x and y == y else float("inf")
    wrong = worst > 1e-12
    settings = " ".join(f"{k}={v}" for k, v in given.items())
    print(f"{text['name']} {settings}: largest error {worst:.1e}{' WRONG' if wrong else ''}", flush=True)
    return wrong


def main():
    cases = []
    for a in sys.argv[1:]:
        if a.endswith(".toml"):
            cases.append((pathlib.Path(a), {}))
        else:
            cases[-1][1].update([a.split("=")])
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    sys.exit(any([check(*c) for c in cases]))


cuda = ctypes.CDLL("libcuda.so.1")
if __name__ == "__main__":
    main()
