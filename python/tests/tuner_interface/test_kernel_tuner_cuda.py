"""Kernel Tuner's interface on CUDA kernels; skipped without a GPU."""

import ctypes

import numpy as np
import pytest

from greenup import kernel_tuner
from greenup.kernel_tuner import util
from greenup.kernel_tuner.accuracy import AccuracyObserver
from greenup.kernel_tuner.observers.nvml import NVMLObserver
from greenup.kernel_tuner.observers.register import RegisterObserver


def _gpus():
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    return count.value if cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 else 0


pytestmark = pytest.mark.skipif(_gpus() == 0, reason="needs an NVIDIA GPU")

N = 1 << 20
FILTER = """
__constant__ float weights[5];

__global__ void apply(float *y, const float *x, int n) {
    extern __shared__ float part[];
    int i = blockIdx.x * block_size_x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    #pragma unroll loop_unroll_factor_0
    for (int k = 0; k < 5; k++) sum += weights[k] * part[threadIdx.x];
    if (i < n) y[i] = factor * sum;
}
"""


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(N).astype(np.float32)
    weights = np.arange(5, dtype=np.float32)
    return {
        "kernel_name": "apply",
        "kernel_source": FILTER,
        "problem_size": N,
        "arguments": [np.zeros_like(x), x, np.int32(N)],
        "tune_params": {"block_size_x": [64, 128, 256], "factor": [1], "loop_unroll_factor_0": [0, 5]},
        "cmem_args": {"weights": weights},
        "smem_args": {"size": lambda p: p["block_size_x"] * 4},
        "quiet": True,
    }


def right(problem, factor=10.0):
    return [np.float32(factor) * problem["arguments"][1], None, None]


def test_constant_and_shared_memory_and_unrolling(problem):
    results, env = kernel_tuner.tune_kernel(**problem, answer=right(problem), atol=1e-4)
    assert len(results) == 6 and all(0 < r["time"] < 10 for r in results)
    assert env["device_name"] and env["best_config"] in results


def test_shared_memory_as_a_string_without_functions(problem):
    problem["tune_params"] = {"block_size_x": [64, 128], "factor": [1]}
    problem["kernel_source"] = FILTER.replace("#pragma unroll loop_unroll_factor_0", "")
    problem["smem_args"] = {"size": "block_size_x * 4"}
    results, _ = kernel_tuner.tune_kernel(**problem, answer=right(problem), atol=1e-4)
    assert len(results) == 2


def test_wrong_results_end_the_search(problem):
    with pytest.raises(RuntimeError, match="verification failed"):
        kernel_tuner.tune_kernel(**problem, answer=right(problem, 11.0))


def test_a_function_verifies(problem):
    seen = []

    def verify(answer, result, atol=None):
        seen.append(result[0].shape)
        return np.allclose(answer[0], result[0], atol=1e-4)

    kernel_tuner.tune_kernel(**problem, answer=right(problem), verify=verify)
    assert seen == [(N,)] * 6


def test_run_kernel(problem):
    params = {"block_size_x": 128, "factor": 2, "loop_unroll_factor_0": 1}
    for name in ("tune_params",):
        problem.pop(name)
    out = kernel_tuner.run_kernel(**problem, params=params)
    np.testing.assert_allclose(out[0], 20 * problem["arguments"][1], rtol=1e-5)


def test_what_the_gpu_does_not_have_is_skipped(problem):
    problem["smem_args"] = {"size": lambda p: p["block_size_x"] * 4 if p["block_size_x"] < 256 else 1 << 20}
    results, env = kernel_tuner.tune_kernel(**problem, answer=right(problem), atol=1e-4)
    failed = [r for r in results if "__error__" in r]
    assert {r["block_size_x"] for r in failed} == {256}
    assert all(isinstance(r["__error__"], util.RuntimeFailedConfig) for r in failed)
    static = "__global__ void big(float *x) { __shared__ float a[size]; a[threadIdx.x] = x[0]; __syncthreads(); x[threadIdx.x] = a[63 - threadIdx.x]; }"
    results, _ = kernel_tuner.tune_kernel(
        "big", static, 64, [np.zeros(64, np.float32)], {"block_size_x": [64], "size": [1024, 100_000]}, quiet=True
    )
    assert [type(r.get("__error__")) for r in results] == [type(None), util.CompilationFailedConfig]


