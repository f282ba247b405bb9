"""``tune_kernel``, ``run_kernel`` and ``tune_cache``, with Kernel Tuner's signatures."""

import platform as platform_of_host
import tempfile
import time
import warnings

import numpy as np

from . import restrictions as limits_of
from . import simulation
from .arguments import return_to, tunable
from .cache import Cache, file_name, read_cache
from .check import Exchange, outputs_in
from .device import environment, processor
from .interrupts import Deferred
from .kernel import Kernel
from .log import LOG, start_log
from .observers.run import Device, Observers
from .project import INDEX, Project, key_of
from .results import repeated, result_of, share_overhead, show, total_timings, with_metrics
from .strategies import Search
from .tuner import Run, TunerError
from .util import check_names, get_best_config, get_config_string, get_objective_defaults, get_pareto_results
from .verify import Answers


def tune_kernel(
    kernel_name, kernel_source, problem_size, arguments, tune_params, grid_div_x=None, grid_div_y=None, grid_div_z=None,
    restrictions=None, answer=None, atol=1e-6, verify=None, verbose=False, lang=None, device=0, platform=0, smem_args=None,
    cmem_args=None, texmem_args=None, compiler=None, compiler_options=None, defines=None, log=None, iterations=7,
    block_size_names=None, quiet=False, strategy=None, strategy_options=None, cache=None, metrics=None, simulation_mode=None,
    parallel=None, observers=None, objective=None, objective_higher_is_better=None, objectives=None, seed=None,
):  # fmt: skip
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
    search = Search(strategy, strategy_options, seed)
    limits = limits_of.as_list(restrictions)
    head = {
        "kernel_name": kernel_name,
        "problem_size": "callable" if callable(problem_size) else problem_size,
        "tune_params_keys": list(tune_params),
        "tune_params": {k: list(v) for k, v in tune_params.items()},
        "objective": names,
    }
    file = None if cache is None else file_name(cache)
    results, units = [], {}
    with tempfile.TemporaryDirectory(prefix="greenup-kernel-tuner-") as folder:
        if simulation_mode:
            store = Cache(file, {**head, "device_name": None}, simulation=True) if file else _no_cache()
            env = {"device_name": store.device_name, "simulation": True}
            _using(store.device_name, quiet)
            for result in simulation.search(folder, tune_params, limits, store.entries, search, metrics):
                results.append(result)
                if not quiet:
                    show(result, tune_params, metrics, units)
            env["simulated_time"] = _busy(results)
        else:
            kernel = Kernel(
                kernel_name, kernel_source, problem_size, arguments, (grid_div_x, grid_div_y, grid_div_z), tune_params,
                lang=lang, defines=defines, block_size_names=block_size_names, smem_args=smem_args, cmem_args=cmem_args,
                texmem_args=texmem_args, compiler=compiler, compiler_options=compiler_options, platform=platform,
            )  # fmt: skip
            if kernel.on_gpu:
                units = {"time": "ms"}
            env = _environment(kernel, device, iterations, compiler_options)
            kernel.max_threads = env.get("max_work_group_size", kernel.max_threads)
            _using(env["device_name"] or processor(), quiet)
            store = Cache(file, {**head, "device_name": env["device_name"]})
            options = {
                "kernel_source": kernel_source, "lang": kernel.source.language, "device": device, "platform": platform, "quiet": quiet,
                "compiler": compiler, "compiler_options": compiler_options, "iterations": iterations,
            }  # fmt: skip
            observed = Observers(observers, options, Device(env["device_name"] or processor(), kernel.source.language, env))

            def wanted_of(kernel, answer):
                return Answers(kernel.arguments, answer, atol, verify, observed)

            try:
                for result in _search(
                    folder, kernel, tune_params, limits, store, search, iterations, device, answer, wanted_of, verbose, observed
                ):
                    params = {k: result[k] for k in tune_params}
                    fresh = key_of(params) not in store.entries
                    try:
                        result = with_metrics(result, metrics)
                    finally:
                        # Before anything else, and also if a metric raises.
                        store.store(params, result)
                    results.append(result)
                    LOG.info("%s config: %s", "new" if fresh else "cached", get_config_string(result))
                    if fresh and not quiet:
                        show(result, tune_params, metrics, units)
            finally:
                store.close()
    total = 1e3 * (time.perf_counter() - start)
    if search.name == "exhaustive":
        # Builds and measurements come in an order of their own.
        place = {k: {v: i for i, v in enumerate(map(_hashable, values))} for k, values in tune_params.items()}
        results.sort(key=lambda r: [place[k].get(_hashable(r[k]), 0) for k in tune_params])
    if not simulation_mode:
        share_overhead(results, total - _busy(results))
    LOG.info("%d configs in %.0f ms", len(results), total)
    env["best_config"] = _best(results, names, higher, tune_params, metrics, units, quiet)
    return results, total_timings(results, env, total)


def _search(folder, kernel, tune_params, limits, store, search, iterations, device, answer, wanted_of, verbose, observed):
    """Results of a search: those of the cache first, then the new ones as they come."""
    done = []
    if store.entries:
        for config in limits_of.valid_configs(tune_params, limits):
            entry = store.entries.get(key_of(config))
            if entry is not None:
                done.append(key_of(config))
                yield {**entry, **config, "compile_time": 0, "verification_time": 0, "benchmark_time": 0}
    count = len(done)
    for place, own, right, within in tunable.parts(folder, kernel, answer, tune_params, limits, search):
        wanted, budget = wanted_of(own, right), search.budget(count)
        project = Project(
            place, own, tune_params, within, done=done, iterations=iterations, listed=observed.need_config, seconds=observed.seconds
        )  # fmt: skip
        if budget is None or project.configs == []:
            continue
        observed.begin()
        for trial in _trials(project, search, budget, device, wanted, observed):
            count += 1
            params = project.params(trial["config"])
            result = repeated(result_of(trial, params, verbose), project.times(trial["config"]), iterations)
            yield {**result, **observed.results(trial, str(trial["config"][0]), params)}


