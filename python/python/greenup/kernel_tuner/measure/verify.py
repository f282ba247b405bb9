"""How outputs are verified: by the tuner, by functions of Python, or by observers."""

import inspect
import warnings

import numpy as np

from ..arguments import check_answer, compared_by_tuner, has_nan, to_numpy


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


class Answers:
    """How results are verified: by the tuner, or by a function that looks at the outputs."""

    def __init__(self, arguments, answer, atol, verify, observed=None):
        self.answer, self.outputs, self.look, self.atol = None, (), None, atol
        if answer is not None:
            answer = [None if a is None else to_numpy(a, i) for i, a in enumerate(answer)]
            if verify is None:
                check_answer(arguments, answer)
            elif len(answer) != len(arguments):
                raise TypeError("The length of argument list and provided results do not match.")
        arrays = [i for i, a in enumerate(arguments) if isinstance(a, np.ndarray)]
        shown = observed is not None and bool(observed.outputs)
        if verify is None and answer is None and not shown:
            return
        wanted = [i for i in arrays if answer is None or answer[i] is not None]
        if verify is None and not shown and all(compared_by_tuner(arguments[i], answer[i]) for i in wanted):
            self.answer = [a if i in wanted else None for i, a in enumerate(answer)]
            return
        for i in wanted:
            if verify is None and not shown and has_nan(answer[i]):
                count = int(np.isnan(answer[i]).sum())
                warnings.warn(
                    f"Answer contains {count} NaNs. NaN values will now be considered equal in comparison.", UserWarning, stacklevel=3
                )
        function = normalized(verify) if verify is not None else with_allclose
        self.outputs = wanted

        def look(found, key, params_of):
            result = [found.get(i) for i in range(len(arguments))]
            if shown:
                observed.see_output(key, params_of(key), answer, result)
                if verify is None:
                    return True
            return function(answer, result, atol=atol)

        self.look = look
