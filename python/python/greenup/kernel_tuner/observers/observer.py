"""Base classes of observers."""

import statistics
import time
from abc import ABC, abstractmethod

#: Functions that are called around each run, in this order.
AROUND_RUNS = ("before_start", "after_start", "during", "after_finish")


class BenchmarkObserver(ABC):
    """An observer of the measured runs of each config."""

    def register_device(self, dev):
        """Called once, before the search, with the device: `observers.run.Device`."""
        self.dev = dev

    def register_configuration(self, params):
        """Called once for each config, before its runs, with its parameters."""

    def before_start(self):
        """Called before each measured run."""

    def after_start(self):
        """Called after each start of a run. Host code has ended by then."""

    def during(self):
        """Called while a run goes on: never for host code, which has ended when it returns."""

    def after_finish(self):
        """Called after each measured run."""

    @abstractmethod
    def get_results(self):
        """Called once for each config, after its runs: a dictionary of values for its result."""


class IterationObserver(BenchmarkObserver):
    """An observer of each run."""


class PrologueObserver(BenchmarkObserver):
    """An observer of one run of its own, before those that are measured."""


class OutputObserver(BenchmarkObserver):
    """An observer of what kernels write."""

    @abstractmethod
    def process_output(self, answer, output):
        """Called once for each config: the ``answer`` of ``tune_kernel``, and the arguments after the first run."""


class ContinuousObserver(BenchmarkObserver):
    """An observer of power during runs without a gap, for ``continuous_duration`` seconds; ``parent.read_power()`` gives W.

    ``results`` is the config's result so far, with its ``time`` in ms.
    """

    def __init__(self, name, observables, parent, continuous_duration=1):
        supported = [f"{name}_power", f"{name}_energy", "power_readings"]
        unknown = [o for o in observables if o not in supported]
        if unknown:
            raise ValueError(f"Observable {unknown[0]} not in supported: {supported}")
        self.name, self.observables, self.parent = name, observables, parent
        self.continuous_duration = continuous_duration
        self.results = None
        self._started, self.power_readings = 0.0, []

    def before_start(self):
        self.parent.before_start()
        self.power_readings = []

    def after_start(self):
        self.parent.after_start()
        self._started = time.perf_counter()

    def during(self):
        self.parent.during()
        self.power_readings.append([time.perf_counter() - self._started, self.parent.read_power()])

    def after_finish(self):
        self.parent.after_finish()

    def get_results(self):
        power = statistics.median(p for _, p in self.power_readings) if self.power_readings else 0
        own = {
            f"{self.name}_power": power,
            f"{self.name}_energy": power * self.results["time"] / 1e3,
            "power_readings": self.power_readings,
        }
        found = {f"pwr_{k}": v for k, v in self.parent.get_results().items()}
        return {**found, **{o: own[o] for o in self.observables}}
