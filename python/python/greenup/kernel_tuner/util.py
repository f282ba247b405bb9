"""Helpers of Kernel Tuner's ``util`` module that scripts use: errors of configs, strings, expressions of parameters."""

import contextlib
import json
import math
import os
import re

import numpy as np

from .arguments.signature import check_argument_list  # noqa: F401 - of this module in Kernel Tuner
from .budget import StopCriterionReached, TuningBudget  # noqa: F401 - Kernel Tuner has them here

default_block_size_names = ("block_size_x", "block_size_y", "block_size_z")


class ErrorConfig(str):
    """What a result holds under ``__error__`` where a config has no measurement."""

    def __str__(self):
        return type(self).__name__

    def __repr__(self):
        return type(self).__name__


class InvalidConfig(ErrorConfig):
    """The config breaks a restriction or has too many threads in a block."""


class CompilationFailedConfig(ErrorConfig):
    """The config needs more than the device has, as the compiler says."""


class RuntimeFailedConfig(ErrorConfig):
    """The config cannot be launched, crashed, or did not end in time."""


ERRORS = {c.__name__: c for c in (ErrorConfig, InvalidConfig, CompilationFailedConfig, RuntimeFailedConfig)}


class CompileError(RuntimeError):
    """The compiler rejects a config for a reason other than the device's resources."""


def is_measured(value):
    """Whether a value of a result is a number; NaN and infinities are missing values."""
    return isinstance(value, (int, float, np.integer, np.floating)) and math.isfinite(value)


def _standard(value):
    """A value as JSON has it: NaN and infinities, which JSON does not have, are null."""
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return _standard(value.tolist())
    if isinstance(value, dict):
        return {k: _standard(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_standard(v) for v in value]
    return value


class NpEncoder(json.JSONEncoder):
    """JSON of NumPy's numbers and arrays; NaN and infinities are null."""

    def iterencode(self, o, _one_shot=False):
        return super().iterencode(_standard(o), _one_shot)

    def encode(self, o):
        return super().encode(_standard(o))

    def default(self, o):
        if isinstance(o, np.integer):
            return int(o)
        if isinstance(o, np.floating):
            return float(o)
        if isinstance(o, np.bool_):
            return bool(o)
        if isinstance(o, np.ndarray):
            return o.tolist()
        return super().default(o)


#: Whether a larger value is better, for the objectives that need no word on it.
HIGHER_IS_BETTER = {
    "time": False,
    "energy": False,
    "fitness": True,
    "cost": False,
    "loss": False,
    "GFLOP/s": True,
    "TFLOP/s": True,
    "GB/s": True,
    "TB/s": True,
    "GFLOPS/W": True,
    "TFLOPS/W": True,
    "GFLOP/J": True,
    "TFLOP/J": True,
}


def get_objective_defaults(objective, objective_higher_is_better):
    """The objective, ``"time"`` by default, and whether a larger value is better."""
    objective = objective or "time"
    if objective_higher_is_better is None:
        if isinstance(objective, list):
            objective_higher_is_better = [get_objective_defaults(o, None)[1] for o in objective]
        elif objective in HIGHER_IS_BETTER:
            objective_higher_is_better = HIGHER_IS_BETTER[objective]
        else:
            raise ValueError(f"Please specify objective_higher_is_better for objective {objective}")
    return objective, objective_higher_is_better


def get_best_config(results, objective, objective_higher_is_better=False):
    """The result with the best objective; ``None`` if no config has one."""
    valid = [r for r in results if "__error__" not in r and is_measured(r.get(objective))]
    return (max if objective_higher_is_better else min)(valid, key=lambda r: r[objective], default=None)


def get_pareto_results(results, objectives, objective_higher_is_better, mark_optima=True):
    """The results that no other one beats in all objectives; they get ``optimal``."""
    signs = [-1 if up else 1 for up in objective_higher_is_better]
    valid = [r for r in results if "__error__" not in r and all(is_measured(r.get(o)) for o in objectives)]
    costs = [[s * r[o] for s, o in zip(signs, objectives)] for r in valid]

    def beaten(own):
        return any(all(x <= y for x, y in zip(c, own)) and c != own for c in costs)

    front = [r for r, own in zip(valid, costs) if not beaten(own)]
    if mark_optima:
        for r in front:
            r["optimal"] = True
    return front


def get_config_string(params, keys=None, units=None):
    """``name=value, …`` of a result: numbers with three decimals, and their units."""
    keys = keys or params.keys()
    out = []
    for name, value in params.items():
        if name in keys:
            text = f"{round(value, 3):.3f}" if isinstance(value, float) else str(value)
            unit = "" if isinstance(value, ErrorConfig) else (units or {}).get(name, "")
            out.append(f"{name}={text}{unit}")
    return ", ".join(out)


def get_instance_string(params):
    """Values of a config joined by ``_``."""
    return "_".join(str(v) for v in params.values())


def replace_param_occurrences(string, params):
    """Puts the values of parameters in place of their names."""
    words = re.split("([a-zA-Z0-9_]+)", string)
    return "".join(str(params[w]) if w in params else w for w in words)


#: What expressions may use besides Python's own functions.
_KNOWN = {"np": np, "numpy": np, "math": math, **{n: getattr(math, n) for n in ("ceil", "floor", "sqrt", "log", "log2", "exp", "gcd")}}


def evaluate(expression, params):
    """Value of a Python expression of parameters, as Kernel Tuner evaluates it."""
    # The expressions are part of the caller's own script.
    return eval(replace_param_occurrences(expression, params), dict(_KNOWN))  # noqa: S307


def process_metrics(params, metrics):
    """Adds metrics to a result, in order, so that one may use those before it; returns the result."""
    if metrics is None:
        return params
    if not isinstance(metrics, dict):
        raise ValueError("metrics should be a dictionary to preserve order and support composability")
    for name, metric in metrics.items():
        if isinstance(metric, str):
            params[name] = evaluate(metric, params)
        elif callable(metric):
            params[name] = metric(params)
        else:
            raise ValueError("metric dicts values should be strings or callable")
    return params


def check_names(tune_params, block_size_names):
    """Refuses names that cannot be parameters."""
    if not isinstance(tune_params, dict) or not tune_params:
        raise ValueError("tune_params must be a dictionary of lists, with at least one parameter")
    for name, values in tune_params.items():
        if name in ("grid_size_x", "grid_size_y", "grid_size_z", "time"):
            raise ValueError(f"Tune parameter {name} with value {values} has a forbidden name!")
        if not str(name).isidentifier():
            raise ValueError(f"name is not a valid identifier: {name}")
        if len(list(values)) == 0:
            raise ValueError(f"Tune parameter {name} has no values")
    if block_size_names is not None:
        if not isinstance(block_size_names, list):
            raise ValueError("block_size_names should be a list of strings!")
        if len(block_size_names) > 3:
            raise ValueError("block_size_names should not contain more than 3 names!")
        if not all(isinstance(name, str) for name in block_size_names):
            raise ValueError("block_size_names should contain only strings!")


def block_names(block_size_names, tune_params):
    """The three names of the block's dimensions: those given, or the defaults in whatever case the parameters have."""
    names = list(block_size_names or [])
    if not names:
        own = {k.lower(): k for k in tune_params}
        names = [own.get(n, n) for n in default_block_size_names]
    return names + list(default_block_size_names[len(names) :])


def delete_temp_file(filename):
    """Removes a file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(filename)
