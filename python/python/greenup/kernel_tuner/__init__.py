"""Kernel Tuner's interface on Greenup's tuner, for C, C++, Fortran, CUDA and OpenCL kernels.

In a script for Kernel Tuner only the import changes::

    from greenup import kernel_tuner                  # was: import kernel_tuner
    from greenup.kernel_tuner import tune_kernel      # was: from kernel_tuner import tune_kernel

The program ``greenup`` of the package does the work, or the one that ``$GREENUP_BIN`` names.
"""

from . import internal
from .integration import create_device_targets, store_results
from .interface import run_kernel, tune_cache, tune_kernel, tune_kernel_T1

#: Version of Kernel Tuner whose interface this is.
__version__ = "1.5.0"

internal.register()

__all__ = ["create_device_targets", "run_kernel", "store_results", "tune_cache", "tune_kernel", "tune_kernel_T1", "__version__"]
