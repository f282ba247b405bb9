"""Functions that verify outputs in Python."""

import inspect

import numpy as np

from .arguments import has_nan


def normalized(function):
    """The function with an argument ``atol``, whether or not it takes one."""
    try:
        takes = "atol" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        takes = False
    if takes:
        return function
    return lambda answer, result, atol=None: function(answer, result)  # noqa: ARG005


def with_allclose(answer, result, atol):
    """Whether all outputs are close to their answers by ``numpy.allclose``; NaN is right where the answer has it."""
    pairs = [(np.ravel(a), np.ravel(r)) for a, r in zip(answer, result) if a is not None]
    return all(np.array_equal(a, r) if a.dtype.kind == "V" else np.allclose(a, r, atol=atol, equal_nan=has_nan(a)) for a, r in pairs)
