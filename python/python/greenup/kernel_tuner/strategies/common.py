"""What strategies share: the cost of a config, scaled and snapped parameters, options."""

import sys

import numpy as np

from ..budget import StopCriterionReached
from ..util import ERRORS, is_measured

#: The cost of a config that has no measurement.
WORST = sys.float_info.max


def make_strategy_options_doc(strategy_options):
    """The options of a strategy with their defaults, a line each."""
    return "".join(f"     * {name}: {text}, default {default}. \n" for name, (text, default) in strategy_options.items()) + "\n"


def get_strategy_docstring(name, strategy_options):
    """The documentation of a strategy's function ``tune``."""
    options = make_strategy_options_doc(strategy_options)
    return f"Searches by {name}.\n\nOptions in strategy_options:\n{options}"


def get_options(strategy_options, options, unsupported=None):
    """Values of a strategy's options: given, or their defaults. Refuses those that it does not have."""
    accepted = [*options, "max_fevals", "time_limit", "x0", "searchspace_construction_options"]
    accepted = [o for o in accepted if o not in (unsupported or ())]
    for name in strategy_options:
        if name not in accepted:
            raise ValueError(f"Unrecognized option {name} in strategy_options (allowed: {accepted})")
    return [strategy_options.get(name, default) for name, (_, default) in options.items()]


def costs_of(result, objectives, higher_is_better):
    """What is minimised, a number for each objective; ``None`` if the config has no measurement.

    Raises KeyError for an objective that measured results do not have.
    """
    if "__error__" in result:
        return None
    out = []
    for name, up in zip(objectives, higher_is_better):
        if name not in result:
            raise KeyError(f"the objective {name!r} is not in the results, which have: {', '.join(map(str, result))}")
        value = result[name]
        if not is_measured(value):
            return None
        out.append(-float(value) if up else float(value))
    return out


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


class CostFunc:
    """The cost of configs, for optimizers: ``func(x)`` is to be minimised. ``results`` has all results.

    A config without a measurement costs ``invalid_value``, also where ``return_invalid`` asks for its error, as in Kernel Tuner.
    """

    def __init__(
        self, searchspace, tuning_options, runner, *, scaling=False, snap=True, return_invalid=False, invalid_value=WORST
    ):  # fmt: skip
        self.searchspace = searchspace
        self.tuning_options = tuning_options
        self.runner = runner
        self.scaling, self.snap, self.return_invalid = scaling, snap, return_invalid
        self.invalid_return_value = invalid_value
        self.objective = tuning_options["objective"]
        self.objective_higher_is_better = tuning_options["objective_higher_is_better"]
        self.constraint_aware = bool(tuning_options["strategy_options"].get("constraint_aware"))
        self.results = []
        self.unique_results = {}
        self.budget_spent_fraction = 0.0

    def _config(self, x):
        """The config at a position and whether it is valid; an optimizer that knows of restrictions gets the nearest neighbour."""
        space = self.searchspace
        config = list(x)
        if self.snap:
            params = space.tune_params
            config = unscale_and_snap_to_nearest(x, params, self.tuning_options["eps"]) if self.scaling else snap_to_nearest_config(x, params)
        if space.is_param_config_valid(tuple(config)):
            return config, True
        if self.constraint_aware:
            near = unscale_and_snap_to_nearest_valid(x, config, space, self.tuning_options.get("eps", 1))
            if near:
                return list(near), True
        return config, False

    def eval_all(self, xs, check_restrictions=True):
        """Costs of several positions, which are compiled together."""
        budget = self.tuning_options["budget"]
        budget.raise_exception_if_done()
        configs = [self._config(x) if check_restrictions else (list(x), True) for x in xs]
        measured = iter(self.runner.run([c for c, valid in configs if valid], self.tuning_options))
        found = []
        for config, valid in configs:
            result = next(measured) if valid else {**dict(zip(self.searchspace.tune_params, config)), "__error__": ERRORS["InvalidConfig"]()}
            found.append(result)
            if valid and result is not None:
                self.unique_results.setdefault(",".join(map(str, config)), result)
                self.results.append(result)
        budget.raise_exception_if_done()
        self.budget_spent_fraction = budget.get_fraction_consumed()
        if any(result is None for result in found):
            raise StopCriterionReached("not all configs were measured")
        return [self._cost(result) for result in found]

    def _cost(self, result):
        objectives = _listed(self.objective)
        costs = costs_of(result, objectives, _listed(self.objective_higher_is_better))
        if costs is None:
            costs = [self.invalid_return_value] * len(objectives)
        return costs[0] if len(costs) == 1 else costs

    def eval(self, x, check_restrictions=True):
        """Cost of one position."""
        return self.eval_all([x], check_restrictions)[0]

    __call__ = eval

    def get_results(self):
        """Results of all evaluations."""
        return self.results

    def get_num_unique_results(self):
        """Number of different configs."""
        return len(self.unique_results)

    def get_start_pos(self):
        """Where to start: the user's x0, or a random config."""
        return self.get_bounds_x0_eps()[1]

    def get_bounds(self):
        """Lowest and highest value of each parameter; of values that have no order, the first and the last."""
        out = []
        for values in self.searchspace.params_values:
            try:
                out.append((min(values), max(values)))
            except TypeError:
                out.append((values[0], values[-1]))
        return out

    def get_bounds_x0_eps(self):
        """Bounds of the positions, where to start, and the distance of two values."""
        params = self.searchspace.tune_params
        x0 = self.tuning_options["strategy_options"].get("x0")
        if x0 is not None:
            check_x0(x0, params)
        else:
            x0 = self.searchspace.get_random_sample(1)[0]
        if self.scaling:
            eps = min(1.0 / len(values) for values in params.values())
            bounds = [(0, eps * len(values)) for values in params.values()]
            x0 = scale_from_params(x0, params, eps)
        else:
            eps, bounds, x0 = 1, self.get_bounds(), list(x0)
        self.tuning_options["eps"] = eps
        return bounds, x0, eps


