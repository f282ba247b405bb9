"""``tune_kernel``, ``run_kernel`` and ``tune_cache``, with Kernel Tuner's signatures."""

import contextlib
import math
import platform as platform_of_host
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .arguments import return_to, tunable
from .budget import Options, TuningBudget
from .files.cache import Cache, file_name, read_cache
from .files.t1 import tune_kernel_T1  # noqa: F401 - Kernel Tuner has it here
from .measure.log import LOG, start_log
from .measure.measured import Measured
from .measure.results import raise_if_nothing_ran, total_timings
from .measure.session import Session, Sessions
from .measure.simulation import Simulated
from .measure.verify import Answers
from .measure.workplace import Workplace
from .observers.run import Device, Observers
from .problem.device import Facts
from .problem.kernel import Kernel
from .problem.project import Project, key_of
from .searchspace import Searchspace
from .space import restrictions as limits_of
from .strategies import strategy_map, strategy_of  # noqa: F401 - Kernel Tuner has strategy_map here
from .problem.types import Divisors, Named, Params, Restrictions, Size, Source
from .util import check_names, get_best_config, get_config_string, get_objective_defaults, get_pareto_results


def tune_kernel(
    kernel_name: str, kernel_source: Source, problem_size: Size, arguments: Sequence[Any] | None, tune_params: Params,
    grid_div_x: Divisors = None, grid_div_y: Divisors = None, grid_div_z: Divisors = None, restrictions: Restrictions = None,
    answer: Sequence[Any] | None = None, atol: float = 1e-6, verify: Callable[..., Any] | None = None, verbose: bool = False,
    lang: str | None = None, device: int = 0, platform: int = 0, smem_args: Named | None = None, cmem_args: Named | None = None,
    texmem_args: Named | None = None, compiler: str | None = None, compiler_options: Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None, log: int | None = None, iterations: int = 7,
    block_size_names: Sequence[str] | None = None, quiet: bool = False, strategy: Any = None,
    strategy_options: Mapping[str, Any] | None = None, cache: str | Path | None = None,
    metrics: Mapping[str, Any] | None = None, simulation_mode: bool | None = None, parallel: int | bool | None = None,
    observers: Sequence[Any] | None = None, objective: str | None = None, objective_higher_is_better: bool | None = None,
    objectives: Any = None, seed: int | None = None,
) -> tuple[list[Named], Named]:  # fmt: skip
    """Tunes a C, C++, Fortran, CUDA or OpenCL kernel; the arguments are those of Kernel Tuner's function of this name.

    Returns ``results, env``: a dictionary for each config tried (its parameters, ``time`` in ms, ``times`` in ms by batch,
    metrics, the stages' times in ms), and one about the environment, with ``best_config``.

    The tuner compiles on all cores, runs each config in a process of its own or in a GPU worker, compares it with ``answer``
    before and after its measurement, and watches the memory around arrays. ``parallel`` is ignored with a warning. Raises RuntimeError for a wrong result and CompileError, a RuntimeError, for code that does not compile; results
    until then are in the cache file.
    """
    start = time.perf_counter()
    start_log(log, kernel_name)
    _ignored(parallel=parallel)
    LOG.debug("tune_kernel: %s, problem size %s, parameters %s", kernel_name, problem_size, tune_params)
    LOG.debug("strategy %s, options %s, cache %s, iterations %s", strategy, strategy_options, cache, iterations)
    names, higher = _objectives(objective, objective_higher_is_better, objectives)
    check_names(tune_params, block_size_names)
    if not isinstance(iterations, (int, float, np.number)) or not iterations >= 1 or iterations % 1:
        raise ValueError(f"iterations is a whole number of at least one, not {iterations!r}")
    strategy = strategy_of(strategy)
    limits = limits_of.as_list(restrictions)
    chosen = Options(strategy_options or {})
    head = {
        "kernel_name": kernel_name,
        "problem_size": "callable" if callable(problem_size) else problem_size,
        "tune_params_keys": list(tune_params),
        "tune_params": {k: list(v) for k, v in tune_params.items()},
        "objective": names,
    }
    options = Options(
        kernel_name=kernel_name, tune_params=tune_params, restrictions=limits, strategy_options=chosen, objective=names,
        objective_higher_is_better=higher, metrics=metrics, verbose=verbose, seed=seed, simulation_mode=bool(simulation_mode),
        iterations=iterations, **{k: chosen[k] for k in ("max_fevals", "time_limit") if k in chosen},
    )  # fmt: skip
    file = None if cache is None else file_name(cache)
    units = {}
    with contextlib.ExitStack() as stack:
        threads, blocks = None, None
        if simulation_mode:
            store = Cache(file, {**head, "device_name": None}, simulation=True) if file else _no_cache()
            env = {"device_name": store.device_name, "simulation": True}
            _using(store.device_name, quiet)
            runner = Simulated(store.entries, limits, tune_params, metrics, units, quiet)
        else:
            kernel = Kernel(
                kernel_name, kernel_source, problem_size, arguments, (grid_div_x, grid_div_y, grid_div_z), tune_params,
                lang=lang, defines=defines, block_size_names=block_size_names, smem_args=smem_args, cmem_args=cmem_args,
                texmem_args=texmem_args, compiler=compiler, compiler_options=compiler_options, platform=platform,
            )  # fmt: skip
            kernel.check_time()
            if kernel.on_gpu:
                units = {"time": "ms"}
            facts = Facts(kernel, device)
            options_of = {
                "kernel_source": kernel_source, "lang": kernel.source.language, "device": device, "platform": platform, "quiet": quiet,
                "compiler": compiler, "compiler_options": compiler_options, "iterations": iterations,
            }  # fmt: skip
            seen = Device(kernel.source.language, facts)
            observed = Observers(observers, options_of, seen)
            place = stack.enter_context(Workplace(awaited=kernel.source.language != "CUDA"))

            def session_of(folder, kernel, answer):
                project = Project(
                    folder, kernel, tune_params, limits, iterations=iterations, listed=observed.need_config, seconds=observed.seconds
                )  # fmt: skip
                return Session(project, device, Answers(kernel.arguments, answer, atol, verify, observed), place, observed)

            sessions = stack.enter_context(Sessions(place.path, kernel, answer, session_of))
            if file is None:
                # While the facts are asked for.
                sessions.start()
            env = _environment(facts, iterations, compiler_options)
            _using(facts.name, quiet)
            store = Cache(file, {**head, "device_name": env["device_name"]})
            stack.callback(store.close)
            runner = Measured(sessions, observed, store, tune_params, metrics, units, quiet, verbose, iterations)
            threads, blocks = kernel.max_threads, kernel.names
        space = Searchspace(
            tune_params, limits, threads, blocks, seed=seed, **(chosen.get("searchspace_construction_options") or {})
        )  # fmt: skip
        if verbose:
            print(f"Searchspace has {space.counted()} configurations after restrictions.")
        options.budget = _budget(chosen, time.perf_counter() - start)
        if not space.most():
            raise ValueError("no config meets all restrictions")
        results = strategy.tune(space, runner, options)
        if simulation_mode:
            env["simulated_time"] = runner.simulated_ms
        else:
            raise_if_nothing_ran(results, sessions.failures)
    LOG.info("%d configs in %.0f ms", len(results), 1e3 * (time.perf_counter() - start))
    env["best_config"] = _best(results, names, higher, tune_params, metrics, units, quiet)
    return results, total_timings(results, env, 1e3 * (time.perf_counter() - start))


