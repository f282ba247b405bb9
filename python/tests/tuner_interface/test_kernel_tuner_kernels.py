"""Kernels of Kernel Tuner's interface: languages, arguments, times and what is checked before anything runs."""

import ctypes.util
import logging
import os
import shutil

import numpy as np
import pytest

from greenup.kernel_tuner import run_kernel, tune_kernel
from greenup.kernel_tuner.accuracy import AccuracyObserver, Tunable, TunablePrecision, error_metric_from_name
from greenup.kernel_tuner.observers import BenchmarkObserver
from greenup.kernel_tuner.problem.host import fortran
from greenup.kernel_tuner.util import check_argument_list

X = np.arange(10, dtype=np.float32)
TWICE = "float twice(float *y, const float *x, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; return 1; }"


def arguments(x=X):
    return [np.zeros_like(x), x, np.int32(x.size)]


def one(code, given, **more):
    """The arguments after a run of a function `f`."""
    return run_kernel("f", code, 1, given, {"parameter": 1}, quiet=True, **{"lang": "C", **more})


# --- times -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [1, 7, 32])
def test_there_is_a_time_for_each_iteration(iterations):
    code = TWICE.replace("return 1", "static int calls = 0; return 100 * tile + ++calls")
    results, env = tune_kernel("twice", code, 10, arguments(), {"tile": [1, 2]}, iterations=iterations, quiet=True)
    for r in results:
        # The first call is the run that is checked.
        assert r["times"] == [100 * r["tile"] + call for call in range(2, iterations + 2)]
        assert r["time"] == pytest.approx(np.median(r["times"]))
    assert env["iterations"] == iterations


def test_times_belong_to_their_configs_also_of_values_of_other_types():
    params = {"part": [0.5, 1e-7, 2.0], "kind": ["float", "long  double"], "more": ["n, n", ""]}
    code = TWICE.replace("return 1", "return 1e8 * part + sizeof(kind)")
    results, _ = tune_kernel("twice", code, 10, arguments(), params, quiet=True)
    assert [len(r["times"]) for r in results] == [7] * 12
    right = [1e8 * p + s for p in params["part"] for s in (4, np.dtype(np.longdouble).itemsize) for _ in params["more"]]
    assert [r["times"][0] for r in results] == pytest.approx(right)


# --- arguments -------------------------------------------------------------------------------------------------------


def test_scalars_of_any_value():
    code = "float f(double *out, float a, double b, long long c, unsigned long long d) { out[0] = a; out[1] = b; out[2] = c == CC; out[3] = d == DD; return 1; }"
    big, huge = 2**60 + 1, 2**64 - 1
    code = code.replace("CC", f"{big}LL").replace("DD", f"{huge}ULL")
    out = one(code, (np.zeros(4), np.float32("nan"), np.float64("-inf"), np.int64(big), np.uint64(huge)))[0]
    assert np.isnan(out[0]) and out[1] == -np.inf and out[2] == out[3] == 1


def test_empty_arrays_and_no_arguments():
    out = one("float f(float *a, float *b, int n) { if (n == 0) a[0] = 1; return 1; }", [np.zeros(1, np.float32), np.zeros(0, np.float32), np.int32(0)])
    assert out[0][0] == 1 and out[1].size == 0
    results, _ = tune_kernel("f", "float f(void) { return 3; }", 1, None, {"parameter": [1]}, quiet=True)
    assert results[0]["time"] == 3


def test_arrays_of_structures():
    records = np.zeros(3, dtype=[("a", np.float32), ("b", np.int32)])
    code = "struct record { float a; int b; }; float f(struct record *x) { x[1].a = 2.5f; x[2].b = 7; return 1; }"
    out = one(code, [records])[0]
    assert out[1]["a"] == 2.5 and out[2]["b"] == 7
    right = out.copy()
    tune_kernel("f", code, 1, [np.zeros_like(records)], {"parameter": [1]}, answer=[right], quiet=True)
    right["b"] = 1
    with pytest.raises(RuntimeError, match="verification failed"):
        tune_kernel("f", code, 1, [np.zeros_like(records)], {"parameter": [1]}, answer=[right], quiet=True)


def test_run_kernel_writes_into_the_callers_arrays():
    y = np.zeros((2, 5), np.float32)
    frozen = X.copy()
    frozen.flags.writeable = False
    run_kernel("twice", TWICE, 10, [y, frozen, np.int32(10)], {"parameter": 1}, quiet=True, lang="C")
    np.testing.assert_array_equal(y.ravel(), 2 * X)


