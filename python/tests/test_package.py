"""What is in the wheel: the module, its stubs, the commands."""

import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import sysconfig

import pytest

import greenup
from greenup import _commands


@pytest.mark.parametrize("name", ["greenup", "gisaxs", "hydro", "fmm", "greenup-paper", "greenup-scaling"])
def test_commands_run(name):
    script = os.path.join(sysconfig.get_path("scripts"), name)
    for program in (script, _commands.path(name)):
        done = subprocess.run([program, "--version"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith(f"{name} {greenup.__version__}"), done
    done = subprocess.run([script, "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2 and "error" in done.stderr and not done.stdout


def test_greenup_starts_the_programs_beside_it():
    for words in (["paper", "--list"], ["scaling", "fmm", "--nodes", "1,2"]):
        done = subprocess.run([_commands.path(), *words], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout, done


def test_a_command_prints_what_the_library_returns():
    done = subprocess.run(
        [_commands.path(), "predict", "--machine", "h200", "--op", "f64=1e12", "--op", "dram=1e11", "--json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    mine = greenup.Machine("h200").predict({"f64": 1e12, "dram": 1e11})
    assert (said["time_s"], said["energy_j"]) == (mine["time_s"], mine["energy_j"])


def test_a_command_ends_by_a_closed_pipe_and_by_ctrl_c(tmp_path):
    program = subprocess.Popen([_commands.path(), "machines"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program.stdout.close()
    assert program.wait(20) in (0, 1) and b"panic" not in program.stderr.read()
    # It starts itself as a worker, which needs its own file.
    file = tmp_path / "p.toml"
    file.write_text("name = 'p'\n[run]\ncommand = \"sh -c 'sleep 0.2; echo {n}'\"\n[parameters]\nn = '1 : 500'\n")
    program = subprocess.Popen(
        [_commands.path(), "tune", str(file), "--out", str(tmp_path / "s")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (tmp_path / "s" / "trials.jsonl").exists() and program.poll() is None:
        pass
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=60)
    assert program.returncode in (0, 130), said


def test_version_and_names():
    assert greenup.__version__ == importlib.metadata.version("greenup")
    assert all(hasattr(greenup, name) for name in greenup.__all__)
    assert all(getattr(greenup, n).__doc__ for n in greenup.__all__ if n != "__version__")


def test_docstrings_are_everywhere():
    missing = []
    for kind in (greenup.Space, greenup.Machine, greenup.Search, greenup.Sweep, greenup.Best, greenup.Result):
        for name in dir(kind):
            if not name.startswith("_") and not getattr(kind, name).__doc__:
                missing.append(f"{kind.__name__}.{name}")
    assert not missing


def test_stubs_are_right():
    pytest.importorskip("mypy.stubtest")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "greenup._native", "--ignore-missing-stub"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_import_needs_no_pandas_and_no_numpy():
    code = "import sys, greenup; print('pandas' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split()[0] == "False", done
