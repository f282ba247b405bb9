"""Results and metadata in the T4 format of the auto-tuning community."""

import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path

from .files import schemas
from .files.t1 import get_input_file  # noqa: F401 - of this module in Kernel Tuner
from .problem.device import processor
from .util import CompilationFailedConfig, InvalidConfig, NpEncoder, RuntimeFailedConfig

SCHEMA_VERSION = schemas.VERSION
_TIMINGS = {
    "compilation": "compile_time",
    "benchmark": "benchmark_time",
    "framework": "framework_time",
    "search_algorithm": "strategy_time",
    "validation": "verification_time",
}
_INVALIDITY = ((CompilationFailedConfig, "compile"), (RuntimeFailedConfig, "runtime"), (InvalidConfig, "constraints"))


def input_file_schema():
    """Version and JSON schema of T1 files."""
    return SCHEMA_VERSION, schemas.INPUT


def output_file_schema(target):
    """Version and JSON schema of a T4 file: ``"results"`` or ``"metadata"``."""
    if target not in schemas.OUTPUT:
        raise ValueError(f"target: {target!r} is not one of {', '.join(schemas.OUTPUT)}")
    return SCHEMA_VERSION, schemas.OUTPUT[target]


def _invalidity(result):
    error = result.get("__error__")
    if error is None:
        return "correct"
    return next((name for kind, name in _INVALIDITY if isinstance(error, kind)), "runtime")


def get_t4_results(results, tune_params, objective="time"):
    """The results of ``tune_kernel`` as an object of the T4 format."""
    if isinstance(objective, (list, tuple)):
        raise ValueError("The T4 format does not support multiple objectives.")
    own = {*tune_params, *_TIMINGS.values(), "timestamp", "times", "__error__"}
    out = []
    for result in results:
        measurements = [
            {"name": k, "value": v, "unit": "ms" if k.startswith("time") else ""} for k, v in result.items() if k not in own
        ]
        entry = {"timestamp": result["timestamp"]} if "timestamp" in result else {}
        entry["configuration"] = {k: v for k, v in result.items() if k in tune_params}
        entry["times"] = {name: result.get(key, 0.0) for name, key in _TIMINGS.items()}
        entry["times"]["runtimes"] = result.get("times", [])
        entry["invalidity"] = _invalidity(result)
        # A wrong result ends the search: those that are here are right, as far as they were checked.
        entry["correctness"] = 1
        entry["measurements"] = measurements
        entry["objectives"] = [objective]
        out.append(entry)
    return {"results": out, "schema_version": SCHEMA_VERSION, "metadata": {"timeunit": "milliseconds"}}


def _path(name):
    path = Path(str(name) if str(name).endswith(".json") else f"{name}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def store_output_file(output_filename, results, tune_params, objective="time"):
    """Writes results as a T4 file; ``.json`` is added to the name where it is missing."""
    text = json.dumps(get_t4_results(results, tune_params, objective), cls=NpEncoder)
    _path(output_filename).write_text(text, encoding="utf-8")


#: Milliseconds and joules of the units of T4 files.
_TIME_UNITS = {
    "s": 1e3, "seconds": 1e3, "ms": 1.0, "milliseconds": 1.0, "miliseconds": 1.0, "us": 1e-3, "µs": 1e-3, "μs": 1e-3,
    "microseconds": 1e-3, "ns": 1e-6, "nanoseconds": 1e-6,
}  # fmt: skip
_ENERGY_UNITS = {"": 1.0, "J": 1.0, "mJ": 1e-3, "uJ": 1e-6, "µJ": 1e-6, "kJ": 1e3}


def _value(measurement, of_file, filename):
    """A measured value: times in ms, energies in J; what is missing is NaN."""
    name, value, unit = measurement["name"], measurement["value"], measurement.get("unit") or ""
    if value is None:
        return float("nan")
    if name == "time":
        units, unit = _TIME_UNITS, unit or of_file or "ms"
    elif name == "energy" or name.endswith("_energy"):
        units = _ENERGY_UNITS
    else:
        return value
    if unit not in units:
        raise ValueError(f"{filename}: the unit {unit} of {name} is not one of {', '.join(u for u in units if u)}")
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return value
    if isinstance(value, list):
        numbers = [float(v) for v in value if v is not None]
        value = sum(numbers) / len(numbers) if numbers else float("nan")
    return value * units[unit]


def load_output_file(filename):
    """Reads a T4 file into results, as ``tune_kernel`` returns them."""
    data = json.loads(Path(filename).read_text(encoding="utf-8-sig"))
    of_file = data.get("metadata", {}).get("timeunit")
    out = []
    for entry in data["results"]:
        result = dict(entry["configuration"])
        result.update({m["name"]: _value(m, of_file, filename) for m in entry["measurements"]})
        times = entry.get("times", {})
        result.update({key: times.get(name, 0.0) for name, key in _TIMINGS.items()})
        if times.get("runtimes"):
            result["times"] = times["runtimes"]
        kind = next((kind for kind, name in _INVALIDITY if name == entry["invalidity"]), None)
        if kind is not None:
            result["__error__"] = kind()
        if "timestamp" in entry:
            result["timestamp"] = entry["timestamp"]
        out.append(result)
    return out


def get_t4_metadata():
    """Hardware and software of this host as an object of the T4 format."""
    names = {"Linux": "Linux", "Darwin": "Mac", "Windows": "Windows"}
    hardware = [
        {
            "machine": platform.machine(),
            "processor": processor(),
            "system": platform.platform(),
        }
    ]
    packages = []
    for name in ("numpy", "greenup"):
        try:
            packages.append(f"{name}=={importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    query = {}
    gpus = _run(["nvidia-smi", "--query-gpu=name,uuid,driver_version,memory.total", "--format=csv,noheader"])
    if gpus:
        fields = ("name", "uuid", "driver_version", "memory")
        query["nvidia-smi"] = [dict(zip(fields, line.split(", "))) for line in gpus.splitlines()]
    metadata = {
        "operating_system": names.get(platform.system(), "unidentified OS"),
        "hardware": {"hardware_description": hardware},
        "environment": {"device_query": query, "requirements": packages},
    }
    return {"metadata": metadata, "schema_version": SCHEMA_VERSION}


def _run(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def store_metadata_file(metadata_filename):
    """Writes the metadata of this host as a T4 file."""
    _path(metadata_filename).write_text(json.dumps(get_t4_metadata(), indent="  "), encoding="utf-8")
