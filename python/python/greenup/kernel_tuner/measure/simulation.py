"""Searches of a recorded space: nothing is built or measured."""

import warnings

from ..problem.project import key_of_values
from ..space.restrictions import holds
from ..util import InvalidConfig
from .results import with_metrics
from .runner import STAGES, Runner, without_stages


class Simulated(Runner):
    """Looks configs up in a cache. The first time that one is asked for counts, with its recorded times."""

    simulation_mode = True

    def __init__(self, entries, limits, tune_params, metrics, units, quiet):
        super().__init__(tune_params, metrics, units, quiet)
        self.entries, self.limits = entries, limits
        self.simulated_ms = 0.0
        self._seen = set()

    def evaluate(self, configs, budget):
        found = []
        for config in configs:
            if budget.is_done():
                found.append(None)
                continue
            key = key_of_values(config)
            if key in self.entries:
                found.append(self._entry(key, budget))
            else:
                found.append(self._missing(config))
        return found

    def _entry(self, key, budget):
        entry = self.entries[key]
        if key in self._seen:
            return with_metrics(without_stages(entry), self.metrics)
        result = with_metrics(dict(entry), self.metrics)
        self._seen.add(key)
        self.show(result)
        budget.add_evaluations(1)
        if all(t in result for t in STAGES):
            spent = sum(result[t] for t in STAGES)
            self.simulated_ms += spent
            budget.add_time(milliseconds=spent)
        elif budget.time_limit is not None:
            raise RuntimeError(
                f"simulation with a time_limit: the cache file has no compile_time, verification_time and benchmark_time of {key}"
            )
        return result

    def _missing(self, config):
        params = dict(zip(self.tune_params, config))
        if all(holds(r, params) for r in self.limits):
            raise ValueError(
                f"kernel configuration {tuple(config)} not in cache - in simulation mode, all configurations that are "
                "asked for must be present in the cache"
            )
        warnings.warn(f"configuration {tuple(config)} is not in the cache and does not pass the restrictions", UserWarning, stacklevel=2)
        return {**params, "__error__": InvalidConfig()}
