"""Cache files in Kernel Tuner's format: read, continued, written line by line as configs are measured."""

import json
import os
from pathlib import Path

import numpy as np

from ..problem.project import key_of
from ..util import ERRORS, ErrorConfig, NpEncoder, RuntimeFailedConfig

#: Times of failed configs in caches of older versions of Kernel Tuner, ms.
_FAILED_MS = 1e20


def file_name(cache):
    """The file of the argument ``cache``: ``.json`` is added where it is missing."""
    name = str(Path(cache).resolve()) if isinstance(cache, Path) else str(cache)
    return name if name.endswith(".json") else name + ".json"


def parse(text):
    """The contents of a cache file, whether or not it was closed; a last line that was cut off is left out."""
    text = text.strip()
    try:
        return json.loads(text)
    except ValueError:
        pass
    body = text.rstrip(",")
    while body:
        try:
            return json.loads(body + "}\n}")
        except ValueError:
            body = body[: body.rfind("\n")].rstrip().rstrip(",") if "\n" in body else ""
    raise ValueError("it is no cache file of Kernel Tuner: it should begin with { and name its device_name")


def read_cache(cachefile, open_cache=False):  # noqa: ARG001 - Kernel Tuner's signature
    """The contents of a cache file; errors of configs are instances of ErrorConfig under ``__error__``."""
    # Editors may have put a byte-order mark before it.
    with open(cachefile, encoding="utf-8-sig") as file:
        try:
            data = parse(file.read())
        except ValueError as e:
            raise ValueError(f"{cachefile}: {e}") from None
    parameters = data.get("tune_params_keys", ())
    for entry in data["cache"].values():
        for key, value in list(entry.items()):
            if key in parameters:
                continue
            if isinstance(value, str) and value in ERRORS:
                entry["__error__"] = ERRORS[value]()
            elif value is None:
                entry[key] = float("nan")
        time = entry.get("time")
        if isinstance(time, (int, float)) and (time >= _FAILED_MS or time <= 0):
            entry["__error__"] = RuntimeFailedConfig()
    return data


class Cache:
    """A cache file that grows. Without a file it only looks entries up."""

    def __init__(self, file, head, simulation=False):
        self.file = file
        self.entries = {}
        self._writes = False
        if file is None:
            return
        if os.path.isfile(file):
            data = read_cache(file)
            _check(data, head, file, simulation)
            self.entries = data["cache"]
            self.device_name = data["device_name"]
            if not simulation:
                self._open(data)
        elif simulation:
            raise ValueError(f"Simulation mode requires an existing cachefile: file {file} does not exist")
        else:
            self._open({**head, "cache": {}})

    def _open(self, data):
        """Leaves the file without its closing brackets, so that entries are appended; complete at any moment but for them."""
        entries = data.pop("cache")
        text = json.dumps({**data, "cache": {}}, cls=NpEncoder, indent="")[:-3]
        text += "".join(_line(key, entry) for key, entry in entries.items())
        _replace(self.file, text)
        self._writes = True

    def store(self, params, result):
        """Appends a result."""
        key = key_of(params)
        if key in self.entries:
            return
        self.entries[key] = result
        if self._writes:
            with open(self.file, "a", encoding="utf-8") as file:
                file.write(_line(key, result))

    def close(self):
        """Adds the closing brackets."""
        if not self._writes:
            return
        self._writes = False
        with open(self.file, encoding="utf-8") as file:
            text = file.read()
        _replace(self.file, text.rstrip().rstrip(",") + "}\n}")


def _replace(name, text):
    """Replaces a file whole: the old one stays until the new one is on disk."""
    temporary = f"{name}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, name)


def _line(key, entry):
    entry = {k: str(v) if isinstance(v, ErrorConfig) else v for k, v in entry.items()}
    return "\n" + json.dumps({key: entry}, cls=NpEncoder)[1:-1] + ","


def _check(data, head, file, simulation):
    """Refuses a cache of another kernel, device, problem or space."""
    for key, what in (("device_name", "device"), ("kernel_name", "kernel")):
        if key == "device_name" and simulation:
            continue
        if data.get(key) != head[key]:
            raise ValueError(
                f"Cannot load cache which contains results for different {what} (cache: {data.get(key)}, actual: {head[key]})"
            )
    size = head["problem_size"]
    if "problem_size" in data and size != "callable":
        cached, own = np.array(data["problem_size"]), np.array(size)
        if cached.size != own.size or not (cached == own).all():
            raise ValueError(
                f"Cannot load cache which contains results for different problem_size, cache: {data['problem_size']}, requested: {size}"
            )
    if data["tune_params_keys"] != head["tune_params_keys"]:
        if sorted(data["tune_params_keys"]) == sorted(head["tune_params_keys"]):
            raise ValueError(
                "All tunable parameters are present, but the order is wrong. "
                f"Cache has order: {data['tune_params_keys']}, tuning_options has: {head['tune_params_keys']}"
            )
        raise ValueError(
            "Cannot load cache which contains results obtained with different tunable parameters. "
            f"Cache at '{file}' has: {data['tune_params_keys']}, tuning_options has: {head['tune_params_keys']}"
        )
