"""Measurements of configs by the tuner, as a strategy asks for them."""

from datetime import datetime, timezone

from .check import Checker
from .interrupts import Deferred
from .project import key_of_values
from .results import result_of, with_metrics
from .runner import Runner, without_stages
from .tuner import Run, TunerError
from .util import RuntimeFailedConfig


class Session:
    """The tuner on a project: its process starts with the first request, and ends however the caller leaves."""

    def __init__(self, project, device, wanted):
        self.project = project
        self._device, self._wanted = device, wanted
        self._run = self._checker = None
        #: Messages of the trials that failed by what is no limit of the device.
        self.failures = []
        self._interrupts = Deferred()

    def __enter__(self):
        # The caller's code between two trials is not interrupted either: it stores the trial.
        self._interrupts.__enter__()
        return self

    def __exit__(self, *_):
        try:
            if self._run is not None:
                self._run.close()
            if self._checker is not None:
                self._checker.close()
        finally:
            self._interrupts.__exit__()

    def _start(self):
        """Writes the problem and starts the tuner."""
        wanted, project = self._wanted, self.project
        if wanted.look is not None:
            self._checker = Checker(project.folder, project.kernel.arguments, wanted.outputs, wanted.look)
        problem = project.write(
            answer=wanted.answer, atol=wanted.atol, outputs=wanted.outputs, check=self._checker.command if self._checker else None
        )
        gpu = self._device if project.kernel.on_gpu else None
        self._run = Run(problem, project.folder / "sweep", gpu=gpu, interrupts=self._interrupts)

    def measure(self, requests):
        """Trials of requests, each a list of values as the tuner has them, in order. After Ctrl-C its last trials still come."""
        if self._run is None:
            self._start()
        run = self._run
        try:
            run.request(requests)
            for trial in run.trials(len(requests)):
                if self._checker is not None and self._checker.raised is not None:
                    raise self._checker.raised
                yield trial
        except KeyboardInterrupt:
            run.stop()
            yield from run.new()
            raise
        except TunerError as e:
            # A space that the restrictions leave empty is no error here, nor one in which every config failed.
            if not any(m in str(e) for m in ("no valid", "no point", "no configs", "no trial succeeded")):
                raise
        if self._checker is not None and self._checker.raised is not None:
            raise self._checker.raised

    def stop(self):
        """Ends the tuner; gives the trials that it had measured by then."""
        self._run.stop()
        return self._run.new()


class Measured(Runner):
    """Measures configs that are not in the cache, and stores them there."""

    def __init__(self, session, store, tune_params, metrics, units, quiet, verbose):
        super().__init__(tune_params, metrics, units, quiet)
        self.session, self.store, self.verbose = session, store, verbose

    def evaluate(self, configs, budget):
        keys, new = [], {}
        for config in configs:
            if budget.is_done():
                break
            # As in Kernel Tuner, a config that is known counts too.
            budget.add_evaluations(1)
            keys.append(key_of_values(config))
            if keys[-1] not in self.store.entries:
                new.setdefault(keys[-1], config)
        fresh = self._measure(new, budget) if new else {}
        found = [self._found(key, config, fresh) for key, config in zip(keys, configs)]
        return found + [None] * (len(configs) - len(keys))

    def _found(self, key, config, fresh):
        if key in fresh:
            return fresh.pop(key)
        entry = self.store.entries.get(key)
        if entry is None:
            return None
        result = without_stages({**entry, **dict(zip(self.tune_params, config))})
        return with_metrics(result, self.metrics)

    def _measure(self, new, budget):
        """Results of new configs by their keys; those for which the time was too short are missing."""
        project = self.session.project
        keys = list(new)
        requests = [project.request(dict(zip(self.tune_params, config))) for config in new.values()]
        fresh = {}
        trials = self.session.measure(requests)
        for trial in trials:
            self._take(trial, new, fresh)
            if len(fresh) < len(keys) and budget.is_done_by_time():
                trials.close()
                for last in self.session.stop():
                    self._take(last, new, fresh)
                break
        return fresh

    def _take(self, trial, new, fresh):
        params = self.session.project.params(trial["config"])
        key = key_of_values(params.values())
        params = dict(zip(self.tune_params, new.get(key, params.values())))
        result = result_of(trial, params, self.verbose)
        if isinstance(result.get("__error__"), RuntimeFailedConfig):
            self.session.failures.append(trial["failed"]["message"])
        result.setdefault("timestamp", str(datetime.now(timezone.utc)))
        try:
            result = with_metrics(result, self.metrics)
        finally:
            # Before anything else, and also if a metric raises.
            self.store.store(params, result)
        fresh[key] = dict(result)
        self.show(result)
