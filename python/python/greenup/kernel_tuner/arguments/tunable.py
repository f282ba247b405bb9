"""Arguments and answers that depend on the config: the configs that get the same ones are measured together."""

import copy
from pathlib import Path

from ..project import key_of
from ..restrictions import valid_configs
from .values import to_numpy


def is_tunable(value):
    """Whether something is a `accuracy.Tunable`, or selects as one does."""
    return hasattr(value, "select_for_configuration")


def chosen(values, params):
    """The values for a config."""
    return [v.select_for_configuration(params) if is_tunable(v) else v for v in values]


def parts(folder, kernel, answer, tune_params, limits, search):
    """Folder, kernel, answer and restrictions of each part of a space in which all configs get the same arguments."""
    if not any(map(is_tunable, [*kernel.given, answer])):
        yield Path(folder), kernel, answer, limits
        return
    if search.name != "exhaustive" or search.time_limit is not None:
        raise NotImplementedError("arguments: with Tunable arguments all configs are measured: use brute_force, without time_limit")
    found = {}
    for config in valid_configs(tune_params, limits):
        picked = chosen([*kernel.given, answer], config)
        found.setdefault(tuple(map(id, picked)), (picked, set()))[1].add(key_of(config))
    for i, (picked, keys) in enumerate(found.values()):
        own = copy.copy(kernel)
        own.arguments = [to_numpy(a, n) for n, a in enumerate(picked[:-1])]
        place = Path(folder) / f"part{i}"
        place.mkdir()
        yield place, own, picked[-1], [*limits, lambda p, keys=keys: key_of({k: p[k] for k in tune_params}) in keys]
