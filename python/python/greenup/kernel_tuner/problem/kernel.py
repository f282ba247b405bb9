"""A kernel: its code, arguments, grid and compiler, as the caller names them."""

import shutil

from ..arguments import to_numpy
from ..arguments.signature import check_argument_list, check_time_returned
from ..util import block_names, replace_param_occurrences
from . import source

#: Threads of a block at most, of CUDA.
MAX_THREADS = 1024


class Kernel:
    """What is tuned or run: arguments that ``tune_kernel`` and ``run_kernel`` share; ``params`` are the parameters by their names."""

    def __init__(
        self, kernel_name, kernel_source, problem_size, arguments, divisors, params, *, lang, defines, block_size_names,
        smem_args, cmem_args, texmem_args, compiler, compiler_options, platform=0,
    ):  # fmt: skip
        _refuse_clocks(params)
        self.source = source.KernelSource(kernel_name, kernel_source, lang, defines, compiler)
        #: The arguments as they are given, and those of a config as NumPy's: none until a Tunable has selected.
        self.given = arguments = list(() if arguments is None else arguments)
        # Types of templates are those of the instance, and Fortran declares its own after the list.
        if not self.source.generated and self.source.language != "FORTRAN" and "<" not in kernel_name:
            types = {k: v for k, v in params.items() if isinstance(v, str)}
            check_argument_list(kernel_name, replace_param_occurrences(self.source.text(None), types), arguments)
        self.problem_size = problem_size
        self.platform = platform or 0
        tunable = any(hasattr(a, "select_for_configuration") for a in arguments)
        self.arguments = [] if tunable else [to_numpy(a, i) for i, a in enumerate(arguments)]
        self.divisors = divisors
        self.names = block_names(block_size_names, params)
        #: Threads of a block at most.
        self.max_threads = MAX_THREADS
        self.smem_args = smem_args
        self.cmem_args = cmem_args or {}
        self.compiler = compiler or {"FORTRAN": "gfortran"}.get(self.source.language)
        self.compiler_options = list(compiler_options or [])
        if not self.on_gpu and shutil.which(used := self.compiler or "g++") is None:
            raise RuntimeError(f"the compiler {used} is not found: install it, or name another as compiler=")
        if texmem_args:
            raise NotImplementedError("texmem_args: texture references do not exist since CUDA 12; use texture objects or plain loads")
        if self.cmem_args and self.source.language != "CUDA":
            raise NotImplementedError(f"cmem_args: only CUDA kernels have constant memory that is copied to, not lang={lang!r}")

    def check_time(self):
        """Warns where the kernel's time is taken from what its function returns, and that is no time."""
        if self.source.language == "C" and not self.source.generated:
            check_time_returned(self.source.name, self.source.text(None))

    @property
    def on_gpu(self):
        """Whether it runs on a GPU, or another device of OpenCL, by itself, and not from host code."""
        return self.source.language in ("CUDA", "OPENCL")

    def target(self, device):
        """The device as the tuner takes it; ``None`` for the host."""
        if self.source.language == "OPENCL":
            return f"opencl:{self.platform}.{device}"
        return f"cuda:{device}" if self.on_gpu else None


def _refuse_clocks(params):
    """Refuses the parameters by which Kernel Tuner sets clocks and powers; as macros they would change nothing."""
    for name in params:
        if name.startswith("nvml_") or name in ("tegra_gr_clock", "cuda_sm_percentage"):
            raise NotImplementedError(
                f"tune_params: {name}: this tuner never sets clocks, power limits or shares of a GPU, which all of its users share. Set "
                "them outside, and tune once for each; `greenup calibrate` and `greenup fit` model energy over clocks"
            )