def test_nan_is_right_where_the_answer_has_it():
    code = "float f(float *x) { x[0] = 1; x[1] = 0.0f / (x[0] - 1); return 1; }"

    def tune(right):
        tune_kernel("f", code, 1, [np.zeros(2, np.float32)], {"parameter": [1]}, answer=[np.array(right, np.float32)], quiet=True)

    with pytest.warns(UserWarning, match="contains 1 NaNs"):
        tune([1, np.nan])
    with pytest.raises(RuntimeError, match="verification failed"), pytest.warns(UserWarning, match="NaN"):
        tune([np.nan, np.nan])
    with pytest.raises(RuntimeError, match="verification failed"):
        tune([1, 2])


def test_arguments_that_do_not_fit_the_code_are_named(recwarn):
    check_argument_list("twice", TWICE, arguments())
    check_argument_list("k", "void k(unsigned *a, uint64_t b, float c[3]);", [np.zeros(1, np.uint32), np.uint64(1), np.zeros(3, np.float32)])
    check_argument_list("f", "float f(void) { return sizeof(int); }", [])
    assert not recwarn
    for given, message in (
        (arguments()[:2], r"Kernel \(3\) and host argument \(2\) lists do not match in size"),
        (arguments(np.arange(3.0)), "position 0 of dtype: float64 does not match float"),
        ([np.float32(1), *arguments()[1:]], "position 0 of dtype: float32"),
    ):
        with pytest.warns(UserWarning, match=message):
            check_argument_list("twice", TWICE, given)
    with pytest.raises(TypeError, match="position 1 .*str"):
        check_argument_list("twice", TWICE, [X, "blah", np.int32(1)])
    # Before anything is compiled.
    with pytest.warns(UserWarning, match="do not match in size"), pytest.raises(RuntimeError):
        tune_kernel("twice", TWICE.replace("{", "nonsense"), 1, arguments()[:1], {"parameter": [1]}, quiet=True)


def test_arguments_by_parameter():
    code = "float f(real *y, const real *x, int n) { for (int i = 0; i < n; i++) y[i] = x[i] / 3; return sizeof(real); }"
    x, types = np.arange(1, 11, dtype=np.float64), ["float", "double"]
    given = [TunablePrecision("real", np.zeros(10), types), TunablePrecision("real", x, types), np.int32(10)]
    right = Tunable("real", {"float": [np.float32(x / 3), None, None], "double": [x / 3, None, None]})
    results, _ = tune_kernel("f", code, 10, given, {"real": types, "unroll": [1, 2]}, answer=right, quiet=True)
    assert [(r["real"], r["unroll"], r["time"]) for r in results] == [("float", 1, 4), ("float", 2, 4), ("double", 1, 8), ("double", 2, 8)]
    assert run_kernel("f", code, 10, given, {"real": "float"}, quiet=True, lang="C")[0].dtype == np.float32


def test_errors_by_name():
    a, b = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    values = {"MSE": 0.5, "max abs": 1, "mean absolute error": 0.5, "max_rel": 0.5, "root-mean-square": 0.5**0.5}
    for name, value in values.items():
        assert error_metric_from_name(name)(a, b) == pytest.approx(value), name
    with pytest.raises(ValueError, match="known are "):
        error_metric_from_name("nonsense")


# --- languages -------------------------------------------------------------------------------------------------------

FORTRAN = """
function twice(y, x, n) result(time)
  use iso_c_binding
  integer(c_int), value :: n
  real(c_float), dimension(n) :: y, x
  real(c_float) :: time
  integer :: i
  do i = 1, n
    y(i) = factor * x(i)
  end do
  time = factor
end function twice
"""
MODULE = f"module kernels\ncontains\n{FORTRAN}\nend module kernels\n"
BOUND = FORTRAN.replace("result(time)", "result(time) &\n  bind(c, name='Twice')")


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran")
@pytest.mark.parametrize("code", [FORTRAN, MODULE, BOUND], ids=["function", "module", "bind"])
def test_fortran(code):
    right = [2 * X, None, None]
    results, _ = tune_kernel("twice", code, 10, arguments(), {"factor": [2]}, compiler="gfortran", answer=right, quiet=True)
    assert [r["times"] for r in results] == [[2.0] * 7]
    out = run_kernel("twice", code, 10, arguments(), {"factor": 3}, lang="Fortran", quiet=True)
    np.testing.assert_array_equal(out[0], 3 * X)


