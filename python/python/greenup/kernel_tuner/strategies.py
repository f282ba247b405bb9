"""Names and options of Kernel Tuner's strategies, and the tuner's strategies that stand for them."""

import warnings

from .. import strategies

#: Kernel Tuner's strategies: the tuner's of the same kind, or its default.
STRATEGIES = {
    "brute_force": "exhaustive",
    "random_sample": "random",
    "minimize": "local",
    "basinhopping": "local",
    "diff_evo": "evolve",
    "genetic_algorithm": "genetic",
    "greedy_mls": "local",
    "ordered_greedy_mls": "local",
    "greedy_ils": "local",
    "mls": "local",
    "dual_annealing": "anneal",
    "simulated_annealing": "anneal",
    "pso": "portfolio",
    "firefly_algorithm": "portfolio",
    "skopt": "gp",
    "bayes_opt": "gp",
    "pyatf_strategies": "portfolio",
    "hybrid_vndx": "portfolio",
    "adaptive_tabu_greywolf": "portfolio",
    "nsga2": "portfolio",
    "nsga3": "portfolio",
}
#: The tuner's own.
OWN = tuple(strategies())
#: Evaluations where a strategy that samples gets no limit.
DEFAULT_EVALUATIONS = 100
_KNOWN = ("max_fevals", "time_limit", "fraction", "searchspace_construction_options")


class Search:
    """How a space is searched."""

    def __init__(self, strategy, options, seed):
        options = dict(options or {})
        if strategy is not None and not isinstance(strategy, str):
            raise NotImplementedError("strategy: strategies written in Python are not supported; name one of " + ", ".join(STRATEGIES))
        if strategy is not None and strategy not in STRATEGIES and strategy not in OWN:
            raise ValueError(f"Unkown strategy {strategy}, must be one of: {', '.join([*STRATEGIES, *OWN])}")
        self.name = STRATEGIES.get(strategy or "brute_force", strategy)
        self.seed = 1 if seed is None else int(seed)
        self.evaluations = options.get("max_fevals")
        self.time_limit = options.get("time_limit")
        self.fraction = options.get("fraction", 0.1) if self.name == "random" else None
        if self.evaluations is not None and self.evaluations <= 0:
            raise ValueError("max_fevals must be greater than zero")
        if self.time_limit is not None and self.time_limit <= 0:
            raise ValueError("time_limit must be greater than zero")
        ignored = [o for o in options if o not in _KNOWN]
        if ignored:
            warnings.warn(f"strategy_options {', '.join(ignored)} of {strategy} are ignored", UserWarning, stacklevel=4)

    def budget(self, done=0):
        """The tuner's budget, less what is done; ``None`` if nothing is left."""
        if self.evaluations is not None:
            left = int(self.evaluations) - done
            return str(left) if left > 0 else None
        if self.name == "exhaustive":
            return "100%"
        if self.fraction is not None:
            if not 0 < self.fraction <= 1:
                raise ValueError("fraction must be between 0 and 1")
            return f"{100 * self.fraction:g}%"
        if self.time_limit is not None:
            return f"{self.time_limit:g}s"
        left = DEFAULT_EVALUATIONS - done
        return str(left) if left > 0 else None
