"""Modules of Kernel Tuner by their public names: what is there, and what says why it is not."""

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from greenup.kernel_tuner import hyper, run_kernel, store_results, strategies, tune_kernel
from greenup.kernel_tuner.kernelbuilder import PythonKernel

ADD = """
float add(float *out, const float *x, int n) {
    for (int i = 0; i < n; i++) out[i] += factor * x[i];
    return 1.0f;
}
"""
X = np.arange(4, dtype=np.float32)


@pytest.mark.parametrize(
    "name", ["accuracy", "file_utils", "hyper", "integration", "interface", "kernelbuilder", "observers.nvml", "searchspace", "strategies.common",
             "strategies.pso", "strategies.wrapper", "util", "utils.directives"]
)  # fmt: skip
def test_public_modules_can_be_imported(name):
    importlib.import_module(f"greenup.kernel_tuner.{name}")


@pytest.mark.parametrize("name", ["core", "backends.pycuda", "runners.sequential", "utils.nvcuda"])
def test_modules_of_the_inside_say_so_when_they_are_used(name):
    found = importlib.import_module(f"greenup.kernel_tuner.{name}")
    assert isinstance(found.DeviceInterface, type)
    with pytest.raises(NotImplementedError, match=f"{name} is of the inside"):
        found.DeviceInterface("anything")
    assert not hasattr(found, "__wrapped__")
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        importlib.import_module("greenup.kernel_tuner.nothing_of_this_name")


def test_options_of_strategies_are_not_tuned():
    with pytest.raises(NotImplementedError, match="greenup replay"):
        hyper.tune_hyper_params("pso", {"popsize": [5]}, [])


def test_strategies_are_modules_too():
    for strategy in (strategies.mls, importlib.import_module("greenup.kernel_tuner.strategies.random_sample")):
        results, _ = tune_kernel(
            "add", ADD, 4, [X.copy(), X, np.int32(4)], {"factor": [1, 2]}, strategy=strategy, strategy_options={"max_fevals": 1}, lang="C",
            quiet=True,
        )  # fmt: skip
        assert len(results) == 1


def test_a_kernel_is_a_function(tmp_path):
    add = PythonKernel("add", ADD, 4, [np.zeros_like(X), X, np.int32(4)], {"factor": 2}, outputs=[True, False, False], lang="C")
    assert [a.tolist() for a in add(np.ones_like(X), X, np.int32(4))] == [[1, 3, 5, 7]]
    with pytest.raises(TypeError, match="3 arguments, and 1"):
        add(X)
    # What is no input keeps what the last run left.
    sums = PythonKernel("add", ADD, 4, [np.zeros_like(X), X, np.int32(4)], {"factor": 1}, inputs=[False, True, True], lang="C")
    sums(X, X, np.int32(4))
    assert sums(X, X, np.int32(4))[0].tolist() == [0, 2, 4, 6]
    file = tmp_path / "results.json"
    store_results(str(file), "add", ADD, {"factor": [3]}, 4, [{"factor": 3, "time": 1.0}], {"device_name": "elsewhere"})
    best = PythonKernel("add", ADD, 4, [np.zeros_like(X), X, np.int32(4)], results_file=str(file), lang="C")
    assert best.params == {"factor": 3}
    assert best(np.zeros_like(X), X, np.int32(4))[0].tolist() == [0, 3, 6, 9]


def test_a_compiler_that_is_missing_is_named_before_anything_is_done():
    for lang, compiler in (("C", "no-such-cc"), ("Fortran", "no-such-fc")):
        with pytest.raises(RuntimeError, match=f"the compiler {compiler} is not found"):
            run_kernel("add", ADD, 4, [X.copy(), X, np.int32(4)], {"factor": 1}, lang=lang, compiler=compiler, quiet=True)


def test_arrays_of_a_device_get_the_results():
    class Array:
        """What scripts use of CuPy's arrays."""

        def __init__(self, values):
            self.values, self.dtype, self.shape = values, values.dtype, values.shape

        def get(self):
            return self.values.copy()

        def set(self, values):
            self.values[...] = values

    out = Array(np.zeros_like(X))
    run_kernel("add", ADD, 4, [out, Array(X), np.int32(4)], {"factor": 2}, lang="C", quiet=True)
    assert out.values.tolist() == [0, 2, 4, 6]


def processes(folder):
    """Command lines of the processes that name a folder."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in words:
            yield words


def test_the_tuner_of_a_killed_script_ends(tmp_path):
    slow = ADD.replace("{", "{ for (volatile long k = 0; k < 300000000; k++);", 1)
    script = f"""
import numpy as np
from greenup import kernel_tuner
x = np.ones(64, np.float32)
kernel_tuner.tune_kernel("add", {slow!r}, 64, [x, x, np.int32(64)], {{"factor": list(range(1, 65))}}, lang="C")
"""
    run = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 60
    while not list(processes(tmp_path)) and time.monotonic() < end and run.poll() is None:
        time.sleep(0.02)
    assert list(processes(tmp_path)), "it starts a tuner"
    run.kill()
    run.wait()
    end = time.monotonic() + 30
    while list(processes(tmp_path)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not list(processes(tmp_path))
