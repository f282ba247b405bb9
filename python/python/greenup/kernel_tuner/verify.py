"""Functions that verify outputs in Python."""

import inspect

import numpy as np


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
    """Whether all outputs are close to their answers by ``numpy.allclose``."""
    pairs = [(a, r) for a, r in zip(answer, result) if a is not None]
    return all(np.allclose(np.ravel(a), np.ravel(r), atol=atol) for a, r in pairs)