def _trials(project, search, budget, device, wanted, observed=None):
    """Trials of the tuner on a project. However the caller leaves, the tuner ends; after Ctrl-C its last trials still come."""

    def params_of(key):
        return dict(project.configs[int(key)])

    def answer(words):
        if words[0] != "output":
            return observed.answer(words, params_of)
        _, folder, key = words
        right = wanted.look(outputs_in(folder, project.kernel.arguments, wanted.outputs), key, params_of)
        return "right" if right else "wrong"

    checker = None
    hooked = observed is not None and observed.hooked
    if wanted.look is not None or hooked:
        checker = Exchange(project.folder, answer)
    run = None
    try:
        key = INDEX if observed is not None and observed.need_config else None
        problem = project.write(
            answer=wanted.answer, atol=wanted.atol, outputs=wanted.outputs,
            check=checker.command(key) if wanted.look is not None else None,
            pipes=(checker.asked, checker.told) if hooked else None,
        )  # fmt: skip
        until = None if search.time_limit is None else time.monotonic() + search.time_limit
        # The caller's code between two trials is not interrupted either: it stores the trial.
        with Deferred() as interrupts:
            run = Run(
                problem, project.folder / "sweep", strategy=search.name, budget=budget, seed=search.seed, until=until,
                device=project.kernel.target(device), sensor=observed.sensor if observed else "none", interrupts=interrupts,
            )  # fmt: skip
            try:
                for trial in run:
                    if checker is not None and checker.raised is not None:
                        raise checker.raised
                    yield trial
            except KeyboardInterrupt:
                run.stop()
                yield from run.new()
                raise
            except TunerError as e:
                # A space that the restrictions leave empty is no error here, nor one in which every config failed.
                if any(m in str(e) for m in ("no valid", "no point", "no configs", "no trial succeeded")):
                    return
                raise
    finally:
        if run is not None:
            LOG.debug("the tuner said: %s", run.said() or "nothing")
            run.close()
        if checker is not None:
            checker.close()


def run_kernel(
    kernel_name, kernel_source, problem_size, arguments, params, grid_div_x=None, grid_div_y=None, grid_div_z=None, lang=None,
    device=0, platform=0, smem_args=None, cmem_args=None, texmem_args=None, compiler=None, compiler_options=None, defines=None,
    block_size_names=None, quiet=False, log=None,
):  # fmt: skip
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
    _using(environment(kernel, device)["device_name"] or processor(), quiet)
    space = {k: [v] for k, v in params.items()} or {"kt_none": [0]}
    out = {}

    def look(found, *_):
        for i, array in found.items():
            out.setdefault(i, array)
        return True

    wanted = Answers(values, None, 0.0, None)
    wanted.outputs = [i for i, a in enumerate(values) if isinstance(a, np.ndarray)]
    wanted.look = look
    search = Search(None, None, None)
    with tempfile.TemporaryDirectory(prefix="greenup-kernel-tuner-") as folder:
        project = Project(folder, kernel, space, [], iterations=0)
        trials = list(_trials(project, search, "1", device, wanted))
    if not trials:
        raise RuntimeError("cannot create kernel instance, too many threads per block")
    failed = trials[0].get("failed")
    if failed is not None and not out:
        raise RuntimeError(f"the kernel could not be run ({failed['failure']}): {failed['message']}")
    for i, array in out.items():
        if not kernel.on_gpu or not isinstance(arguments[i], np.ndarray):
            return_to(arguments[i], array)
    return [out.get(i, a) for i, a in enumerate(values)]


def tune_cache(cache_path, restrictions=None, **kwargs):
    """Searches the space of a cache file in simulation mode."""
    data = read_cache(cache_path)
    size = data["problem_size"]
    if isinstance(size, str):
        raise ValueError("Inferring kernel arguments from cache file that used callable for problem size is not possible")
    if restrictions is not None and not isinstance(restrictions, list):
        raise ValueError("The restrictions must be a list()")
    known = {k for k, entry in data["cache"].items() if "__error__" not in entry}
    limits = [lambda p: key_of({k: p[k] for k in data["tune_params_keys"]}) in known, *(restrictions or [])]
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


def _busy(results):
    """Time of the stages of all results, ms."""
    return sum(r.get(t, 0) for r in results for t in ("compile_time", "verification_time", "benchmark_time"))


def _hashable(value):
    return value if isinstance(value, (int, float, str)) else repr(value)


def _no_cache():
    raise ValueError("Simulation mode requires an existing cachefile: pass cache=")


def _using(name, quiet):
    if not quiet:
        print(f"Using: {name}", flush=True)


def _environment(kernel, device, iterations, compiler_options):
    common = {"iterations": iterations, "compiler_options": compiler_options, "host": platform_of_host.node(), "tuner": "greenup"}
    return {**environment(kernel, device), **common}


def _best(results, names, higher, tune_params, metrics, units, quiet):
    if not results:
        if not quiet:
            print("no results to report")
        return None
    keys = [*tune_params, *names, *(metrics or {})]
    if len(names) == 1:
        best = get_best_config(results, names[0], higher[0])
        if not quiet:
            print(f"\nBEST PERFORMING CONFIGURATION FOR OBJECTIVE {names[0]}:")
            print(get_config_string(best, keys, units))
        return best
    front = get_pareto_results(results, names, higher)
    if not quiet:
        print(f"\nBEST PERFORMING CONFIGURATIONS FOR OBJECTIVES: {names}:")
        for best in front:
            print(get_config_string(best, keys, units))
    return front
