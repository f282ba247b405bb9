"""Arguments that depend on a parameter, and the errors of outputs as results."""

import re
from collections import UserDict

import numpy as np

from .observers import OutputObserver


class Tunable(UserDict):
    """An argument for each value of a parameter.

    ``param_key`` is a parameter, an expression of parameters, or a function of the config; ``arrays`` the arguments by its values (a
    list: by position). An argument may be a Tunable itself.
    """

    def __init__(self, param_key, arrays):
        super().__init__(arrays if hasattr(arrays, "items") else dict(enumerate(arrays)))
        self.param_key = param_key

    def select_for_configuration(self, params):
        """The argument of a config."""
        key = self.param_key
        if callable(key):
            value = key(params)
        else:
            # An expression is part of the caller's own script.
            value = params[key] if key in params else eval(key, dict(params))  # noqa: S307
        if value not in self.data:
            raise KeyError(f"'{value}' is not a valid parameter value, should be one of: {', '.join(map(str, self.data))}")
        found = self.data[value]
        return found(params) if isinstance(found, Tunable) else found

    __call__ = select_for_configuration


def _bfloat16():
    """The type, if NumPy or the package `ml_dtypes` has it."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(ml_dtypes.bfloat16)


_FLOATS = {
    np.float16: ("half", "f16", "float16", "__half", "khalf", 16),
    np.float32: ("float", "single", "f32", "float32", "kfloat", 32),
    np.float64: ("double", "f64", "float64", "kdouble", 64),
}
_BFLOATS = ("bfloat16", "bf16", "kbfloat16", "__nv_bfloat16")


def _to_float_dtype(name):
    """NumPy's type of a name of C, CUDA, Rust or Kokkos."""
    name = name.lower() if isinstance(name, str) else name
    if name in _BFLOATS and (found := _bfloat16()) is not None:
        return found
    return next((kind for kind, names in _FLOATS.items() if name in names), None) or np.dtype(name)


class TunablePrecision(Tunable):
    """An array, or a scalar of NumPy, in the type that a parameter names.

    ``dtypes``: types by the parameter's values, or a list of names; by default ``half``, ``float``, ``double`` and, where the package
    `ml_dtypes` is installed, ``bfloat16``.
    """

    def __init__(self, param_key, array, dtypes=None):
        if not dtypes:
            dtypes = {"half": np.float16, "float": np.float32, "double": np.float64}
            if (bfloat16 := _bfloat16()) is not None:
                dtypes["bfloat16"] = bfloat16
        elif not hasattr(dtypes, "items"):
            dtypes = {name: _to_float_dtype(name) for name in dtypes}
        values = array if isinstance(array, np.generic) else np.asarray(array)
        super().__init__(param_key, {name: values.astype(dtype) for name, dtype in dtypes.items()})


def _of_values(transform, summary):
    """A metric: a summary of the transformed values and their references."""
    return lambda eps: lambda a, b: summary(transform(a, b, eps))


def _difference(a, b, eps):  # noqa: ARG001
    return np.abs(a - b)


def _relative(a, b, eps):
    return np.abs(a - b) / np.maximum(np.abs(a), eps)


def _logarithmic(a, b, eps):
    return np.abs(np.log10(a + eps) - np.log10(b + eps))


def _squared(values):
    return np.mean(np.square(values))


def _root(values):
    return np.sqrt(_squared(values))


def _normalized(eps):  # noqa: ARG001
    return lambda a, b: np.sqrt(_squared(a - b) / _squared(a))


_METRICS = {
    ("mse", "mean squared"): _of_values(_difference, _squared),
    ("rmse", "root mean squared"): _of_values(_difference, _root),
    ("nrmse", "normalized root mean squared"): _normalized,
    ("mae", "absolute", "mean absolute"): _of_values(_difference, np.mean),
    ("mre", "relative", "mean relative"): _of_values(_relative, np.mean),
    ("rmsre", "root mean squared relative"): _of_values(_relative, _root),
    ("male", "mean absolute logarithmic"): _of_values(_logarithmic, np.mean),
    ("rmsle", "root mean squared logarithmic"): _of_values(_logarithmic, _root),
    ("maximum", "maximum absolute"): _of_values(_difference, np.max),
    ("maximum relative",): _of_values(_relative, np.max),
}
#: Words of metrics' names that mean the same.
_WORDS = {
    "average": "mean", "avg": "mean", "square": "squared", "sq": "squared", "max": "maximum", "rel": "relative",
    "abs": "absolute", "log": "logarithmic", "error": "",
}  # fmt: skip


def error_metric_from_name(user_key, EPS=1e-8):  # noqa: N803 - Kernel Tuner's name
    """A function of the right and the found array, by its name, such as ``"rmse"``, ``"max abs"`` or ``"mean relative error"``.

    ``EPS`` bounds what relative errors divide by, and is added before logarithms.
    """
    words = [_WORDS.get(w, w) for w in re.split(r"[\s_-]+", user_key.lower())]
    name = " ".join(w for w in words if w)
    found = next((metric for names, metric in _METRICS.items() if name in names), None)
    if found is None:
        known = ", ".join(names[-1] for names in _METRICS)
        raise ValueError(f"invalid error metric provided: {user_key}; known are {known}")
    metric = found(EPS)
    return lambda a, b: metric(a.astype(np.float64, copy=False), b.astype(np.float64, copy=False))


class AccuracyObserver(OutputObserver):
    """Adds the largest error of the outputs that have an answer, as ``key``; ``metric`` is a name or a function of two arrays."""

    def __init__(self, metric=None, key="error", *, atol=1e-8):
        self.metric = metric if callable(metric) else error_metric_from_name(metric or "rmse", atol)
        self.key = key
        self.result = None

    def process_output(self, answers, outputs):
        self.result = max(self.metric(a, o) for a, o in zip(answers, outputs) if a is not None)

    def get_results(self):
        return {self.key: self.result}
