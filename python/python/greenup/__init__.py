"""Time, energy and power of computations: models, measurements, tuning, and three applications.

==================  ===================================================================
`Machine`           a machine's costs; predicts time, energy and power of work
`measure`, `region`  time and energy of a block, a function, a named part of a program
`Space`             parameter spaces: count, index, sample, neighbours
`tune`, `Search`    searches for the best point, of a kernel or of any Python function
==================  ===================================================================

Units are SI: seconds, joules, watts, bytes, flops.
"""

from ._native import (
    FmmError,
    GisaxsError,
    GreenupError,
    HydroError,
    MeterError,
    ModelError,
    SpaceError,
    TuneError,
    __version__,
)

__all__ = [
    "FmmError",
    "GisaxsError",
    "GreenupError",
    "HydroError",
    "MeterError",
    "ModelError",
    "SpaceError",
    "TuneError",
    "__version__",
    "fmm",
    "gisaxs",
    "hydro",
]


def __getattr__(name):
    # They need NumPy, which the commands do without.
    if name in ("fmm", "gisaxs", "hydro"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
