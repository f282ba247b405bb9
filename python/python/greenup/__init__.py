"""Time, energy and power of computations: models, measurements, tuning.

======================  ========================================================================
`Machine`, `machines`   a machine's costs; time, energy and power of work on it
`measure`, `region`     time and energy of a block, of a function, of a named part of a program
`Space`                 a parameter space: count, index, sample, neighbours
`tune`, `Search`        searches for the best point, of a kernel or of any Python function
`Sweep`                 the trials of a search: data frame, analysis, replay
`gisaxs`                X-ray scattering: images, form factors, reflectivity, fits (needs NumPy)
`fmm`                   the fast multipole method: potentials and forces of points (needs NumPy)
`hydro`                 Lagrangian hydrodynamics that is stepped (needs NumPy)
`kernel_tuner`          Kernel Tuner's interface
======================  ========================================================================

Units are SI: seconds, joules, watts, bytes, flops. Errors of the package are subclasses of `GreenupError`, with the fix as
``hint``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._meter import Measure, Measurement, Measured, measure, region
from ._native import (
    Best,
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

if TYPE_CHECKING:
    from types import ModuleType

    from . import fmm as fmm
    from . import gisaxs as gisaxs
    from . import hydro as hydro
    from . import kernel_tuner as kernel_tuner

__all__ = [
    "Best",
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
    "machines",
    "measure",
    "operations",
    "region",
    "strategies",
    "tune",
]


# Loaded when they are first used: they need NumPy, which the rest does without.
_MODULES = ("fmm", "gisaxs", "hydro", "kernel_tuner")


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
