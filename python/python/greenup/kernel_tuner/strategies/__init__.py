"""Kernel Tuner's strategies: their names and options, and Greenup's strategies that search in their place."""

import math
import sys
import types
import warnings
from dataclasses import dataclass, field

from ... import strategies as own_strategies
from . import search
from .common import check_x0, get_options

_WALK = {"neighbor": "Hamming", "restart": True, "order": None, "randomize": True}
_AWARE = {"constraint_aware": True}
_SWARM = {"popsize": 50, "maxiter": 190, "w": 0.5, "c1": 3.0, "c2": 0.5, **_AWARE}
_FIREFLIES = {"popsize": 20, "maxiter": 100, "B0": 1.0, "gamma": 1.0, "alpha": 0.2, **_AWARE}
_GENES = {"popsize": 26, "maxiter": 90, "method": "single_point", "mutation_chance": 55, **_AWARE}
_DIFFERENCES = {
    "popsize": 16, "popsize_times_dimensions": True, "maxiter": int(1e15), "F": (0.5, 1.0), "CR": 0.7, "method": "best1bin", **_AWARE,
}  # fmt: skip
_COOLING = {"T": 0.1, "T_min": 0.0001, "alpha": 0.9975, "maxiter": 1, **_AWARE}
_WOLVES = {
    "budget": 5000, "pack_size": 8, "tabu_factor": 3, "shake_rate": 0.2, "jump_rate": 0.15, "stagn_limit": 80, "restart_ratio": 0.3,
    "t0": 1.0, "t_decay": 5.0, "t_min": 1e-4, **_AWARE,
}  # fmt: skip
_DESCENT = {
    "budget": 5000, "k": 5, "cand_pool": 8, "restart_iter": 100, "tabu_size": 300, "elite_size": 5, "t0": 1.0, "cooling": 0.995, **_AWARE,
}  # fmt: skip
_BAYES = {
    "covariancekernel": "matern32", "covariancelengthscale": 1.5, "method": "multi-ultrafast", "samplingmethod": "lhs", "popsize": 20,
}  # fmt: skip
_SKOPT = {
    "learner": "RF", "acq_func": "gp_hedge", "lie_strategy": "cl_max", "kappa": 1.96, "num_initial": None, "batch_size": 1,
    "skopt_kwargs": {},
}  # fmt: skip
_FRONT = {"popsize": 20, "crossover_operator": "uniform", "crossover_prob": 1.0, "mutation_prob": 0.1, "ref_dirs_list": []}


#: Greenup's strategies for several objectives.
_SEVERAL = ("nsga2", "alternate")


def _generations(o):
    return o["popsize"] * o["maxiter"]


def _cooled(o):
    """Steps from the first to the last temperature."""
    return math.ceil(math.log(o["T_min"]) / math.log(o["alpha"]))


@dataclass(frozen=True)
class Strategy:
    """One of Kernel Tuner's strategies."""

    name: str
    #: Greenup's strategy of the same kind.
    method: str
    options: dict = field(default_factory=dict)
    #: Number of evaluations after which it ends by itself, from its options: an option that is not part of it has no effect.
    end: object = None
    ends_by: tuple = ()
    #: Options of all strategies that this one refuses.
    refuses: tuple = ()

    @property
    def _options(self):
        """Options with their descriptions and defaults, as in Kernel Tuner's modules."""
        return {name: (name.replace("_", " "), default) for name, default in self.options.items()}

    def tune(self, searchspace, runner, tuning_options):
        """Results of a search."""
        given = tuning_options["strategy_options"]
        if "x0" in given and "x0" in self.refuses:
            raise ValueError(f"x0 is not supported by {self.name}, which does not start from a config")
        values = dict(zip(self.options, get_options(given, self._options, self.refuses)))
        if "x0" in given:
            check_x0(given["x0"], searchspace.tune_params)
        self._say_what_is_ignored(given)
        if self.method == "exhaustive":
            return search.brute_force(searchspace, runner, tuning_options)
        if self.name == "random_sample":
            return search.random_sample(searchspace, runner, tuning_options, values["fraction"])
        method = self.method
        if len(tuning_options["objective"]) > 1 and method not in _SEVERAL:
            warnings.warn(f"{self.name} searches by one objective: Greenup's `nsga2` searches in its place", UserWarning, stacklevel=3)
            method = "nsga2"
        most = self.end(values) if self.end is not None and "max_fevals" not in given else None
        return search.searched(method, searchspace, runner, tuning_options, most)

    def _say_what_is_ignored(self, given):
        used = {*self.ends_by, "constraint_aware", "fraction"}
        ignored = [o for o in given if o in self.options and o not in used and given[o] != self.options[o]]
        if ignored:
            warnings.warn(
                f"strategy_options {', '.join(ignored)} of {self.name} have no effect: Greenup's `{self.method}` searches in its place",
                UserWarning,
                stacklevel=4,
            )