def _budget(options, startup_s):
    """The budget of strategy options; the time until now is part of it."""
    limit = options.get("time_limit")
    if limit is not None:
        if startup_s > limit:
            raise RuntimeError(
                f"The startup time of the tuning process ({startup_s:.3g} s) has exceeded the time limit ({limit} s). "
                "Increase the time limit or decrease the size of the search space."
            )
        limit -= startup_s
    return TuningBudget(limit, options.get("max_fevals"))


def run_kernel(
    kernel_name: str, kernel_source: Source, problem_size: Size, arguments: Sequence[Any] | None, params: Mapping[str, Any],
    grid_div_x: Divisors = None, grid_div_y: Divisors = None, grid_div_z: Divisors = None, lang: str | None = None,
    device: int = 0, platform: int = 0, smem_args: Named | None = None, cmem_args: Named | None = None,
    texmem_args: Named | None = None, compiler: str | None = None, compiler_options: Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None, block_size_names: Sequence[str] | None = None, quiet: bool = False,
    log: int | None = None,
) -> list[Any]:  # fmt: skip
    """Compiles and runs a kernel with one config; returns the arguments after its first run, arrays as NumPy arrays.

    Host code, which is called with the caller's own arrays in Kernel Tuner, changes these too, and so do all kernels on arrays of CuPy
    and tensors of PyTorch.

    Raises RuntimeError if it cannot be compiled, launched, or crashes.
    """
    start_log(log, kernel_name)
    arguments = tunable.chosen(arguments or (), params)
    kernel = Kernel(
        kernel_name, kernel_source, problem_size, arguments, (grid_div_x, grid_div_y, grid_div_z), params, lang=lang,
        defines=defines, block_size_names=block_size_names, smem_args=smem_args, cmem_args=cmem_args, texmem_args=texmem_args,
        compiler=compiler, compiler_options=compiler_options, platform=platform,
    )  # fmt: skip
    values = kernel.arguments
    _using(Facts(kernel, device).name, quiet)
    space = {k: [v] for k, v in params.items()} or {"kt_none": [0]}
    out = {}

    def look(found, *_):
        for i, array in found.items():
            out.setdefault(i, array)
        return True

    wanted = Answers(values, None, 0.0, None)
    wanted.outputs = [i for i, a in enumerate(values) if isinstance(a, np.ndarray)]
    wanted.look = look
    with Workplace(awaited=kernel.source.language != "CUDA") as place:
        project = Project(place.path, kernel, space, [], iterations=0)
        with Session(project, device, wanted, place) as session:
            trials = list(session.measure([project.request({k: v[0] for k, v in space.items()})]))
    if not trials:
        raise RuntimeError("cannot create kernel instance, too many threads per block")
    failed = trials[0].get("failed")
    if failed is not None and not out:
        raise RuntimeError(f"the kernel could not be run ({failed['failure']}): {failed['message']}")
    for i, array in out.items():
        if not kernel.on_gpu or not isinstance(arguments[i], np.ndarray):
            return_to(arguments[i], array)
    return [out.get(i, a) for i, a in enumerate(values)]


