"""Time, energy and power of computations: models, measurements, tuning, and three applications.

======================  ========================================================================
`Machine`, `machines`   a machine's costs; time, energy and power of work on it
`measure`, `region`     time and energy of a block, of a function, of a named part of a program
`Space`                 a parameter space: count, index, sample, neighbours
`tune`, `Search`        searches for the best point, of a kernel or of any Python function
`Sweep`                 the trials of a search: data frame, analysis, replay
`gisaxs`, `fmm`,        the applications, each a module
`hydro`
======================  ========================================================================

Units are SI: seconds, joules, watts, bytes, flops. What goes wrong raises a `GreenupError`; its ``hint`` tells the fix.
"""

from ._meter import Measure, Measurement, Measured, measure, region
from ._native import (
    FmmError,
    GisaxsError,
    GreenupError,
    HydroError,
    Machine,
    MeterError,
    ModelError,
    Search,
    Space,
    SpaceError,
    TuneError,
    __version__,
    machines,
    operations,
    strategies,
)
from ._tune import Result, Sweep, tune

__all__ = [
    "FmmError",
    "GisaxsError",
    "GreenupError",
    "HydroError",
    "Machine",
    "Measure",
    "Measured",
    "Measurement",
    "MeterError",
    "ModelError",
    "Result",
    "Search",
    "Space",
    "SpaceError",
    "Sweep",
    "TuneError",
    "__version__",
    "fmm",
    "gisaxs",
    "hydro",
    "machines",
    "measure",
    "operations",
    "region",
    "strategies",
    "tune",
]


def __getattr__(name):
    # They need NumPy, which the commands do without.
    if name in ("fmm", "gisaxs", "hydro"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
