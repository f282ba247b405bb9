"""A kernel with its config as a function of Python."""

import numpy as np

from .integration import TuneResults
from .interface import run_kernel
from .problem.device import Facts
from .problem.kernel import Kernel


class PythonKernel:
    """A kernel that is called with its arguments; the arrays marked in ``outputs`` are returned, in a list.

    An argument that is not marked in ``inputs`` keeps what the last call left in it, at first its value in ``arguments``. By
    default all are both. With ``results_file``, of `store_results`, the params are those that are best for the device.

    Every call starts a process and copies all arguments: it is for tests and scripts, not for inner loops. Code is compiled once.
    """

    def __init__(
        self, kernel_name, kernel_string, problem_size, arguments, params=None, inputs=None, outputs=None, device=0, platform=0,
        block_size_names=None, grid_div_x=None, grid_div_y=None, grid_div_z=None, verbose=True, lang=None, results_file=None,
    ):  # fmt: skip
        grid = {"grid_div_x": grid_div_x, "grid_div_y": grid_div_y, "grid_div_z": grid_div_z}
        self.params = dict(params or {})
        # Refuses wrong arguments, and a device that is not there, before the first call.
        kernel = Kernel(
            kernel_name, kernel_string, problem_size, arguments, tuple(grid.values()), self.params, lang=lang, defines=None,
            block_size_names=block_size_names, smem_args=None, cmem_args=None, texmem_args=None, compiler=None,
            compiler_options=None, platform=platform,
        )  # fmt: skip
        name = Facts(kernel, device).env["device_name"]
        if results_file:
            best = TuneResults(results_file).get_best_config(name, problem_size)
            self.params.update(best.get("tunable_parameters", best))
        self.verbose = verbose
        self.inputs, self.outputs = (list(marked) if marked else [True] * len(arguments) for marked in (inputs, outputs))
        self._held = list(arguments)
        self._call = (kernel_name, kernel_string, problem_size)
        self._options = {
            **grid, "lang": lang, "device": device, "platform": platform, "block_size_names": block_size_names, "quiet": True,
        }  # fmt: skip

    def run_kernel(self, args):
        """The outputs of a run with ``args``, a list."""
        if len(args) != len(self._held):
            raise TypeError(f"the kernel has {len(self._held)} arguments, and {len(args)} are given")
        given = [a if used else held for a, used, held in zip(args, self.inputs, self._held)]
        self._held = run_kernel(*self._call, given, self.params, **self._options)
        return [a for a, wanted in zip(self._held, self.outputs) if wanted and isinstance(a, np.ndarray)]

    def __call__(self, *args):
        """The outputs of a run with the arguments."""
        return self.run_kernel(args)