def _all():
    def hundred(_):
        return 100

    def budget(o):
        return o["budget"]

    no_start = ("x0",)
    generations = {"end": _generations, "ends_by": ("popsize", "maxiter")}
    fixed = {"end": budget, "ends_by": ("budget",), "refuses": no_start}
    kinds = [
        Strategy("brute_force", "exhaustive", refuses=("max_fevals", "time_limit", "x0", "searchspace_construction_options")),
        Strategy("random_sample", "random", {"fraction": 0.1}, refuses=no_start),
        Strategy("minimize", "local", {"method": "L-BFGS-B"}, hundred),
        Strategy("basinhopping", "local", {"method": "L-BFGS-B", "T": 1.0}),
        Strategy("diff_evo", "evolve", _DIFFERENCES),
        Strategy("genetic_algorithm", "genetic", _GENES, **generations),
        Strategy("greedy_mls", "local", _WALK, hundred),
        Strategy("ordered_greedy_mls", "local", {**_WALK, "randomize": False}, hundred),
        Strategy("greedy_ils", "local", {"neighbor": "Hamming", "restart": True, "no_improvement": 50, "random_walk": 0.3}, hundred),
        Strategy("mls", "local", {**_WALK, "restart": False}, hundred),
        Strategy("dual_annealing", "anneal", {"method": "COBYLA"}),
        Strategy("simulated_annealing", "anneal", _COOLING, _cooled, ("T_min", "alpha")),
        Strategy("pso", "evolve", _SWARM, **generations),
        Strategy("firefly_algorithm", "evolve", _FIREFLIES, **generations),
        Strategy("skopt", "gp", _SKOPT),
        Strategy("bayes_opt", "gp", _BAYES, hundred, refuses=no_start),
        Strategy("pyatf_strategies", "portfolio", {"searchtechnique": "simulated_annealing", "use_searchspace_cache": False}, refuses=no_start),
        Strategy("hybrid_vndx", "anneal", _DESCENT, **fixed),
        Strategy("adaptive_tabu_greywolf", "evolve", _WOLVES, **fixed),
        Strategy("nsga2", "nsga2", _FRONT, refuses=no_start),
        Strategy("nsga3", "nsga2", _FRONT, refuses=no_start),
    ]
    return {s.name: s for s in kinds}


def _own():
    # `halving` and `steered` need what only a problem file tells.
    names = [name for name in own_strategies() if name not in ("halving", "steered")]
    return {name: Strategy(name, name, refuses=("x0",) if name == "exhaustive" else ()) for name in names}


#: Kernel Tuner's strategies by name.
strategy_map = _all()
#: Greenup's.
OWN = _own()


def _as_modules():
    """Makes each strategy importable as a module with ``tune``, as there: ``from kernel_tuner.strategies import minimize``."""
    for name, strategy in strategy_map.items():
        module = types.ModuleType(f"{__name__}.{name}", f"Kernel Tuner's strategy {name}; Greenup's {strategy.method} searches in its place.")
        module.tune, module._options = strategy.tune, strategy._options
        sys.modules[module.__name__] = globals()[name] = module


_as_modules()


def strategy_of(strategy):
    """The strategy of a name, or a strategy written in Python: anything with a method ``tune``."""
    if not strategy:
        return strategy_map["brute_force"]
    if isinstance(strategy, str):
        known = {**OWN, **strategy_map}
        if strategy in known:
            return known[strategy]
    elif callable(getattr(strategy, "tune", None)):
        return strategy
    raise ValueError(f"Unkown strategy {strategy}, must be one of: {', '.join([*strategy_map, *OWN])}")