def check_x0(x0, params):
    """Refuses a starting point that has not one value for each parameter."""
    if not isinstance(x0, (tuple, list)) or len(x0) != len(params):
        raise AssertionError(f"Invalid x0: {x0}, expected one value for each of the parameters {', '.join(params)}")


def snap_to_nearest_config(x, tune_params):
    """The nearest value of each parameter."""
    out = []
    for position, values in zip(x, tune_params.values()):
        if position in values:
            out.append(values[values.index(position)])
        else:
            out.append(min(values, key=lambda v: abs(v - position)))
    return out


def unscale_and_snap_to_nearest(x, tune_params, eps):
    """Values at scaled positions: value i of a parameter has the part [i, i + 1] · eps."""
    out = []
    for position, values in zip(x, tune_params.values()):
        places = eps * (np.arange(len(values)) + 0.5)
        out.append(values[int(np.abs(places - position).argmin())])
    return out


def scale_from_params(params, tune_params, eps):
    """Scaled positions of values: the middle of their part."""
    return np.array([eps * (values.index(value) + 0.5) for value, values in zip(params, tune_params.values())])


def unscale_and_snap_to_nearest_valid(x, params, searchspace, eps):
    """The valid neighbour of a config that is nearest to a scaled position; empty if there is none."""
    for method in ("strictly-adjacent", "adjacent", "Hamming"):
        near = searchspace.get_neighbors(tuple(params), neighbor_method=method)
        if near:
            at = np.asarray(x, dtype=float)
            return min(near, key=lambda c: float(np.linalg.norm(at - scale_from_params(c, searchspace.tune_params, eps))))
    return []


def setup_method_arguments(method, bounds):
    """Arguments of ``scipy.optimize.minimize`` for a method."""
    return {"bounds": bounds} if method in ("L-BFGS-B", "TNC", "SLSQP") else {}


def setup_method_options(method, tuning_options):
    """Options of ``scipy.optimize.minimize`` for a method."""
    most = tuning_options["strategy_options"].get("maxiter", 100)
    out = {"maxiter": most}
    limits = {"Nelder-Mead": "maxfev", "Powell": "maxfev", "L-BFGS-B": "maxfun"}
    if method in limits:
        out[limits[method]] = most
    if method in ("CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP"):
        out["eps"] = tuning_options["eps"]
    elif method == "COBYLA":
        out["rhobeg"] = tuning_options["eps"]
    if method != "TNC":
        out["disp"] = tuning_options["verbose"]
    return out