def test_names_of_fortran():
    assert fortran.symbol(FORTRAN, "twice", "gfortran") == "twice_"
    assert fortran.symbol(FORTRAN, "Twice", "gfortran") == "twice_"
    assert fortran.symbol(BOUND, "twice", "gfortran") == "Twice"
    assert fortran.symbol(MODULE, "twice", "/usr/bin/gfortran") == "__kernels_MOD_twice"
    assert fortran.symbol(MODULE.replace("function", "subroutine"), "twice", "gfortran") == "__kernels_MOD_twice"
    assert fortran.symbol(MODULE, "twice", "nvfortran") == "kernels_twice_"
    assert fortran.symbol(MODULE, "twice", "ifort") == "kernels_mp_twice_"
    assert fortran.symbol(MODULE + FORTRAN.replace("twice", "thrice"), "thrice", "gfortran") == "thrice_"


OPENCL = """
__kernel void twice(__global float *y, __global const float *x, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] = factor * x[i];
}
"""


def _opencl():
    if ctypes.util.find_library("OpenCL") is None:
        return False
    cl, count = ctypes.CDLL("libOpenCL.so.1"), ctypes.c_uint()
    return cl.clGetPlatformIDs(0, None, ctypes.byref(count)) == 0 and count.value > 0


@pytest.mark.skipif(not _opencl(), reason="needs OpenCL, such as pocl")
def test_opencl():
    x = np.arange(1000, dtype=np.float32)
    params = {"block_size_x": [32, 64], "factor": [2]}
    results, env = tune_kernel("twice", OPENCL, x.size, arguments(x), params, answer=[2 * x, None, None], iterations=3, quiet=True)
    assert [len(r["times"]) for r in results] == [3, 3] and all(r["time"] > 0 for r in results)
    assert env["device_name"] and env["platform_name"] and env["opencl_c_version"]
    generated = tune_kernel("twice", lambda p: OPENCL, x.size, arguments(x), params, lang="OpenCL", answer=[2 * x, None, None], quiet=True)
    assert len(generated[0]) == 2
    with pytest.raises(RuntimeError, match="verification failed"):
        tune_kernel("twice", OPENCL, x.size, arguments(x), {"block_size_x": [32], "factor": [3]}, answer=[2 * x, None, None], quiet=True)
    code = "__kernel void f(__global double *y, float a, double b, long c) { y[0] = a; y[1] = b; y[2] = c == (1L << 60) + 1; }"
    given = [np.zeros(3), np.float32("nan"), np.float64("inf"), np.int64(2**60 + 1)]
    out = one(code, given, lang="OpenCL")[0]
    assert np.isnan(out[0]) and out[1] == np.inf and out[2] == 1
    # A device's memory is its own.
    assert not given[0].any()
    with pytest.raises(NotImplementedError, match="cmem_args"):
        one(code, given, lang="OpenCL", cmem_args={"a": X})
    with pytest.raises(RuntimeError, match="no OpenCL device 9.0"):
        one(code, given, lang="OpenCL", platform=9)


@pytest.mark.skipif(not _opencl(), reason="needs OpenCL, such as pocl")
def test_observers_of_outputs_on_a_device():
    class Name(BenchmarkObserver):
        def register_configuration(self, params):
            self.params = params

        def get_results(self):
            return {"name": self.dev.name, "seen": self.params["factor"]}

    observers = [Name(), AccuracyObserver("max abs")]
    answer = [2 * X, None, None]
    results, env = tune_kernel("twice", OPENCL, 10, arguments(), {"factor": [2, 3]}, observers=observers, answer=answer, quiet=True)
    assert [(r["seen"], r["error"]) for r in results] == [(2, 0), (3, 9)]
    assert all(r["name"] == env["device_name"] for r in results)


# --- what else is there ----------------------------------------------------------------------------------------------


def test_the_environment_names_the_compiler():
    _, env = tune_kernel("twice", TWICE, 10, arguments(), {"parameter": [1]}, quiet=True, compiler_options=["-O2"])
    assert env["CC Version"] and env["compiler_options"] == ["-O2"]


def test_the_log_says_what_was_done(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        tune_kernel("twice", TWICE, 10, arguments(), {"tile": [1, 2]}, quiet=True, log=logging.DEBUG)
    tune_kernel("twice", TWICE, 10, arguments(), {"tile": [1, 2]}, quiet=True)
    files = [f for f in os.listdir(tmp_path) if f.startswith("twice") and f.endswith(".log")]
    text = (tmp_path / files[-1]).read_text()
    assert "DEBUG:greenup.kernel_tuner:tune_kernel: twice" in text and "new config: tile=1" in text and "2 configs in" in text
