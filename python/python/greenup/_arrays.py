"""Arrays that the native module takes: checked, contiguous, double precision."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import ArrayLike, NDArray


def to_json(value: object, name: str) -> str:
    """JSON text of settings, with NumPy's numbers as Python's."""

    def plain(x: object) -> object:
        if isinstance(x, np.generic):
            return x.item()
        if isinstance(x, np.ndarray):
            return x.tolist()
        raise TypeError(f"{name} has a value of type {type(x).__name__}, which is neither text nor number: {x!r}")

    try:
        return json.dumps(value, allow_nan=False, default=plain)
    except ValueError as e:
        raise ValueError(f"{name} has a number that is not finite, or contains itself") from e


def real(values: ArrayLike, name: str, dimensions: int | None = None) -> NDArray[np.float64]:
    """Finite real numbers, as doubles."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be real numbers, not {array.dtype}")
    if dimensions is not None and array.ndim != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimension{'s' * (dimensions > 1)}, not shape {array.shape}")
    # Long doubles may overflow: they are refused below.
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has values that are not finite")
    return array


def points(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Positions, of shape (n, 3)."""
    array = real(values, name)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} must have shape (n, 3), not {array.shape}")
    return array
