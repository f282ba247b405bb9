"""Runs one script for ``kernel_tuner_scripts.py``: with this package as ``kernel_tuner``; writes how it ended as JSON."""

import importlib
import importlib.abc
import importlib.util
import json
import os
import runpy
import sys
import time
import traceback
from pathlib import Path

script, record, mode = sys.argv[1:4]
PACKAGE = "greenup.kernel_tuner"


class Renamed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the modules of this package under Kernel Tuner's names."""

    def find_spec(self, name, path=None, target=None):
        if name != "kernel_tuner" and not name.startswith("kernel_tuner."):
            return None
        try:
            importlib.import_module(f"greenup.{name}")
        except ModuleNotFoundError as e:
            if not str(e.name).startswith(PACKAGE):
                raise
            return None
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        self._own = sys.modules[f"greenup.{spec.name}"]
        self._spec = self._own.__spec__
        return self._own

    def exec_module(self, module):
        module.__spec__ = self._spec


def simulate():
    """CUDA without a device: the environment and the tuner's process are made up."""
    from greenup.kernel_tuner.problem import device
    from greenup.kernel_tuner.measure import session

    device._gpu = lambda ordinal: {
        "device_name": "simulated", "uuid": "", "pci_bus_id": "", "cuda_version": 12080, "compute_capability": "80",
        "device_properties": {"max_threads_per_block": 1024, "multiprocessor_count": 108},
    }  # fmt: skip
    real = session.Run

    class Run:
        def __init__(self, problem, out, **options):
            self.problem, self.asked, self.interrupts = Path(problem), [], options.get("interrupts")

        def request(self, configs):
            self.asked += configs

        def trials(self, count):
            for _ in range(count):
                config = self.asked.pop(0)
                self._check(config)
                t = 1e-3 * (1 + (hash(str(config)) % 1000) / 1000)
                yield {
                    "config": config, "at": time.time(), "build_s": 0.0, "verify_s": 0.0, "measure_s": 0.0,
                    "measured": {"time_s": t, "times_s": [t] * 7, "energy_j": 100 * t},
                    "metrics": {"registers": 32, "power_w": 100.0, "clock_mhz": 1400.0, "memory_clock_mhz": 1215.0, "temperature_c": 50.0},
                }  # fmt: skip
                if self.interrupts is not None:
                    self.interrupts.check()

        def _check(self, config):
            asked = self.problem.parent / "asked.fifo"
            if "[check]" in self.problem.read_text(encoding="utf-8"):
                with open(asked, "w", encoding="utf-8") as file:
                    file.write(f"output\x1f{self.problem.parent}\x1f{config[0]}\n")
                with open(self.problem.parent / "told.fifo", encoding="utf-8") as file:
                    file.readline()

        def new(self):
            return []

        def said(self):
            return ""

        def stop(self, patience=0.0):
            pass

        close = stop

    def made(problem, out, *, device=None, **options):
        cuda = str(device).startswith("cuda")
        return (Run if cuda else real)(problem, out, device=device, **options)

    session.Run = made


calls = {"begun": 0, "returned": 0, "configs": 0}


def write(end, why):
    Path(record).write_text(json.dumps({"end": end, "why": why, "calls": calls}), encoding="utf-8")


def counted(function):
    def call(*args, **kwargs):
        calls["begun"] += 1
        # What is known if this process is killed.
        write("failed here", "died")
        out = function(*args, **kwargs)
        calls["returned"] += 1
        return out

    return call


def end_of(error):
    from greenup.kernel_tuner.util import CompileError

    """The kind of an exception: what is missing here, what this package refuses, what the script does wrong, or a fault of ours."""
    if isinstance(error, SystemExit):
        return ("result", "") if not error.code else ("own error", f"exit code {error.code}")
    frames = traceback.extract_tb(error.__traceback__)
    ours = bool(frames) and ("greenup/kernel_tuner" in frames[-1].filename or "greenup/_" in frames[-1].filename)
    why = f"{type(error).__name__}: {error}".split("\n")[0][:300]
    if isinstance(error, ImportError) and str(getattr(error, "name", "")).startswith((PACKAGE, "kernel_tuner")):
        return "failed here", why
    through = any("greenup/kernel_tuner" in f.filename for f in frames)
    if through and any(m in str(error) for m in ("no CUDA driver", "there is no GPU", "there is no OpenCL device", "no OpenCL:")):
        return "missing here", why
    if isinstance(error, RuntimeError) and str(error).startswith("the compiler ") and "is not found" in str(error):
        return "missing here", why
    if isinstance(error, (FileNotFoundError, CompileError)):
        # A file that the script names, or code of its own.
        return "own error", why
    if ours and isinstance(error, NotImplementedError):
        return "refused", why
    where = f" [{Path(frames[-1].filename).name}:{frames[-1].lineno}]" if frames else ""
    return ("failed here" if through else "own error"), why + where


def main():
    sys.meta_path.insert(0, Renamed())
    package = importlib.import_module(PACKAGE)
    if mode == "simulate":
        simulate()
    from greenup.kernel_tuner.measure.runner import Runner

    run = Runner.run

    def counting(self, configs, options):
        found = run(self, configs, options)
        calls["configs"] += sum(r is not None for r in found)
        return found

    Runner.run = counting
    for name in ("tune_kernel", "run_kernel", "tune_cache", "tune_kernel_T1"):
        setattr(package, name, counted(getattr(package, name)))
    sys.argv = [script, *os.environ.get("KERNEL_TUNER_SCRIPT_ARGUMENTS", "").split()]
    sys.path.insert(0, str(Path(script).parent))
    end, why = "result", ""
    try:
        if Path(script).name.startswith("test_"):
            import pytest

            ends = []

            class Ends:
                def pytest_exception_interact(self, node, call, report):
                    ends.append(end_of(call.excinfo.value))

            code = pytest.main(["-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={Path(script).parent}", script], plugins=[Ends()])
            end, why = ends[0] if ends else ("result", "") if code in (0, 5) else ("own error", f"pytest ended with {code}")
        if not Path(script).name.startswith("test_") or code == 5:
            # Without a test it is a script.
            runpy.run_path(script, run_name="__main__")
    except BaseException as e:  # noqa: BLE001 - how it ended is what is asked
        end, why = end_of(e)
        traceback.print_exc()
    if end == "result" and calls["begun"] == 0:
        why = "no call"
    write(end, why)


if __name__ == "__main__":
    main()
