"""Trials of the tuner as Kernel Tuner's results."""

import re
import statistics
import warnings
from datetime import datetime, timezone

from ..util import (
    CompilationFailedConfig,
    CompileError,
    RuntimeFailedConfig,
    get_config_string,
    process_metrics,
)

#: What compilers say of a config that needs more than the device has: it is skipped.
_TOO_MUCH = re.compile(r"uses too much shared data|local memory limit exceeded|local memory \(\d+\) exceeds limit")
#: NVRTC only reports how much it is: more static shared memory than any GPU gives a block, bytes.
_SHARED, _MOST_SHARED = re.compile(r"(\d+) bytes smem"), 48 << 10
#: What the loader says of code without the kernel.
_MISSING = re.compile(r"undefined symbol: (\S+)")
#: What a kernel returned in place of a time that can be one.
_RETURNED = re.compile(r"it returned (\S+) s as its time")
TIMINGS = ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time")


def result_of(trial, params, verbose=False):
    """The result of a trial: parameters, ``time`` (ms), ``times``, how long each stage took (ms), and when it was.

    Raises RuntimeError for a wrong result and CompileError for code that does not compile, as Kernel Tuner ends on both.
    """
    result = dict(params)
    measured = trial.get("measured")
    if measured is not None:
        times = [1e3 * t for t in measured["times_s"]]
        result["time"] = 1e3 * measured["time_s"]
        result["times"] = times
    elif (returned := _RETURNED.search((trial.get("failed") or {}).get("message", ""))) is not None:
        # As in Kernel Tuner it is the time, whatever it says; NaN and infinities are never the best.
        ms = 1e3 * float(returned[1])
        warnings.warn(
            f"config {get_config_string(params)} returned {ms:g} ms as its time: it returns milliseconds as float",
            RuntimeWarning,
            stacklevel=2,
        )
        result["time"], result["times"] = ms, [ms]
    else:
        result["__error__"] = _error(trial, params, verbose)
    result["compile_time"] = 1e3 * trial.get("build_s", 0.0)
    result["verification_time"] = 1e3 * trial.get("verify_s", 0.0)
    result["benchmark_time"] = 1e3 * trial.get("measure_s", 0.0)
    at = datetime.fromtimestamp(trial["at"], timezone.utc) if "at" in trial else datetime.now(timezone.utc)
    result["timestamp"] = str(at)
    return result


def repeated(result, times_ms, iterations):
    """The result with as many times as the caller's iterations.

    ``times_ms`` are those of single runs. Without them the batches of the measurement are put together into as many means.
    """
    if "times" not in result:
        return result
    if times_ms:
        return {**result, "times": times_ms, "time": statistics.median(times_ms)}
    times, count = result["times"], int(iterations)
    if len(times) <= count:
        return result
    ends = [len(times) * i // count for i in range(count + 1)]
    return {**result, "times": [statistics.fmean(times[i:j]) for i, j in zip(ends, ends[1:])]}


def _error(trial, params, verbose):
    failed = trial.get("failed") or {}
    failure, message = failed.get("failure", "unknown"), failed.get("message", "")
    config = get_config_string(params)
    if failure == "wrong":
        raise RuntimeError(f"Kernel result verification failed for: {config}: {message}")
    missing = _MISSING.search(message)
    if missing is not None:
        # No other config has it either.
        raise AttributeError(f"the compiled code has no function {missing[1]}: {message}")
    if failure == "compile" and not _needs_too_much(message):
        print(f"compile_kernel failed due to error: {message}")
        raise CompileError(f"compiling failed for: {config}: {message}")
    if verbose:
        print(f"skipping config {config} reason: {message}")
    if failure == "compile":
        return CompilationFailedConfig()
    if failure in ("crash", "timeout", "lost"):
        warnings.warn(f"config {config} {failure}: {message}", RuntimeWarning, stacklevel=2)
    return RuntimeFailedConfig()


def _needs_too_much(message):
    return bool(_TOO_MUCH.search(message)) or any(int(n) > _MOST_SHARED for n in _SHARED.findall(message))


def with_metrics(result, metrics):
    """The result with the user's metrics, where it has a measurement."""
    return result if "__error__" in result else process_metrics(result, metrics)


def show(result, tune_params, metrics, units):
    """Prints a result as one line."""
    keys = [*tune_params, "time", *(metrics or {})]
    print(get_config_string(result, keys, units), flush=True)


def raise_if_nothing_ran(results, failures):
    """Raises RuntimeError if no config was measured, and the first failure was no limit of the device."""
    if failures and all("__error__" in r for r in results):
        raise RuntimeError(f"no config could be measured; the first failure: {failures[0]}")


def total_timings(results, env, total_ms):
    """Adds the sums of the results' timings to the environment; simulated time counts as if it had passed."""
    if any(t not in r for r in results for t in TIMINGS):
        return env
    sums = {t: sum(r[t] for r in results) for t in TIMINGS}
    env.update({f"total_{t}": s for t, s in sums.items()})
    # Builds run beside each other: their sum may be more than the time that passed.
    env["overhead_time"] = max(total_ms + env.get("simulated_time", 0.0) - sum(sums.values()), 0.0)
    return env
