"""Measurements of configs by the tuner, as a strategy asks for them."""

from datetime import datetime, timezone

from ..problem.project import key_of_values
from ..util import RuntimeFailedConfig, get_config_string
from .log import LOG
from .results import repeated, result_of, with_metrics
from .runner import Runner, without_stages


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
