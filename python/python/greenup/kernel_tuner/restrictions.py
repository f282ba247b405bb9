"""Restrictions of a search space: strings, functions, and python-constraint's objects."""

import inspect
import itertools

from .expressions import translate
from .util import evaluate

#: Combinations that functions are called for at most.
MOST = 20_000_000


def as_list(restrictions):
    """The restrictions as a list, whatever way they are given."""
    if restrictions is None:
        return []
    if isinstance(restrictions, list):
        return restrictions
    if isinstance(restrictions, tuple) and not (len(restrictions) > 1 and isinstance(restrictions[1], (list, tuple))):
        return list(restrictions)
    return [restrictions]


def holds(restriction, params):
    """Whether a config, a dictionary of its parameters, meets a restriction. A division by zero does not count."""
    try:
        return bool(_holds(restriction, params))
    except ZeroDivisionError:
        return True


def _holds(restriction, params):
    if isinstance(restriction, str):
        return evaluate(restriction, {k: repr(v) if isinstance(v, str) else v for k, v in params.items()})
    if isinstance(restriction, tuple) and len(restriction) >= 2:
        own = {name: params[name] for name in restriction[1]}
        return _holds_for(restriction[0], own)
    return _holds_for(restriction, params)


def _holds_for(restriction, params):
    if _is_constraint(restriction):
        function = getattr(restriction, "_func", None)
        if function is not None:
            return function(*params.values())
        names = list(params)
        return restriction(names, {name: [value] for name, value in params.items()}, dict(params))
    if callable(restriction):
        return _call(restriction, params)
    raise ValueError(f"Unknown restriction type {type(restriction)} ({restriction})")


def _is_constraint(restriction):
    return any(c.__name__ == "Constraint" for c in type(restriction).__mro__)


def _call(function, params):
    """Functions take the dictionary, or the parameters by their names."""
    try:
        names = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    except (TypeError, ValueError):
        names = []
    by_name = names and all(p.name in params for p in names) or any(p.kind is p.VAR_KEYWORD for p in names)
    if by_name and not any(p.kind is p.VAR_KEYWORD for p in names):
        return function(**{p.name: params[p.name] for p in names})
    return function(**params) if by_name else function(params)


def translated(restrictions, names):
    """The restrictions as expressions of a problem file; ``None`` if one of them is none."""
    out = []
    for restriction in restrictions:
        text = translate(restriction, names) if isinstance(restriction, str) else None
        if text is None:
            return None
        out.append(text)
    return out


def valid_configs(tune_params, restrictions, most=MOST):
    """Every config that meets all restrictions, in the order of the parameters' values."""
    names = list(tune_params)
    total = 1
    for values in tune_params.values():
        total *= len(values)
    if total > most:
        raise ValueError(
            f"the space has {total} combinations: functions cannot be asked for more than {most} of them. "
            "Write the restrictions, the problem size and the grid divisors as strings"
        )
    out = []
    for values in itertools.product(*tune_params.values()):
        params = dict(zip(names, values))
        if all(holds(r, params) for r in restrictions):
            out.append(params)
    return out
