"""Time, energy and power of computations: models, measurements, tuning.

======================  ========================================================================
`Machine`, `machines`   a machine's costs; time, energy and power of work on it
`measure`, `region`     time and energy of a block, of a function, of a named part of a program
`Space`                 a parameter space: count, index, sample, neighbours
`tune`, `Search`        searches for the best point, of a kernel or of any Python function
`Sweep`                 the trials of a search: data frame, analysis, replay
`kernel_tuner`          a module: Kernel Tuner's interface
======================  ========================================================================

Units are SI: seconds, joules, watts, bytes, flops. Errors of the package are subclasses of `GreenupError`, with the fix as
``hint``.
"""

from ._meter import Measure, Measurement, Measured, measure, region
from ._native import (
    GreenupError,
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
    "GreenupError",
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
