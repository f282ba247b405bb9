"""Searches by Greenup's strategies, which propose configs, while a runner measures them."""

import math
import os

from ... import Search
from ..budget import StopCriterionReached
from .common import costs_of


def _evaluated(configs, runner, tuning_options):
    """Results of configs; raises StopCriterionReached after the last within the budget. Looks at the objective of each."""
    results = runner.run(configs, tuning_options)
    costs = []
    for result in results:
        if result is not None:
            costs.append(costs_of(result, tuning_options["objective"], tuning_options["objective_higher_is_better"]))
    return [r for r in results if r is not None], costs


def brute_force(searchspace, runner, tuning_options):
    """All configs in order."""
    return _evaluated(searchspace.list, runner, tuning_options)[0]


def random_sample(searchspace, runner, tuning_options, fraction):
    """``max_fevals`` random configs, or a fraction of all."""
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must be between 0 and 1, not {fraction}")
    most = tuning_options["strategy_options"].get("max_fevals")
    if most is None:
        most = math.ceil(searchspace.size * fraction)
    return _evaluated(searchspace.get_random_sample(most), runner, tuning_options)[0] if most else []


def searched(method, searchspace, runner, tuning_options, most):
    """Results of a search by one of Greenup's strategies, ``most`` at most; ``None`` for as many as the budget has."""
    seed = tuning_options.get("seed")
    seed = int.from_bytes(os.urandom(6), "little") if seed is None else int(seed)
    budget, options, out = tuning_options["budget"], tuning_options["strategy_options"], []
    left = options.get("max_fevals", most)
    told = []

    def begun():
        # Strategies cool and narrow down over the trials that they are promised. A new one knows all that was told.
        search = Search(searchspace.space, strategy=method, seed=seed, trials=None if left is None else max(len(told) + left, 1))
        for point, cost in told:
            search.tell(point, cost)
        return search

    def measure(points, configs):
        nonlocal left
        found, costs = _evaluated(configs, runner, tuning_options)
        out.extend(found)
        told.extend(zip(points, costs))
        if left is not None:
            left -= len(found)

    x0 = options.get("x0")
    if x0 is not None:
        if not searchspace.is_param_config_valid(x0):
            raise ValueError(f"x0 {x0} is no valid config of the space")
        point = searchspace.point_of(x0)
        measure([point], [searchspace.config_of(point)])
    search, refused = begun(), 0
    try:
        while left is None or left > 0:
            budget.raise_exception_if_done()
            points = search._ask_together()
            if not points and refused:
                # Configs that only Python refuses took the place of others.
                search, refused = begun(), 0
                continue
            if not points:
                break
            configs = [searchspace.config_of(p) for p in points]
            known = len(told)
            valid = [(p, c) for p, c in zip(points, configs) if searchspace.passes(c)]
            told.extend((p, None) for p, c in zip(points, configs) if not searchspace.passes(c))
            refused += len(points) - len(valid)
            valid = valid[:left]
            if valid:
                measure(*zip(*valid))
            for point, cost in told[known:]:
                search.tell(point, cost)
    except StopCriterionReached as e:
        if tuning_options.get("verbose"):
            print(e)
    return out
