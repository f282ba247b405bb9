"""Arrays that the native module takes: checked, contiguous, double precision."""

import numpy as np


def real(values, name, dimensions=None):
    """Finite real numbers, as doubles."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be real numbers, not {array.dtype}")
    if dimensions is not None and array.ndim != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimension{'s' * (dimensions > 1)}, not shape {array.shape}")
    array = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has values that are not finite")
    return array


def points(values, name):
    """Positions, of shape (n, 3)."""
    array = real(values, name)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} must have shape (n, 3), not {array.shape}")
    return array
