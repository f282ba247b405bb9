"""Observers that this package does not have: their modules can be imported, and their classes say what to use instead."""

import sys
import types

_METER = "the meter of `greenup tune` measures power and energy: use observers.nvml.NVMLObserver for an NVIDIA GPU, or `greenup tune`"
_CLOCKS = "this tuner never sets clocks or power limits, which are shared by all who use a device"
_OWN = "the tuner measures times itself; nothing needs to be observed for them"
#: Names of modules, of what they hold, and why it is not here.
_ABSENT = {
    "amd": {"AMDSMIObserver": _METER, "AMDSMIContinuousObserver": _METER},
    "ncu": {
        "NCUObserver": "kernels run in a worker process, which Nsight Compute's library cannot be called in: "
        "`greenup profile` reads counters",
    },
    "pmt": {"PMTObserver": _METER, "PMTContinuousObserver": _METER},
    "powersensor": {"PowerSensorObserver": f"{_METER} with --sensor"},
    "tegra": {"TegraObserver": _METER, "get_tegra_gr_clocks": _CLOCKS, "tegra": _CLOCKS},
    "compiler": {"CompilerRuntimeObserver": _OWN},
    "cupy": {"CupyRuntimeObserver": _OWN},
    "hip": {"HipRuntimeObserver": "HIP kernels are not supported"},
    "julia": {"JuliaRuntimeObserver": "Julia kernels are not supported"},
    "nvcuda": {"CudaRuntimeObserver": _OWN},
    "opencl": {"OpenCLObserver": _OWN},
    "pycuda": {"PyCudaRuntimeObserver": _OWN},
}


def refusal(name, reason):
    """Something with a name whose every call raises NotImplementedError with the reason."""

    def refuse(*_, **__):
        raise NotImplementedError(f"{name}: {reason}")

    return refuse


def named(name, reason):
    """A class or function that refuses; a class, so that scripts may ask whether something is an instance of it, or derive from it."""
    if not name[0].isupper():
        return refusal(name, reason)
    return type(name, (), {"__init__": refusal(name, reason), "__doc__": f"Not available: {reason}."})


def register(package):
    """Makes the modules known to Python's import."""
    for module, names in _ABSENT.items():
        made = types.ModuleType(f"{package}.{module}", "Observers that are not available; their constructors say why.")
        for name, reason in names.items():
            setattr(made, name, named(name, reason))
        sys.modules[made.__name__] = made
        setattr(sys.modules[package], module, made)
