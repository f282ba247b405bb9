"""Observers of Kernel Tuner's interface: where they are called, and what is refused."""

import importlib
import time
from types import SimpleNamespace

import numpy as np
import pytest

from greenup.kernel_tuner import accuracy, tune_kernel
from greenup.kernel_tuner.observers import (
    BenchmarkObserver,
    ContinuousObserver,
    OutputObserver,
    PrologueObserver,
)
from greenup.kernel_tuner.observers.nvml import NVMLObserver
from greenup.kernel_tuner.observers.register import RegisterObserver
from greenup.kernel_tuner.observers.run import Device, Observers

SCALE = """
float scale(float *y, const float *x, int n) {
    static int calls = 0;
    for (int i = 0; i < n; i++) y[i] = factor * x[i];
    return ++calls;
}
"""


@pytest.fixture
def problem():
    x = np.arange(16, dtype=np.float32)
    return ["scale", SCALE, x.size, [np.zeros_like(x), x, np.int32(x.size)], {"factor": [2, 3]}]


class Counting(BenchmarkObserver):
    """Writes down what is called."""

    def __init__(self):
        self.calls = []

    def register_configuration(self, params):
        self.calls.append(params["factor"])

    def before_start(self):
        self.calls.append("before")

    def after_start(self):
        self.calls.append("started")

    def during(self):
        self.calls.append("during")

    def after_finish(self):
        self.calls.append("finished")

    def get_results(self):
        return {"before": self.calls.count("before"), "device": self.dev.name}


def test_observers_are_called_around_each_run_of_host_code(problem):
    observer = Counting()
    results, _ = tune_kernel(*problem, observers=[observer], iterations=3, quiet=True)
    run = ["before", "started", "finished"]
    assert observer.calls == [2, *run * 3, 3, *run * 3]
    assert [r["before"] for r in results] == [3, 6]
    assert all(r["device"] for r in results)


def test_no_run_is_between_two_calls_of_an_observer(problem):
    class Stopwatch(Counting):
        def get_results(self):
            return {}

    # The first call is the run that is checked: the measured ones follow one another.
    results, _ = tune_kernel(*problem, observers=[Stopwatch()], iterations=4, quiet=True)
    assert [r["times"] for r in results] == [[2, 3, 4, 5]] * 2


def test_a_function_makes_an_observer_from_the_options(problem):
    class Options(BenchmarkObserver):
        def __init__(self, options):
            self.options = options

        def get_results(self):
            return {"lang": self.options["lang"]}

    results, _ = tune_kernel(*problem, observers=[Options, lambda options: Options(options)], quiet=True)
    assert {r["lang"] for r in results} == {"C"}
    with pytest.raises(TypeError, match="no BenchmarkObserver"):
        tune_kernel(*problem, observers=[3], quiet=True)