def test_code_that_does_not_compile(problem):
    with pytest.raises(util.CompileError, match="nonsense|error"):
        kernel_tuner.tune_kernel(**{**problem, "kernel_source": FILTER + "\nnonsense"})


def test_a_generator_and_grid_divisors(problem):
    def source(params):
        return f"__global__ void fill(int *x, int n) {{ int i = blockIdx.x * {params['block_size_x']} * {params['each']} + threadIdx.x; " + (
            f"for (int k = 0; k < {params['each']}; k++, i += {params['block_size_x']}) if (i < n) x[i] = i; }}"
        )

    x = np.zeros(1_000_003, np.int32)
    results, _ = kernel_tuner.tune_kernel(
        "fill", source, x.size, [x, np.int32(x.size)], {"block_size_x": [64, 96], "each": [1, 3]}, lang="CUDA", quiet=True,
        grid_div_x=["block_size_x", "each"], answer=[np.arange(x.size, dtype=np.int32), None],
    )  # fmt: skip
    assert len(results) == 4


def test_half_precision_is_compared_in_python():
    source = "#include <cuda_fp16.h>\n__global__ void twice(half *y, const half *x) { int i = blockIdx.x * block_size_x + threadIdx.x; y[i] = __hadd(x[i], x[i]); }"
    x = np.linspace(0, 1, 1024).astype(np.float16)
    results, _ = kernel_tuner.tune_kernel(
        "twice", source, 1024, [np.zeros_like(x), x], {"block_size_x": [32, 64]}, answer=[2 * x, None], quiet=True
    )
    assert len(results) == 2


def test_an_instance_of_a_template():
    source = "template<typename T, int each> __global__ void __launch_bounds__(256) fill(T *x, T a, int n) { int i = blockIdx.x * each + threadIdx.x; if (i < n) x[i] = a; }"
    x = np.zeros(1001, np.float64)
    results, _ = kernel_tuner.tune_kernel(
        "fill<double, block_size_x>", source, x.size, [x, np.float64(3), np.int32(x.size)], {"block_size_x": [64, 96]},
        answer=[np.full_like(x, 3), None, None], quiet=True,
    )  # fmt: skip
    assert len(results) == 2
    with pytest.raises(ValueError, match="is a template"):
        kernel_tuner.tune_kernel("fill", source, 1, [x, np.float64(3), np.int32(1)], {"block_size_x": [64]}, quiet=True)


def test_registers_and_the_meters_values_become_results(problem):
    observers = [RegisterObserver(), NVMLObserver(["nvml_power", "nvml_energy", "core_freq", "temperature"], continuous_duration=0.5)]
    results, env = kernel_tuner.tune_kernel(**problem, observers=observers, metrics={"GFLOPS/W": lambda p: 1e-9 * N / p["nvml_energy"]})
    for r in results:
        assert r["num_regs"] > 0 and r["nvml_energy"] > 0 and r["temperature"] > 0 and r["GFLOPS/W"] > 0
        # Power over the time of a run.
        assert r["nvml_energy"] == pytest.approx(r["nvml_power"] * r["time"] * 1e-3, rel=0.2)
    assert {"uuid", "pci_bus_id", "cuda_version", "compute_capability", "device_properties"} <= set(env)


def test_iterations_is_the_number_of_times(problem):
    for iterations in (3, 7):
        results, _ = kernel_tuner.tune_kernel(**problem, iterations=iterations)
        assert {len(r["times"]) for r in results} == {iterations}


def test_outputs_are_shown_to_observers(problem):
    results, _ = kernel_tuner.tune_kernel(**problem, answer=right(problem), observers=[AccuracyObserver("max abs")])
    assert len(results) == 6 and all(0 <= r["error"] < 1e-4 for r in results)


def test_scalars_of_any_value():
    source = "__global__ void f(double *out, float a, double b, long long c) { out[0] = a; out[1] = b; out[2] = c == (1LL << 60) + 1; }"
    given = [np.zeros(3), np.float32("nan"), np.float64("-inf"), np.int64(2**60 + 1)]
    out = kernel_tuner.run_kernel("f", source, 1, given, {"block_size_x": 1}, quiet=True)[0]
    assert np.isnan(out[0]) and out[1] == -np.inf and out[2] == 1 and not given[0].any()
