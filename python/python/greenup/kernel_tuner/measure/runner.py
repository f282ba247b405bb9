"""What measures configs for a strategy: results of given configs, and the shares of strategy and framework in the time."""

import time

from .results import show

STAGES = ("compile_time", "verification_time", "benchmark_time")


class Runner:
    """Results of configs. ``run`` gives one for each, ``None`` from where the budget is used up."""

    simulation_mode = False

    def __init__(self, tune_params, metrics, units, quiet):
        self.tune_params, self.metrics, self.units, self.quiet = tune_params, metrics, units, quiet
        #: All results in order, for a search that ends with an exception.
        self.results = []
        self._left = time.perf_counter()

    def run(self, configs, tuning_options):
        """Results of configs, tuples of values."""
        entered = time.perf_counter()
        found = self.evaluate(configs, tuning_options["budget"])
        now = time.perf_counter()
        valid = [r for r in found if r is not None]
        self.results += valid
        self.share(valid, 1e3 * (entered - self._left), 1e3 * (now - entered))
        self._left = time.perf_counter()
        return found

    def share(self, results, strategy_ms, run_ms):
        """Gives each result its share of the time of the strategy and of what no stage took."""
        if not self.simulation_mode:
            run_ms = max(run_ms - sum(r.get(t, 0) for r in results for t in STAGES), 0.0)
        for result in results:
            result["strategy_time"] = strategy_ms / len(results)
            result["framework_time"] = run_ms / len(results)

    def evaluate(self, configs, budget):
        """Results of configs within a budget."""
        raise NotImplementedError

    def show(self, result):
        """Prints a new result."""
        if not self.quiet:
            show(result, self.tune_params, self.metrics, self.units)


def without_stages(entry):
    """A result that is known: it took no time now."""
    return {**entry, **dict.fromkeys(STAGES, 0)}