def tune_cache(cache_path: str | Path, restrictions: list[Any] | None = None, **kwargs: Any) -> tuple[list[Named], Named]:
    """Searches the space of a cache file in simulation mode."""
    data = read_cache(cache_path)
    size = data["problem_size"]
    if isinstance(size, str):
        raise ValueError("Inferring kernel arguments from cache file that used callable for problem size is not possible")
    if restrictions is not None and not isinstance(restrictions, list):
        raise ValueError("The restrictions must be a list()")
    known = {k for k, entry in data["cache"].items() if "__error__" not in entry}
    limits = list(restrictions or [])
    if len(known) < math.prod(len(values) for values in data["tune_params"].values()):
        limits.insert(0, lambda p: key_of({k: p[k] for k in data["tune_params_keys"]}) in known)
    own = {
        "kernel_name": data["kernel_name"],
        "kernel_source": "",
        "problem_size": (size,) if isinstance(size, int) else tuple(size),
        "arguments": [],
        "tune_params": data["tune_params"],
    }
    return tune_kernel(**{**own, **kwargs}, cache=cache_path, restrictions=limits, simulation_mode=True)


def _ignored(**given):
    reasons = {
        "parallel": "builds run on all cores anyway; several GPUs are used by `greenup tune --device cuda:all`",
    }
    for name, value in given.items():
        if value:
            warnings.warn(f"{name} is ignored: {reasons[name]}", UserWarning, stacklevel=3)


def _objectives(objective, higher, objectives):
    """Names of the objectives and whether larger values are better, as lists."""
    if objectives:
        if not isinstance(objectives, dict):
            raise ValueError("objectives should be a dict of (objective, higher_is_better) pairs")
        return list(objectives), list(objectives.values())
    objective, higher = get_objective_defaults(objective, higher)
    names = [objective] if isinstance(objective, str) else list(objective)
    ups = [higher] * len(names) if isinstance(higher, bool) else list(higher)
    return names, ups


def _no_cache():
    raise ValueError("Simulation mode requires an existing cachefile: pass cache=")


def _using(name, quiet):
    if not quiet:
        print(f"Using: {name}", flush=True)


def _environment(facts, iterations, compiler_options):
    common = {"iterations": iterations, "compiler_options": compiler_options, "host": platform_of_host.node(), "tuner": "greenup"}
    return {**facts.env, **common}


def _best(results, names, higher, tune_params, metrics, units, quiet):
    if not results:
        if not quiet:
            print("no results to report")
        return None
    keys = [*tune_params, *names, *(metrics or {})]
    if len(names) == 1:
        best = get_best_config(results, names[0], higher[0])
        if best is None:
            if not quiet:
                print(f"no config has a measured {names[0]}")
        elif not quiet:
            print(f"\nBEST PERFORMING CONFIGURATION FOR OBJECTIVE {names[0]}:")
            print(get_config_string(best, keys, units))
        return best
    front = get_pareto_results(results, names, higher)
    if not quiet:
        print(f"\nBEST PERFORMING CONFIGURATIONS FOR OBJECTIVES: {names}:")
        for best in front:
            print(get_config_string(best, keys, units))
    return front
