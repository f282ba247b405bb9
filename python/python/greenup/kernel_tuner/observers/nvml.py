"""Power, energy, clocks and temperature of a GPU, by Greenup's meter: the names are those of Kernel Tuner's NVMLObserver."""

import warnings

from .absent import refusal
from .observer import BenchmarkObserver

#: Quantities, and the values of a trial that hold them.
_OF_TRIAL = {
    "nvml_energy": lambda trial: trial["measured"].get("energy_j"),
    "nvml_power": lambda trial: trial.get("metrics", {}).get("power_w"),
    "core_freq": lambda trial: trial.get("metrics", {}).get("clock_mhz"),
    "mem_freq": lambda trial: trial.get("metrics", {}).get("memory_clock_mhz"),
    "temperature": lambda trial: trial.get("metrics", {}).get("temperature_c"),
}
_ABSENT = {
    "power_readings": "the meter reads an energy counter at its ticks: there is no list of single powers. Use nvml_power",
    "gr_voltage": "the meter reads no voltages",
}
_SHARED = "this tuner never sets clocks or power limits, which are shared by all who use a GPU"


class NVMLObserver(BenchmarkObserver):
    """Adds quantities of a GPU to each result, measured by the tuner over the measured runs.

    ``nvml_energy`` (J of a run), ``nvml_power`` (W), ``core_freq`` and ``mem_freq`` (MHz), ``temperature`` (°C). A config is then
    measured for as long as the sensor needs, or for ``continuous_duration`` seconds where that is given and longer.
    """

    def __init__(
        self, observables, device=None, save_all=False, nvidia_smi_fallback=None, use_locked_clocks=False, continuous_duration=None
    ):  # fmt: skip
        for name in observables:
            if name not in _OF_TRIAL and name not in _ABSENT:
                raise ValueError(f"Observable {name} not in supported: {[*_OF_TRIAL]}")
            if name in _ABSENT:
                raise NotImplementedError(f"NVMLObserver: {name}: {_ABSENT[name]}")
        given = {"nvidia_smi_fallback": nvidia_smi_fallback, "use_locked_clocks": use_locked_clocks}
        for name, value in given.items():
            if value:
                warnings.warn(f"NVMLObserver: {name} has no effect: {_SHARED}", UserWarning, stacklevel=2)
        if save_all:
            raise NotImplementedError("NVMLObserver: save_all: the meter gives one value of each quantity for a config")
        self.observables = list(observables)
        self.device = device
        #: How long a config is measured at least, s.
        self.duration = 0.0 if continuous_duration is None else continuous_duration

    def of_trial(self, trial):
        """The quantities of a trial of the tuner; raises RuntimeError if the device's sensor does not measure one."""
        found = {name: _OF_TRIAL[name](trial) for name in self.observables}
        missing = [name for name, value in found.items() if value is None]
        if missing:
            raise RuntimeError(
                f"NVMLObserver: {', '.join(missing)} not measured: `greenup doctor` shows the sensors of the GPU and what they lack"
            )
        return found

    def get_results(self):
        """Nothing: the values come from the trial."""
        return {}


get_nvml_gr_clocks = refusal("get_nvml_gr_clocks", _SHARED)
get_nvml_mem_clocks = refusal("get_nvml_mem_clocks", _SHARED)
get_nvml_pwr_limits = refusal("get_nvml_pwr_limits", _SHARED)
get_idle_power = refusal("get_idle_power", "`greenup doctor` reads a GPU's power")
nvml = refusal("nvml", f"{_SHARED}; `greenup doctor` reads them")
