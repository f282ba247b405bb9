"""Measurements of configs by the tuner, as a strategy asks for them."""

import copy
from datetime import datetime, timezone
from pathlib import Path

from .arguments import to_numpy
from .arguments.tunable import chosen, is_tunable
from .check import Exchange, outputs_in
from .interrupts import Deferred
from .log import LOG
from .project import INDEX, key_of_values
from .results import repeated, result_of, with_metrics
from .runner import Runner, without_stages
from .tuner import Run, TunerError
from .util import RuntimeFailedConfig, get_config_string


class Session:
    """The tuner on a project: its process starts with the first request, and ends however the caller leaves."""

    def __init__(self, project, device, wanted, observed=None):
        self.project = project
        self._device, self._wanted, self._observed = device, wanted, observed
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
                LOG.debug("the tuner said: %s", self._run.said() or "nothing")
                self._run.close()
            if self._checker is not None:
                self._checker.close()
        finally:
            self._interrupts.__exit__()

    def _answer(self, words):
        """The reply to a process that runs kernels or checks their outputs."""
        project = self.project

        def params_of(key):
            return dict(project.configs[int(key)])

        if words[0] != "output":
            return self._observed.answer(words, params_of)
        _, folder, key = words
        right = self._wanted.look(outputs_in(folder, project.kernel.arguments, self._wanted.outputs), key, params_of)
        return "right" if right else "wrong"

    def _start(self):
        """Writes the problem and starts the tuner."""
        wanted, project, observed = self._wanted, self.project, self._observed
        hooked = observed is not None and observed.hooked
        if wanted.look is not None or hooked:
            self._checker = Exchange(project.folder, self._answer)
        key = INDEX if observed is not None and observed.need_config else None
        problem = project.write(
            answer=wanted.answer, atol=wanted.atol, outputs=wanted.outputs,
            check=self._checker.command(key) if wanted.look is not None else None,
            pipes=(self._checker.asked, self._checker.told) if hooked else None,
        )  # fmt: skip
        self._run = Run(
            problem, project.folder / "sweep", device=project.kernel.target(self._device),
            sensor="none" if observed is None else observed.sensor, interrupts=self._interrupts,
        )  # fmt: skip

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


class Sessions:
    """The sessions of a search: one, or one for each choice of arguments where they depend on the config."""

    def __init__(self, folder, kernel, answer, make):
        self._folder, self._kernel, self._answer, self._make = Path(folder), kernel, answer, make
        self._several = any(map(is_tunable, [*kernel.given, answer]))
        self._open = {}
        if not self._several:
            # At once, so that wrong arguments are refused before anything else.
            self._open[()] = (make(self._folder, kernel, answer).__enter__(), None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for session, _ in reversed(self._open.values()):
            session.__exit__(*error)

    @property
    def failures(self):
        """Messages of the trials that failed by what is no limit of the device."""
        return [m for session, _ in self._open.values() for m in session.failures]

    def of(self, params):
        """The session that measures a config."""
        if not self._several:
            return self._open[()][0]
        picked = chosen([*self._kernel.given, self._answer], params)
        key = tuple(map(id, picked))
        if key not in self._open:
            kernel = copy.copy(self._kernel)
            kernel.arguments = [to_numpy(a, n) for n, a in enumerate(picked[:-1])]
            folder = self._folder / f"part{len(self._open)}"
            folder.mkdir()
            # What was picked is kept, so that nothing else gets its identity.
            self._open[key] = (self._make(folder, kernel, picked[-1]).__enter__(), picked)
        return self._open[key][0]


class Measured(Runner):
    """Measures configs that are not in the cache, and stores them there."""

    def __init__(self, sessions, observed, store, tune_params, metrics, units, quiet, verbose, iterations):
        super().__init__(tune_params, metrics, units, quiet)
        self.sessions, self.observed, self.store, self.verbose = sessions, observed, store, verbose
        self.iterations = iterations

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
        parts = {}
        for key, config in new.items():
            params = dict(zip(self.tune_params, config))
            parts.setdefault(self.sessions.of(params), {})[key] = params
        fresh = {}
        for session, wanted in parts.items():
            self.observed.begin(session)
            trials = session.measure([session.project.request(params) for params in wanted.values()])
            for trial in trials:
                self._take(session, trial, new, fresh)
                if len(fresh) < len(new) and budget.is_done_by_time():
                    trials.close()
                    for last in session.stop():
                        self._take(session, last, new, fresh)
                    return fresh
        return fresh

    def _take(self, session, trial, new, fresh):
        project = session.project
        params = project.params(trial["config"])
        key = key_of_values(params.values())
        params = dict(zip(self.tune_params, new.get(key, params.values())))
        result = repeated(result_of(trial, params, self.verbose), project.times(trial["config"]), self.iterations)
        result.update(self.observed.results(trial, str(trial["config"][0]), params))
        if isinstance(result.get("__error__"), RuntimeFailedConfig):
            session.failures.append(trial["failed"]["message"])
        result.setdefault("timestamp", str(datetime.now(timezone.utc)))
        try:
            result = with_metrics(result, self.metrics)
        finally:
            # Before anything else, and also if a metric raises.
            self.store.store(params, result)
        LOG.info("new config: %s", get_config_string(result))
        fresh[key] = dict(result)
        self.show(result)
