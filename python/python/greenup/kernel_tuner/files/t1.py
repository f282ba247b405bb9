"""Tuning by a T1 file: kernel, space, arguments and search in JSON."""

import json
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from .schemas import INPUT

#: What expressions of a file may call.
_BUILTINS = {f.__name__: f for f in (range, list, min, max, round, int, float, abs, len, sum, sorted)}
_TYPES = {"bool": np.bool_, "half": np.float16, "float": np.float32, "double": np.float64}


def get_input_file(filepath, validate=True):
    """The contents of a T1 file. ``validate`` compares it with the format's schema, by the package `jsonschema`."""
    data = json.loads(Path(filepath).read_text(encoding="utf-8-sig"))
    if validate:
        try:
            import jsonschema
        except ImportError:
            raise RuntimeError("validate: the package jsonschema is not installed: install it, or pass validate=False") from None
        jsonschema.validate(data, INPUT)
    return data


def _value(text, names=None):
    return eval(text, {"__builtins__": _BUILTINS, **(names or {})})  # noqa: S307 - the format's values are expressions of Python


def _needed(table, key, filepath):
    if key not in table:
        raise ValueError(f"{filepath}: it has no {key}")
    return table[key]


def _kernel_file(name, filepath):
    own = Path(filepath).parent
    for folder in (Path(), own, own.parent):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(2, f"{filepath}: KernelFile is not here, in its folder or the one above", name)


def _argument(spec, names, folder):
    """An argument of NumPy."""
    dtype = np.dtype(_TYPES.get(spec["Type"], spec["Type"] if "int" in spec["Type"] else None) or "V")
    if dtype.kind == "V" or spec["MemoryType"] not in ("Scalar", "Vector"):
        raise NotImplementedError(f"argument {spec.get('Name')}: {spec['MemoryType']} of type {spec['Type']} is not supported")
    fill, value = spec.get("FillType", "Constant"), spec.get("FillValue", 0)
    if spec["MemoryType"] == "Scalar":
        return dtype.type(value)
    size = _value(spec["Size"], names) if isinstance(spec["Size"], str) else spec["Size"]
    if fill == "Constant":
        return np.full(int(size), value, dtype)
    if fill == "Random":
        rng = np.random.default_rng(spec.get("RandomSeed"))
        return rng.standard_normal(int(size)).astype(dtype) if dtype.kind == "f" else rng.integers(0, 100, int(size)).astype(dtype)
    if fill == "BinaryRaw":
        return np.fromfile(folder / spec["DataSource"], dtype=dtype, count=int(size))
    raise NotImplementedError(f"argument {spec.get('Name')}: the FillType {fill} is not supported")


def _search(inputs, strategy, options):
    """Name and options of the strategy: those of the caller before those of the file."""
    options = dict(options or {})
    if strategy is None and "Search" in inputs:
        strategy = inputs["Search"]["Name"]
        options = {**{a["Name"]: a["Value"] for a in inputs["Search"].get("Attributes", ())}, **options}
    for budget in inputs.get("Budget", ())[:1]:
        known = {"ConfigurationCount": "max_fevals", "TuningDuration": "time_limit"}
        if budget["Type"] not in known:
            raise NotImplementedError(f"Budget type {budget['Type']} is not supported; known are {', '.join(known)}")
        options.setdefault(known[budget["Type"]], budget["BudgetValue"])
        # A part of the space without a method named: any part.
        strategy = strategy or "random_sample"
    if "custom_search_method_path" in options:
        strategy = _custom(strategy, options)
    return strategy, options


def _custom(name, options):
    """The strategy of a class in a file of Python."""
    from ..strategies.wrapper import OptAlgWrapper

    file = Path(options.pop("custom_search_method_path"))
    spec = spec_from_file_location(file.stem, file) if file.is_file() else None
    if spec is None:
        raise FileNotFoundError(2, "custom_search_method_path is no file of Python", str(file))
    module = module_from_spec(spec)
    # The module's package, so that what it imports from beside it is found.
    module.__package__ = _package(file)
    spec.loader.exec_module(module)
    own = {k: v for k, v in options.items() if k not in ("max_fevals", "time_limit", "constraint_aware")}
    made = getattr(module, name)(**own)
    if hasattr(made, "constraint_aware"):
        options.setdefault("constraint_aware", made.constraint_aware)
    return OptAlgWrapper(made)


def _package(file):
    import sys

    same = (m for m in list(sys.modules.values()) if getattr(m, "__file__", None) and Path(m.__file__).resolve() == file.resolve())
    return next((m.__package__ for m in same), "")


def tune_kernel_T1(  # noqa: N802 - Kernel Tuner's name
    input_filepath: str | Path, cache_filepath: str | Path | None = None, objective: str = "time",
    objective_higher_is_better: bool = False, simulation_mode: bool = False, output_T4: bool = True,  # noqa: N803 - its signature
    iterations: int = 7, device: int | None = None, strategy: Any = None, strategy_options: Mapping[str, Any] = {},  # noqa: B006
) -> tuple[Any, Any]:  # fmt: skip
    """Tunes the kernel of a T1 file; device, strategy and its options go before those of the file.

    Returns T4 objects, ``metadata, results``, or with ``output_T4=False`` what ``tune_kernel`` returns.
    """
    from ..file_utils import get_t4_metadata, get_t4_results
    from ..interface import tune_kernel

    inputs = get_input_file(input_filepath, validate=False)
    kernel = _needed(inputs, "KernelSpecification", input_filepath)
    space = _needed(inputs, "ConfigurationSpace", input_filepath)
    size = _needed(kernel, "ProblemSize", input_filepath)
    strategy, options = _search(inputs, strategy, strategy_options)
    tune_params = {p["Name"]: list(_value(p["Values"])) for p in space["TuningParameters"]}
    names, folder = {**tune_params, "ProblemSize": size}, Path(input_filepath).parent
    arguments = [] if simulation_mode else [_argument(a, names, folder) for a in kernel.get("Arguments", ())]
    constant = {a["Name"]: v for a, v in zip(kernel.get("Arguments", ()), arguments) if a.get("MemType") == "Constant"}
    if cache_filepath is None and "SimulationInput" in kernel:
        cache_filepath = Path(kernel["SimulationInput"])
    if isinstance(device, str) or device is None:
        # A name; the file may have a number too.
        device = kernel.get("Device", {}).get("DeviceId", 0)
    results, env = tune_kernel(
        kernel["KernelName"], _kernel_file(kernel["KernelFile"], input_filepath), size, arguments, tune_params, device=device,
        platform=kernel.get("Device", {}).get("PlatformId", 0), cmem_args=constant or None, lang=kernel["Language"],
        grid_div_x=kernel.get("GridDivX") or None, grid_div_y=kernel.get("GridDivY") or None, grid_div_z=kernel.get("GridDivZ") or None,
        restrictions=[c["Expression"] for c in space.get("Conditions", ())] or None, compiler_options=kernel.get("CompilerOptions"),
        cache=cache_filepath, simulation_mode=simulation_mode, quiet=True, iterations=iterations, strategy=strategy,
        strategy_options=options, objective=objective, objective_higher_is_better=objective_higher_is_better,
    )  # fmt: skip
    if output_T4:
        return get_t4_metadata(), get_t4_results(results, tune_params, objective=objective)
    return results, env
