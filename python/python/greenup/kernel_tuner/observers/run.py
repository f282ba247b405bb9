"""Calls of observers.

Host code runs in a process of its own, which asks this one before and after each run and waits: the observers' functions are called
here, in a thread, while nothing of the kernel runs. A GPU's runs are enqueued in batches, between which nobody can be asked: there
only the functions for a config are called, after its measurement.
"""

import math
import warnings

from ..measure.check import STOP
from .nvml import NVMLObserver
from .observer import AROUND_RUNS, BenchmarkObserver, ContinuousObserver, OutputObserver, PrologueObserver
from .register import RegisterObserver


class Device:
    """What observers see of a device as ``self.dev``."""

    def __init__(self, lang, facts):
        self._facts = facts
        #: The language in Kernel Tuner's letters, and as it is written.
        self.lang, self.lang_name = lang, {"OPENCL": "OpenCL"}.get(lang, lang)
        self.max_threads = 1024
        self.units = {"time": "ms"}
        #: Registers of a thread of the last config (CUDA).
        self.num_regs = None

    @property
    def name(self):
        """The device's name."""
        return self._facts.name

    @property
    def env(self):
        """What the results say of the device."""
        return self._facts.env


def _overridden(observer):
    return [f for f in AROUND_RUNS if getattr(type(observer), f, None) is not getattr(BenchmarkObserver, f)]


class Observers:
    """The observers of a search."""

    def __init__(self, given, options, device):
        self.all = [self._made(o, options) for o in given or ()]
        self.device = device
        self.on_host = device.lang in ("C", "FORTRAN")
        self._results, self._config = {}, None
        # The tuner runs the first config again at the end, to see whether builds disturbed it.
        self._of, self._observed, self._shown = None, set(), set()
        self.meters = [o for o in self.all if isinstance(o, NVMLObserver)]
        self.outputs = [o for o in self.all if isinstance(o, OutputObserver)]
        self.prologues = [o for o in self.all if isinstance(o, PrologueObserver)]
        self.continuous = [o.continuous_observer for o in self.all if hasattr(o, "continuous_observer")]
        self.continuous += [o for o in self.all if isinstance(o, ContinuousObserver)]
        apart = (PrologueObserver, ContinuousObserver, NVMLObserver)
        self.around = [o for o in self.all if not isinstance(o, apart)]
        self._refuse(options.get("device"))
        for o in self.all:
            o.register_device(device)

    @staticmethod
    def _made(observer, options):
        if not isinstance(observer, BenchmarkObserver) and callable(observer):
            observer = observer(dict(options))
        if not isinstance(observer, BenchmarkObserver):
            raise TypeError(f"observers: {observer!r} is no BenchmarkObserver, nor a function that returns one")
        return observer

    def _refuse(self, ordinal):
        if self.meters and self.device.lang != "CUDA":
            raise NotImplementedError(
                f"NVMLObserver measures NVIDIA GPUs, and this is a {self.device.lang_name} kernel: `greenup tune --objective energy` "
                "measures the energy of a host"
            )
        for o in self.meters:
            if o.device is not None and o.device != ordinal:
                raise NotImplementedError(f"NVMLObserver: device={o.device!r}: the tuner measures the GPU that it tunes on, device={ordinal}")
        if self.on_host:
            return
        apart = [*self.prologues, *self.continuous]
        if apart:
            raise NotImplementedError(
                f"{type(apart[0]).__name__}: a GPU's runs are enqueued in a worker process: no run of its own can be observed from Python"
            )
        deaf = {type(o).__name__: _overridden(o) for o in self.around if _overridden(o)}
        for name, functions in deaf.items():
            warnings.warn(
                f"observers: {', '.join(functions)} of {name} cannot be called: a GPU's runs are enqueued in batches in a worker "
                "process. Its results are left out",
                UserWarning,
                stacklevel=4,
            )
        self.around = [o for o in self.around if not _overridden(o)]

    def begin(self, of):
        """Begins with configs of ``of``: their numbers say nothing of those of another."""
        if of is not self._of:
            self._of, self._observed, self._shown = of, set(), set()

    @property
    def sensor(self):
        """The energy sensor that the tuner reads: `None` for the device's own, ``"none"`` for no sensor."""
        return None if self.meters else "none"

    @property
    def seconds(self):
        """How long a config is measured at least."""
        return float(max((o.duration for o in self.meters), default=0.0))

    @property
    def hooked(self):
        """Whether host code asks before and after its runs."""
        return self.on_host and bool(self.around or self.prologues or self.continuous)

    @property
    def need_config(self):
        """Whether the process that runs kernels must say which config it runs."""
        return bool(self.hooked or self.outputs)

    def see_output(self, key, params, answer, output):
        """Shows the arguments after a config's first run."""
        if key in self._shown:
            return
        self._shown.add(key)
        for o in self.outputs:
            if not self.hooked:
                o.register_configuration(params)
            o.process_output(answer, output)
        self._results[key] = {}
        if not self.hooked:
            for o in self.outputs:
                self._results[key].update(o.get_results())

    def answer(self, words, params_of):
        """The reply to words of the process that runs host code: a number, or `STOP`."""
        name, *rest = words
        if name == "start":
            rest.append(params_of)
        return str(getattr(self, f"_on_{name}")(*rest))

    def _on_start(self, key, params_of):
        if key in self._observed:
            return STOP
        self._config = key
        for o in (*self.prologues, *self.around, *self.continuous):
            o.register_configuration(params_of(key))
        self._results.setdefault(key, {})
        return len(self.prologues)

    def _on_prologue(self, which, when):
        observer = self.prologues[int(which)]
        if when == "before":
            observer.before_start()
        else:
            observer.after_start()
            observer.after_finish()
            self._results[self._config].update(observer.get_results())
        return 0

    def _on_before(self):
        for o in self.around:
            o.before_start()
        return 0

    def _on_after(self):
        for o in self.around:
            o.after_start()
        for o in self.around:
            o.after_finish()
        return 0

    def _on_measured(self, *times):
        """The number of runs without a gap that continuous observers need."""
        self._observed.add(self._config)
        found = self._results[self._config]
        for o in self.around:
            found.update(o.get_results())
        if not self.continuous:
            return 0
        times = [float(t) for t in times]
        mean = sum(times) / len(times)
        for o in self.continuous:
            o.results = {**found, "time": mean, "times": times}
        seconds = max([1, *(o.continuous_duration for o in self.continuous)])
        return min(max(math.ceil(1e3 * seconds / mean), 1), 10**9) if mean > 0 else 1

    def _on_continuous(self, when):
        for o in self.continuous:
            if when == "before":
                o.before_start()
                o.after_start()
            else:
                o.during()
                o.after_finish()
                self._results[self._config].update(o.get_results())
        return 0

    def results(self, trial, key, params):
        """What the observers add to the result of a trial."""
        found = dict(self._results.pop(key, {}))
        if trial.get("measured") is None:
            return {}
        for o in self.meters:
            found.update(o.of_trial(trial))
        if not self.on_host:
            self.device.num_regs = _whole(trial.get("metrics", {}).get("registers"))
            for o in self.around:
                if o in self.outputs:
                    continue
                if not isinstance(o, RegisterObserver):
                    o.register_configuration(params)
                found.update(o.get_results())
        return found


def _whole(value):
    return None if value is None else int(value)
