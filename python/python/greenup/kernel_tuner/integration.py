"""Results files and headers for builds: ``store_results`` and ``create_device_targets``."""

import json
import os
import re
from collections.abc import Sequence

from .problem.source import looks_like_a_filename
from .problem.types import Named, Params, Size
from .util import get_instance_string, get_objective_defaults, is_measured

_META = ("kernel_name", "tunable_parameters", "objective", "version_number")


def _read_results_file(filename):
    with open(filename, encoding="utf-8") as file:
        data = json.load(file)
    if "version_number" not in data:
        raise ValueError("Results fileformat not recognized")
    if data["version_number"] != "1.0":
        raise ValueError(f"Unknown results file version_number: {data['version_number']}")
    missing = [k for k in (*_META, "data") if k not in data]
    if missing:
        raise ValueError(f"Error while parsing results file, missing keys: {', '.join(missing)}")
    meta = {k: data[k] for k in _META}
    meta["objective_higher_is_better"] = data.get("objective_higher_is_better", False)
    meta["kernel_string"] = data.get("kernel_string", "")
    for entry in data["data"]:
        if any(k not in entry for k in ("tunable_parameters", meta["objective"], "device_name", "problem_size")):
            raise ValueError(f"Error while parsing results file, missing keys in: {entry}")
        if any(k not in entry["tunable_parameters"] for k in meta["tunable_parameters"]):
            raise ValueError(f"Error while parsing results file, missing tunable parameter keys in: {entry}")
    return meta, data["data"]


def _size(problem_size):
    if isinstance(problem_size, str):
        return problem_size
    parts = problem_size if isinstance(problem_size, (list, tuple)) else (problem_size,)
    return "x".join(str(i) for i in parts)


class TuneResults:
    """A results file."""

    def __init__(self, results_filename):
        if not os.path.isfile(results_filename):
            raise ValueError("Error: results_filename does not exist")
        self.meta, self.data = _read_results_file(results_filename)
        if not self.data:
            raise ValueError("results file seems to be empty or did not load correctly")
        self.objective = self.meta["objective"]
        self.objective_higher_is_better = self.meta["objective_higher_is_better"]

    def get_best_config(self, gpu_name="default", problem_size=None):
        """The best config for a device and a problem size, or the one that is good for most of what is known."""
        gpu_name = gpu_name.replace("-", "_").replace(" ", "_")
        own = [r for r in self.data if r["device_name"] == gpu_name]
        if own and problem_size is not None:
            same = [r for r in own if r["problem_size"] == _size(problem_size)]
            if same:
                best = (max if self.objective_higher_is_better else min)(same, key=lambda r: r[self.objective])
                return {k: v for k, v in best.items() if k != self.objective}
        return _common(own or self.data, self.objective, self.objective_higher_is_better)


def _common(results, objective, higher):
    """The config that occurs most often; of several the one with the best sum."""
    count, total, params = {}, {}, {}
    for r in results:
        name = get_instance_string(r["tunable_parameters"])
        count[name] = count.get(name, 0) + 1
        total[name] = total.get(name, 0) + r[objective]
        params[name] = r["tunable_parameters"]
    most = max(count.values())
    names = [n for n in count if count[n] == most]
    return params[(max if higher else min)(names, key=total.get)]


def store_results(
    results_filename: str, kernel_name: str, kernel_string: str | None, tune_params: Params, problem_size: Size,
    results: Sequence[Named], env: Named, top: float = 3, objective: str | None = None,
    objective_higher_is_better: bool | None = None,
) -> None:  # fmt: skip
    """Adds the best ``top`` percent of the results to a file, by device and problem size; older ones of the same are replaced."""
    objective, higher = get_objective_defaults(objective, objective_higher_is_better)
    valid = [r for r in results if "__error__" not in r and is_measured(r.get(objective))]
    if not valid:
        raise ValueError(f"no result has the objective {objective}")
    best = (max if higher else min)(r[objective] for r in valid)
    share = top / 100.0

    def good(r):
        # As in Kernel Tuner the share itself is outside; the best is always there.
        value = r[objective]
        return value == best or (value > best * (1 - share) if higher else value < best * (1 + share))

    if os.path.isfile(results_filename):
        meta, data = _read_results_file(results_filename)
        if meta["kernel_name"] != kernel_name:
            raise ValueError(f"{results_filename} has results of the kernel {meta['kernel_name']}, not of {kernel_name}")
        if meta["tunable_parameters"] != list(tune_params):
            raise ValueError(f"{results_filename} has results for other tunable parameters: {meta['tunable_parameters']}")
        if meta["objective"] != objective:
            raise ValueError(f"{results_filename} has results for the objective {meta['objective']}, not for {objective}")
    else:
        meta, data = {"version_number": "1.0", "kernel_name": kernel_name}, []
        if kernel_string:
            if looks_like_a_filename(kernel_string):
                with open(kernel_string, encoding="utf-8") as file:
                    kernel_string = file.read()
            meta["kernel_string"] = str(kernel_string)
        meta["objective"] = objective
        meta["objective_higher_is_better"] = higher
        meta["tunable_parameters"] = list(tune_params)
    device = re.sub("[^0-9a-zA-Z]+", "_", env["device_name"].strip())
    size = _size(problem_size)
    data = [d for d in data if not (d["device_name"] == device and d["problem_size"] == size)]
    for r in filter(good, valid):
        params = {k: v for k, v in r.items() if k in tune_params}
        data.append({"device_name": device, "problem_size": size, "tunable_parameters": params, objective: r[objective]})
    with open(results_filename, "w", encoding="utf-8") as file:
        json.dump({**meta, "data": data}, file, indent="")


def create_device_targets(
    header_filename: str, results_filename: str, objective: str | None = None, objective_higher_is_better: bool | None = None
) -> None:
    """Writes a header with the parameters for each device of a results file; compile with ``-DTARGET_<device>``.

    Without a device the header defines a config that is good on several. An existing header is overwritten.
    """
    get_objective_defaults(objective, objective_higher_is_better)
    results = TuneResults(results_filename)

    def defines(params):
        return "".join(f"#define {k} {v}\n" for k, v in params.items())

    devices = list(dict.fromkeys(r["device_name"] for r in results.data))
    parts = []
    for i, device in enumerate(devices):
        begin = f"#elif defined TARGET_{device}" if i else f"#ifdef TARGET_{device}"
        parts.append(f"{begin}\n{defines(results.get_best_config(device))}")
    text = (
        "/* header file generated by Greenup from the results of Kernel Tuner's interface, do not modify by hand */\n"
        "#pragma once\n#ifndef kernel_tuner /* only use these when not tuning */\n\n"
        f"{''.join(parts)}#else /* default configuration */\n{defines(results.get_best_config())}#endif /* GPU TARGETS */\n\n"
        "#endif /* kernel_tuner */\n"
    )
    with open(header_filename, "w", encoding="utf-8") as file:
        file.write(text)