def test_an_observer_that_raises_ends_the_search(problem):
    class Broken(Counting):
        def after_finish(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tune_kernel(*problem, observers=[Broken()], quiet=True)


def test_prologues_and_runs_without_a_gap(problem):
    class Prologue(PrologueObserver):
        def __init__(self):
            self.calls = []

        def before_start(self):
            self.calls.append("before")

        def after_finish(self):
            self.calls.append("finished")

        def get_results(self):
            return {"prologue": len(self.calls)}

    class Power(Counting):
        def read_power(self):
            return 50.0

    power = Power()
    power.continuous_observer = ContinuousObserver("my", ["my_power", "my_energy"], power)
    # A second of runs that say that they take 200 ms each.
    source = SCALE.replace("return ++calls", "return 200")
    problem[1] = source
    results, _ = tune_kernel(*problem, observers=[Prologue(), power], iterations=2, quiet=True)
    assert [r["prologue"] for r in results] == [2, 4]
    assert all(r["my_power"] == 50.0 and r["my_energy"] == pytest.approx(10.0) for r in results)
    with pytest.raises(ValueError, match="not in supported"):
        ContinuousObserver("my", ["voltage"], power)


def test_outputs_are_shown_once_and_become_results(problem):
    class Sum(OutputObserver):
        def __init__(self):
            self.seen = []

        def process_output(self, answer, output):
            self.seen.append(answer)
            self.sum = float(output[0].sum())

        def get_results(self):
            return {"sum": self.sum}

    observer, right = Sum(), [2 * problem[3][1], None, None]
    error = accuracy.AccuracyObserver("max abs")
    # Without a function that verifies, the observers judge.
    results, _ = tune_kernel(*problem, observers=[observer, error], answer=right, quiet=True)
    assert [r["sum"] for r in results] == [240, 360]
    assert [r["error"] for r in results] == [0, 15]
    assert len(observer.seen) == 2 and observer.seen[0][0] is right[0]


def test_a_gpu_calls_what_it_can(recwarn):
    class Name(BenchmarkObserver):
        def get_results(self):
            return {"name": self.dev.name}

    device = Device("CUDA", SimpleNamespace(name="a GPU", env={}))
    observers = Observers([Name(), RegisterObserver(), NVMLObserver(["nvml_energy", "temperature"])], {}, device)
    assert observers.sensor is None and not observers.need_config and not recwarn
    trial = {"measured": {"energy_j": 2.0}, "metrics": {"registers": 40.0, "temperature_c": 55.0}}
    assert observers.results(trial, "0", {}) == {"name": "a GPU", "num_regs": 40, "nvml_energy": 2.0, "temperature": 55.0}
    assert observers.results({"failed": {}}, "1", {}) == {}
    with pytest.raises(RuntimeError, match="nvml_energy not measured"):
        observers.results({"measured": {}, "metrics": {"registers": 1.0, "temperature_c": 1.0}}, "2", {})
    with pytest.warns(UserWarning, match="before_start, after_start, during, after_finish of Counting cannot be called"):
        observers = Observers([Counting()], {}, device)
    assert observers.results(trial, "0", {}) == {}
    with pytest.raises(NotImplementedError, match="no run of its own"):
        Observers([type("P", (PrologueObserver,), dict.fromkeys(("before_start", "after_finish", "get_results"), print))()], {}, device)


def test_what_is_not_measured_is_refused(problem):
    for observer, match in ((NVMLObserver(["nvml_energy"]), "this is a C kernel"), (RegisterObserver(), "not known of C kernels")):
        with pytest.raises(NotImplementedError, match=match):
            tune_kernel(*problem, observers=[observer], quiet=True)
    with pytest.raises(NotImplementedError, match="OpenCL"):
        Observers([RegisterObserver()], {}, Device("OPENCL", SimpleNamespace(name="d", env={})))
    for arguments, error in (({"observables": ["volume"]}, ValueError), ({"observables": ["gr_voltage"]}, NotImplementedError)):
        with pytest.raises(error):
            NVMLObserver(**arguments)
    with pytest.warns(UserWarning, match="use_locked_clocks has no effect: .*never sets clocks"):
        NVMLObserver(["nvml_power"], use_locked_clocks=True)


@pytest.mark.parametrize("name", ["nvml_gr_clock", "nvml_mem_clock", "nvml_pwr_limit", "tegra_gr_clock"])
def test_clocks_are_no_parameters(problem, name):
    problem[-1][name] = [1, 2]
    with pytest.raises(NotImplementedError, match=f"{name}: this tuner never sets clocks"):
        tune_kernel(*problem, quiet=True)


def test_modules_of_observers_can_be_imported_and_say_what_to_use():
    names = {
        "ncu": "NCUObserver", "pmt": "PMTObserver", "powersensor": "PowerSensorObserver", "tegra": "TegraObserver", "amd": "AMDSMIObserver",
    }  # fmt: skip
    for module, name in names.items():
        found = getattr(importlib.import_module(f"greenup.kernel_tuner.observers.{module}"), name)
        with pytest.raises(NotImplementedError, match=f"{name}: .*`greenup"):
            found()
    with pytest.raises(NotImplementedError, match="never sets clocks"):
        importlib.import_module("greenup.kernel_tuner.observers.nvml").get_nvml_gr_clocks(0)


def test_the_order_of_calls_is_kernel_tuners(problem):
    theirs = pytest.importorskip("kernel_tuner")
    bases = importlib.import_module("kernel_tuner.observers")

    def calls(tune, benchmark, prologue, outputs):
        seen = []

        def note(name, value=None):
            def noted(self, *given):
                seen.append((name, *(g["factor"] for g in given if isinstance(g, dict))))
                return value

            return noted

        names = ("register_configuration", "before_start", "after_start", "after_finish")
        around = {**{n: note(n) for n in names}, "get_results": note("get_results", {"a": 1})}
        alone = {"before_start": note("prologue"), "after_finish": note("finished"), "get_results": note("get_results", {"p": 1})}
        shown = {"process_output": note("process_output"), "get_results": lambda self: {}}
        observers = [type("A", (benchmark,), around)(), type("P", (prologue,), alone)(), type("O", (outputs,), shown)()]
        tune(*problem, observers=observers, iterations=2, answer=[2 * problem[3][1], None, None], quiet=True)
        return seen

    own = calls(tune_kernel, BenchmarkObserver, PrologueObserver, OutputObserver)
    other = calls(theirs.tune_kernel, bases.BenchmarkObserver, bases.PrologueObserver, bases.OutputObserver)
    # Kernel Tuner measures the first config once more, before all.
    assert own == other[len(other) // 3 :]


def test_ctrl_c_in_an_observer_ends_the_search(problem):
    class Interrupted(Counting):
        def after_finish(self):
            raise KeyboardInterrupt

    problem[-1]["unroll"] = list(range(50))
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tune_kernel(*problem, observers=[Interrupted()], quiet=True)
    assert time.monotonic() - start < 60
