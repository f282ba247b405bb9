"""Tunes a kernel in C: blocks and unrolling of a matrix-vector product, checked against a plain loop.

``python3 tune_kernel.py opencl:0.0`` tunes the same product in OpenCL, on that device.
"""

import sys
import tempfile
from pathlib import Path

import greenup

COMMON = """
[[arguments]]
name = "y"
type = "f64"
size = "n"
role = "out"
[[arguments]]
name = "a"
type = "f64"
size = "n * n"
[[arguments]]
name = "x"
type = "f64"
size = "n"
[reference]
sources = ["reference.c"]
entry = "product"
tolerance = 1e-10
[measure]
seconds = 0.02
"""
C = """
name = "product"
[constants]
n = 512
[parameters]
rows = [1, 2, 4, 8]
chunk = [64, 128, 256, 512]
[build]
sources = ["product.c"]
entry = "product"
flags = ["-O3"]
"""
OPENCL = """
name = "product_opencl"
[constants]
n = 512
[parameters]
block = [8, 16, 32, 64]
chunk = [64, 512]
[build]
language = "opencl"
sources = ["product.cl"]
[[launch]]
kernel = "product"
grid = ["n // block"]
block = ["block"]
"""
SOURCES = {
    "reference.c": """
void product(double *y, const double *a, const double *x) {
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++)
            y[i] += a[i * n + j] * x[j];
    }
}
""",
    "product.c": """
void product(double *restrict y, const double *restrict a, const double *restrict x) {
    for (int i = 0; i < n; i += rows) {
        double sum[rows] = {0};
        for (int from = 0; from < n; from += chunk)
            for (int r = 0; r < rows; r++)
                for (int j = from; j < from + chunk; j++)
                    sum[r] += a[(i + r) * n + j] * x[j];
        for (int r = 0; r < rows; r++)
            y[i + r] = sum[r];
    }
}
""",
    "product.cl": """
__kernel void product(__global double *y, __global const double *a, __global const double *x) {
    const int i = get_global_id(0);
    double sum = 0;
    for (int from = 0; from < n; from += chunk)
        for (int j = from; j < from + chunk; j++)
            sum += a[i * n + j] * x[j];
    y[i] = sum;
}
""",
}


def main(device: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SOURCES.items():
            Path(folder, name).write_text(text)
        problem = Path(folder, "problem.toml")
        problem.write_text((OPENCL if device else C) + COMMON)
        # Without out= the sweep lives in a temporary folder; the object has all trials.
        sweep = greenup.tune(problem, trials=6, device=device, arguments=["--finalists", "2", "--rounds", "2", "--no-wisdom"])
    assert sweep.best is not None
    print(f"{len(sweep)} trials on {sweep.device}")
    print("best:", sweep.best.config, f"takes {sweep.best.value * 1e6:.1f} us")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
