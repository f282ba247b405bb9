"""Restrictions of a search space: strings, functions, and python-constraint's objects."""

import inspect
import itertools
import math
import re

from .expressions import divides_safely, literal, translate
from ..util import evaluate

#: Combinations of values for which a restriction that only Python knows is written out.
TABLE = 4096


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
        return _holds_for(restriction[0], {name: params[name] for name in restriction[1]})
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


def translated(restrictions, tune_params):
    """The restrictions as expressions of a problem file; ``None`` if one of them is none."""
    names = {name: name for name in tune_params}
    out = [as_filter(restriction, tune_params, tune_params, names) for restriction in restrictions]
    return None if None in out else out


def _translated(restriction, tune_params):
    text = translate(restriction, tune_params) if isinstance(restriction, str) else None
    return text if text is not None and divides_safely(text, tune_params) else None


def as_filter(restriction, tune_params, codes, names):
    """A restriction as a filter of a space in which ``codes`` stand for values and ``names`` for parameters; ``None`` if it is none.

    A text is translated. What only Python knows becomes the list of what passes, if it looks at few combinations of values.
    """
    if isinstance(restriction, str) and all(codes[n] == tune_params[n] and names[n] == n for n in _words(restriction) & set(codes)):
        text = _translated(restriction, tune_params)
        if text is not None:
            return text
    try:
        return _tabled(restriction, tune_params, codes, names)
    except Exception:  # noqa: BLE001 - it is asked again where the other restrictions hold, and raises there
        return None


def _words(text):
    return set(re.findall(r"[A-Za-z_]\w*", text))


class _Watched(dict):
    """Parameters that note which of them are looked at."""

    def __init__(self, params):
        super().__init__(params)
        self.seen = set()

    def __getitem__(self, name):
        self.seen.add(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        self.seen.add(name)
        return super().get(name, default)

    def _all(self):
        self.seen.update(super().keys())
        return super()

    def __iter__(self):
        return self._all().__iter__()

    def keys(self):
        return self._all().keys()

    def values(self):
        return self._all().values()

    def items(self):
        return self._all().items()

    def copy(self):
        return dict(self._all().items())


def _looked_at(restriction, params):
    """Whether a config passes, and the parameters that decide it."""
    if isinstance(restriction, str):
        return holds(restriction, params), _words(restriction) & set(params)
    watched = _Watched(params)
    passes = holds(restriction, watched)
    return passes, watched.seen


def _tabled(restriction, tune_params, codes, names):
    """A restriction as the list of all values that pass it; ``None`` if these are too many."""
    first = {name: values[0] for name, values in tune_params.items()}
    read = []
    while True:
        # A function may look at more where it gets further.
        if math.prod(len(tune_params[n]) for n in read) > TABLE:
            return None
        passing, failing, more = [], 0, set()
        for at in itertools.product(*(range(len(tune_params[n])) for n in read)):
            params = {**first, **{n: tune_params[n][i] for n, i in zip(read, at)}}
            passes, seen = _looked_at(restriction, params)
            more = seen - set(read)
            if more:
                break
            if passes:
                passing.append(at)
            else:
                failing += 1
        if not more:
            break
        read += [n for n in tune_params if n in more]
    if not read or not passing:
        return "1 == 1" if passing else "1 == 0"
    if not failing:
        return "1 == 1"
    rows = [[literal(codes[n][i]) for n, i in zip(read, at)] for at in passing]
    if len(read) == 1:
        return f"{names[read[0]]} in [{', '.join(r[0] for r in rows)}]"
    return f"({', '.join(names[n] for n in read)}) in [{', '.join('(' + ', '.join(r) + ')' for r in rows)}]"


def valid_configs(tune_params, restrictions):
    """Every config that meets all restrictions, in the order of the parameters' values: dictionaries."""
    from ..searchspace import Searchspace

    space = Searchspace(tune_params, restrictions, None)
    return [dict(zip(tune_params, config)) for config in space.list]
