"""The examples run, and their types are right under mypy's strictest checks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def run(path, *arguments):
    command = [sys.executable, str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(path)
    assert done.returncode == 0 and done.stdout and not list(tmp_path.iterdir()), done.stderr


def test_a_kernel_is_tuned_on_a_device_of_opencl():
    path = next(p for p in EXAMPLES if p.stem == "tune_kernel")
    done = run(path, "opencl:0.0")
    if done.returncode != 0 and "OpenCL" in done.stderr and not os.environ.get("GREENUP_TEST_OPENCL"):
        pytest.skip("no OpenCL here")
    assert done.returncode == 0 and "6 trials" in done.stdout, done.stderr


#: A script of Kernel Tuner's users; nothing of it is untyped.
SCRIPT = """
from greenup.kernel_tuner import create_device_targets, run_kernel, store_results, tune_cache, tune_kernel

params = {"tile": [1, 2], "order": ["ij", "ji"]}
results, env = tune_kernel("k", "float k(int n) { return 1; }", 8, [], params, restrictions=["tile > 1"], iterations=3)
store_results("r.json", "k", None, params, (8, 8), results, env)
create_device_targets("r.h", "r.json")
best: dict[str, object] = tune_cache("c.json")[1]
out = run_kernel("k", lambda config: "", "n", None, {"tile": 1})
print(best["best_config"], len(out))
"""


def test_examples_pass_strict_type_checks(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), *map(str, EXAMPLES), str(script)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
