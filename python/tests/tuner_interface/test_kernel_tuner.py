"""Kernel Tuner's interface on C kernels: arguments, results, caches, T4 files, and what goes wrong."""

import inspect
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest

from greenup import kernel_tuner
from greenup.kernel_tuner import file_utils, integration, util
from greenup.kernel_tuner.files import cache as cache_module
from greenup.kernel_tuner.interface import tune_cache
from greenup.kernel_tuner.measure.interrupts import Deferred
from greenup.kernel_tuner.problem import launch
from greenup.kernel_tuner.problem.project import key_of
from greenup.kernel_tuner.space import expressions

N = 4096

# Its own time is made up, so that the best config is known.
SCALE = """
#include <stdint.h>
float scale(float *y, const float *x, float a, int n) {
    for (int i = 0; i < n; i++) y[i] = a * x[i];
    return (float)(tile * 10 + unroll);
}
"""


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(N).astype(np.float32)
    return {
        "kernel_name": "scale",
        "kernel_source": SCALE,
        "problem_size": N,
        "arguments": [np.zeros_like(x), x, np.float32(2.0), np.int32(N)],
        "tune_params": {"tile": [1, 2, 4], "unroll": [1, 2]},
        "quiet": True,
        "iterations": 1,
    }


def answer_of(problem, factor=2.0):
    return [np.float32(factor) * problem["arguments"][1], None, None, None]


def configs(results):
    return [(r["tile"], r["unroll"]) for r in results]


# --- the interface ---------------------------------------------------------------------------------------------------


def test_the_signatures_are_those_of_kernel_tuner():
    theirs = pytest.importorskip("kernel_tuner")
    for name in ("tune_kernel", "run_kernel", "tune_cache", "store_results", "create_device_targets"):
        own, other = inspect.signature(getattr(kernel_tuner, name)), inspect.signature(getattr(theirs, name))
        assert [(p.name, p.default) for p in own.parameters.values()] == [(p.name, p.default) for p in other.parameters.values()]


def test_results_have_every_config_with_its_own_time(problem):
    results, env = kernel_tuner.tune_kernel(**problem, answer=answer_of(problem))
    assert configs(results) == [(t, u) for t in (1, 2, 4) for u in (1, 2)]
    for r in results:
        assert r["time"] == pytest.approx(10 * r["tile"] + r["unroll"], rel=1e-6)
        assert len(r["times"]) >= 1
        assert r["compile_time"] > 0 and r["benchmark_time"] > 0
        assert "__error__" not in r
    assert (env["best_config"]["tile"], env["best_config"]["unroll"]) == (1, 1)
    assert {"total_compile_time", "total_benchmark_time", "overhead_time"} <= set(env)


def test_what_is_printed(problem, capsys):
    problem["quiet"] = False
    kernel_tuner.tune_kernel(**problem, metrics={"rate": "1000 / time"})
    out = capsys.readouterr().out
    assert out.startswith("Using: ")
    assert "tile=1, unroll=1, time=11.000, rate=90.909" in out
    assert "BEST PERFORMING CONFIGURATION FOR OBJECTIVE time:\ntile=1, unroll=1, time=11.000, rate=90.909" in out


def test_metrics_build_on_each_other_and_may_be_the_objective(problem):
    metrics = {"a": lambda p: 100 / p["time"], "GFLOP/s": "a * tile"}
    results, env = kernel_tuner.tune_kernel(**problem, metrics=metrics, objective="GFLOP/s")
    for r in results:
        assert r["GFLOP/s"] == pytest.approx(100 / r["time"] * r["tile"])
    assert env["best_config"] == max(results, key=lambda r: r["GFLOP/s"])
    with pytest.raises(ValueError, match="objective_higher_is_better"):
        kernel_tuner.tune_kernel(**problem, metrics={"x": "1"}, objective="x")


def test_two_objectives_give_a_front(problem):
    _, env = kernel_tuner.tune_kernel(**problem, metrics={"size": "tile"}, objectives={"time": False, "size": True})
    assert configs(env["best_config"]) == [(1, 1), (2, 1), (4, 1)]


def test_run_kernel_returns_the_arguments_after_one_run(problem):
    arguments = problem["arguments"]
    out = kernel_tuner.run_kernel("scale", SCALE, N, arguments, {"tile": 1, "unroll": 2}, quiet=True)
    np.testing.assert_array_equal(out[0], 2 * arguments[1])
    np.testing.assert_array_equal(out[1], arguments[1])
    assert out[2:] == arguments[2:]
    # The caller's arrays too, as the code gets them in Kernel Tuner.
    np.testing.assert_array_equal(arguments[0], out[0])


def test_arrays_of_all_types(problem):
    code = "float copy(T *y, const T *x, int n) {{ for (int i = 0; i < n; i++) y[i] = x[i]; return 1; }}".replace("{{", "{").replace("}}", "}")
    for dtype, c in {
        "uint8": "unsigned char", "int16": "short", "uint32": "unsigned", "int64": "long", "float64": "double", "bool": "bool",
    }.items():  # fmt: skip
        x = np.arange(100).astype(dtype)
        results, _ = kernel_tuner.tune_kernel(
            "copy", code.replace("T", c), 100, [np.zeros_like(x), x, np.int32(100)], {"a": [1]}, answer=[x, None, None], quiet=True
        )
        assert results[0]["time"] == pytest.approx(1.0), dtype
    with pytest.raises(TypeError, match="position 0"):
        kernel_tuner.tune_kernel("copy", code, 1, ["text"], {"a": [1]}, quiet=True)


# --- sources ---------------------------------------------------------------------------------------------------------


def test_a_source_may_be_a_file_a_list_or_a_function(problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernel.c").write_text('#include "part.h"\n' + SCALE.replace("tile * 10", "10 * times"))
    (tmp_path / "part.h").write_text("#define times (tile + 100)\n")
    results, _ = kernel_tuner.tune_kernel(**{**problem, "kernel_source": ["kernel.c", "part.h"]})
    assert results[0]["time"] == pytest.approx(1011)

    def generated(params):
        return SCALE.replace("tile", str(params["tile"] + 5))

    with pytest.raises(TypeError, match="specify language"):
        kernel_tuner.tune_kernel(**{**problem, "kernel_source": generated})
    results, _ = kernel_tuner.tune_kernel(**{**problem, "kernel_source": generated}, lang="C")
    assert [r["time"] for r in results] == pytest.approx([10 * (t + 5) + u for t in (1, 2, 4) for u in (1, 2)])


def test_defines_replace_the_macros(problem):
    source = SCALE.replace("tile", "TILE").replace("unroll", "UNROLL")
    defines = {"TILE": "tile", "UNROLL": lambda p: p["unroll"] * 3}
    results, _ = kernel_tuner.tune_kernel(**{**problem, "kernel_source": source}, defines=defines)
    assert [r["time"] for r in results] == pytest.approx([10 * t + 3 * u for t in (1, 2, 4) for u in (1, 2)])


def test_languages_that_are_not_there_are_named(problem):
    with pytest.raises(NotImplementedError, match="HIP"):
        kernel_tuner.tune_kernel(**problem, lang="HIP")
    with pytest.raises(NotImplementedError, match="instances of templates"):
        kernel_tuner.tune_kernel(**{**problem, "kernel_name": "scale<float>"})


# --- the space -------------------------------------------------------------------------------------------------------

RESTRICTIONS = {
    "strings": ["tile * unroll <= 4", "tile != 2 or unroll == 1"],
    "function of the dictionary": lambda p: p["tile"] * p["unroll"] <= 4 and (p["tile"] != 2 or p["unroll"] == 1),
    "functions by name": [lambda tile, unroll: tile * unroll <= 4, "tile != 2 or unroll == 1"],
    "with their parameters": [(lambda tile, unroll: tile * unroll <= 4, ["tile", "unroll"]), "tile != 2 or unroll == 1"],
    "what only Python knows": ["sorted([tile * unroll, 5])[0] == tile * unroll", "tile != 2 or unroll == 1"],
}


@pytest.mark.parametrize("way", RESTRICTIONS)
def test_restrictions_in_every_form(problem, way):
    results, _ = kernel_tuner.tune_kernel(**problem, restrictions=RESTRICTIONS[way])
    assert configs(results) == [(1, 1), (1, 2), (2, 1), (4, 1)]


def test_constraints_of_python_constraint(problem):
    constraint = pytest.importorskip("constraint")
    limits = [(constraint.MaxProdConstraint(4), ["tile", "unroll"]), "tile != 2 or unroll == 1"]
    results, _ = kernel_tuner.tune_kernel(**problem, restrictions=limits)
    assert configs(results) == [(1, 1), (1, 2), (2, 1), (4, 1)]


def test_blocks_have_1024_threads_at_most(problem):
    problem["tune_params"] = {"tile": [1], "unroll": [1], "block_size_x": [512, 1024], "block_size_y": [1, 2]}
    results, _ = kernel_tuner.tune_kernel(**problem)
    assert [(r["block_size_x"], r["block_size_y"]) for r in results] == [(512, 1), (512, 2), (1024, 1)]


def test_expressions_are_translated_or_left_to_python():
    names = ["a", "b"]
    assert expressions.translate("a % 32 == 0 and (a, b)[0] > 1", names) is None
    assert expressions.translate("a in (1, 2) or not b", names) == "a in [1, 2] or not b"
    assert expressions.translate("import os", names) is None
    assert expressions.translate("c > 1", names) is None
    values = [3, 3, 5, 7, 7, 9]
    text = expressions.choice(values, "i")
    assert [eval(text, {"i": i}) for i in range(6)] == values


def test_many_values_are_written_in_parts_that_the_tuner_reads():
    values = [(7 * i) % 1999 for i in range(5000)]
    written = expressions.named_choices("v", values, most=40)
    assert [n for n, _ in written][-1] == "v" and len(written) == len(dict(written)) == 130
    assert max(len(text) for _, text in written) < 65536
    for i in (0, 99, 100, 101, 2500, 4999):
        names = {"kt_config": i}
        for name, text in written:
            names[name] = eval(text, {}, names)
        assert names["v"] == values[i]


@pytest.mark.parametrize(
    ("size", "divisors", "expected"),
    [
        (1000, (None, None, None), (8, 1, 1)),
        ((1000, 60), (["bx", "t"], ["t"], None), (2, 15, 1)),
        (("t * 10", 7), (["bx/32"], [], None), (10, 7, 1)),
        (1000, ([], None, None), (1000, 1, 1)),
        (lambda p: (p["t"] * 256,), (None, None, None), (8, 1, 1)),
        (1000, (lambda p: p["bx"] * 2, None, None), (4, 1, 1)),
        ((1000, 1), (64, None, None), (16, 1, 1)),
    ],
)
def test_grids(size, divisors, expected):
    params, names = {"bx": 128, "t": 4}, ["bx", "by", "bz"]
    assert launch.grid(size, divisors, params, names) == expected
    texts = launch.grid_expressions(size, divisors, {"bx": [128], "t": [4]}, names)
    if callable(size) or callable(divisors[0]):
        assert texts is None
    else:
        import math

        assert tuple(eval(t, {"ceil": math.ceil, **params}) for t in texts) == expected


def test_wrong_parameters_are_refused(problem):
    for tune_params, match in (({"time": [1]}, "forbidden"), ({"a b": [1]}, "identifier"), ({"a": []}, "no values"), ([1], "dictionary")):
        with pytest.raises(ValueError, match=match):
            kernel_tuner.tune_kernel(**{**problem, "tune_params": tune_params})
    with pytest.raises(ValueError, match="list of strings"):
        kernel_tuner.tune_kernel(**problem, block_size_names="x")


# --- strategies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["random_sample", "genetic_algorithm", "simulated_annealing", "bayes_opt", "portfolio"])
def test_strategies_keep_their_budget(problem, strategy):
    results, _ = kernel_tuner.tune_kernel(**problem, strategy=strategy, strategy_options={"max_fevals": 3}, seed=2)
    assert len(results) == 3 == len(set(configs(results)))


def test_unknown_strategies_are_refused(problem):
    with pytest.raises(ValueError, match="Unkown strategy"):
        kernel_tuner.tune_kernel(**problem, strategy="magic")
    with pytest.raises(ValueError, match="Unkown strategy"):
        kernel_tuner.tune_kernel(**problem, strategy=object())


# --- verification ----------------------------------------------------------------------------------------------------


def test_a_wrong_result_ends_the_search(problem):
    with pytest.raises(RuntimeError, match="Kernel result verification failed for: tile="):
        kernel_tuner.tune_kernel(**problem, answer=answer_of(problem, 2.001))
    # Within the tolerance it is right.
    results, _ = kernel_tuner.tune_kernel(**problem, answer=answer_of(problem, 2.001), atol=0.1)
    assert len(results) == 6


def test_a_function_verifies(problem):
    seen = []

    def verify(answer, result):
        seen.append([r is None for r in result])
        return np.allclose(answer[0], result[0])

    results, _ = kernel_tuner.tune_kernel(**problem, answer=answer_of(problem), verify=verify)
    assert len(results) == len(seen) == 6
    assert seen[0] == [False, True, True, True]
    with pytest.raises(RuntimeError, match="verification failed"):
        kernel_tuner.tune_kernel(**problem, answer=answer_of(problem, 3.0), verify=lambda answer, result, atol=None: verify(answer, result))


def test_an_exception_of_the_function_reaches_the_caller(problem):
    def verify(answer, result, atol=None):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        kernel_tuner.tune_kernel(**problem, answer=answer_of(problem), verify=verify)


def test_answers_of_another_shape_are_refused(problem):
    with pytest.raises(TypeError, match="length of argument list"):
        kernel_tuner.tune_kernel(**problem, answer=[None])
    with pytest.raises(ValueError, match="size different"):
        kernel_tuner.tune_kernel(**problem, answer=[np.zeros(3, np.float32), None, None, None])


def test_code_that_does_not_compile_ends_the_search(problem, capsys):
    with pytest.raises(util.CompileError, match="tile=.*error"):
        kernel_tuner.tune_kernel(**{**problem, "kernel_source": SCALE + "\nnonsense"})
    assert "compile_kernel failed due to error" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="compile"):
        kernel_tuner.run_kernel("scale", SCALE + "nonsense", N, problem["arguments"], {"tile": 1, "unroll": 1}, quiet=True)


def test_a_config_that_crashes_is_skipped(problem):
    source = SCALE.replace("for (", "if (tile == 2) *(volatile int *)0 = 1;\n    for (")
    with pytest.warns(RuntimeWarning, match="crash"):
        results, env = kernel_tuner.tune_kernel(**{**problem, "kernel_source": source})
    failed = [r for r in results if "__error__" in r]
    assert {r["tile"] for r in failed} == {2} and len(failed) == 2
    assert all(isinstance(r["__error__"], util.RuntimeFailedConfig) and "time" not in r for r in failed)
    assert env["best_config"]["tile"] == 1


def test_what_cannot_be_a_time_is_named(problem):
    with pytest.warns(UserWarning, match="scale returns void, so its time is not known"):
        kernel_tuner.tune_kernel(**{**problem, "kernel_source": SCALE.replace("float scale", "void scale").replace("return (float)", "(void)")})
    for wrong in (0, -1, 2.5, None, "3", float("nan"), float("inf")):
        with pytest.raises(ValueError, match="at least one"):
            kernel_tuner.tune_kernel(**{**problem, "iterations": wrong})


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_cache_is_written_and_continued(problem, tmp_path):
    file = tmp_path / "cache"
    first, _ = kernel_tuner.tune_kernel(**problem, cache=str(file), strategy="random_sample", strategy_options={"max_fevals": 2})
    data = json.loads((tmp_path / "cache.json").read_text())
    assert data["kernel_name"] == "scale" and data["tune_params_keys"] == ["tile", "unroll"]
    assert len(data["cache"]) == 2
    key = ",".join(str(first[0][k]) for k in ("tile", "unroll"))
    assert data["cache"][key]["time"] == first[0]["time"]
    results, _ = kernel_tuner.tune_kernel(**problem, cache=str(file))
    assert configs(results) == [(t, u) for t in (1, 2, 4) for u in (1, 2)]
    assert sum(r["compile_time"] == 0 for r in results) == 2
    assert len(json.loads((tmp_path / "cache.json").read_text())["cache"]) == 6
    # All is known: nothing is run.
    start = time.perf_counter()
    again, _ = kernel_tuner.tune_kernel(**{**problem, "kernel_source": SCALE + "float x() { return 0; }"}, cache=str(file))
    assert configs(again) == configs(results) and time.perf_counter() - start < 1.0


def test_a_cache_of_something_else_is_refused(problem, tmp_path):
    file = str(tmp_path / "cache.json")
    kernel_tuner.tune_kernel(**problem, cache=file)
    before = (tmp_path / "cache.json").read_text()
    for change, match in (
        ({"problem_size": 17}, "different problem_size"),
        ({"tune_params": {"unroll": [1], "tile": [1]}}, "order is wrong"),
        ({"tune_params": {"unroll": [1], "tile": [1], "more": [1]}}, "different tunable parameters"),
    ):
        with pytest.raises(ValueError, match=match):
            kernel_tuner.tune_kernel(**{**problem, **change}, cache=file)
    with pytest.raises(ValueError, match="different kernel"):
        kernel_tuner.tune_kernel(**{**problem, "kernel_name": "other"}, cache=file)
    assert (tmp_path / "cache.json").read_text() == before


def test_kernel_tuner_reads_the_cache_and_this_reads_its_own(problem, tmp_path):
    theirs = pytest.importorskip("kernel_tuner")
    file = str(tmp_path / "cache.json")
    kernel_tuner.tune_kernel(**problem, cache=file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results, _ = theirs.tune_kernel(**problem, cache=file, simulation_mode=True)
        assert sorted(r["time"] for r in results) == pytest.approx([11, 12, 21, 22, 41, 42])
        other = str(tmp_path / "other.json")
        theirs.tune_kernel(**problem, cache=other)
    results, _ = kernel_tuner.tune_kernel(**problem, cache=other)
    assert all(r["compile_time"] == 0 for r in results) and len(results) == 6


def test_a_cache_that_was_cut_off_is_read(tmp_path):
    head = '{\n"device_name": "",\n"kernel_name": "k",\n"cache": {'
    lines = ['\n"1": {"a": 1, "time": 2.0},', '\n"2": {"a": 2, "time": "RuntimeFailedConfig"},']
    file = tmp_path / "c.json"
    for tail, count in (("", 2), ('\n"3": {"a": 3, "ti', 2), ("}\n}", 2)):
        text = head + "".join(lines)
        file.write_text((text.rstrip(",") if tail == "}\n}" else text) + tail)
        entries = cache_module.read_cache(str(file))["cache"]
        assert len(entries) == count and isinstance(entries["2"]["__error__"], util.RuntimeFailedConfig)
    file.write_text("no cache")
    with pytest.raises(ValueError, match="no cache file"):
        cache_module.read_cache(str(file))


def test_simulation(problem, tmp_path):
    file = str(tmp_path / "cache.json")
    kernel_tuner.tune_kernel(**problem, cache=file)
    broken = {**problem, "kernel_source": "nonsense", "cache": file, "simulation_mode": True}
    results, env = kernel_tuner.tune_kernel(**broken)
    assert env["simulation"] and len(results) == 6 and env["best_config"]["time"] == pytest.approx(11)
    results, _ = kernel_tuner.tune_kernel(**broken, strategy="genetic_algorithm", strategy_options={"max_fevals": 4})
    assert len(results) == 4 == len(set(configs(results)))
    results, _ = tune_cache(file, restrictions=["tile > 1"], quiet=True)
    assert len(results) == 4
    with pytest.raises(ValueError, match="must be present in the cache"):
        kernel_tuner.tune_kernel(**{**broken, "tune_params": {"tile": [1, 8], "unroll": [1]}})
    with pytest.raises(ValueError, match="does not exist"):
        kernel_tuner.tune_kernel(**{**broken, "cache": str(tmp_path / "none")})


def test_t4_files(problem, tmp_path):
    results, _ = kernel_tuner.tune_kernel(**problem, metrics={"rate": "1 / time"})
    file_utils.store_output_file(str(tmp_path / "new" / "out"), results, problem["tune_params"])
    data = json.loads((tmp_path / "new" / "out.json").read_text())
    assert data["schema_version"] == "1.0.0" and len(data["results"]) == 6
    entry = data["results"][0]
    assert entry["configuration"] == {"tile": 1, "unroll": 1} and entry["invalidity"] == "correct"
    assert {m["name"] for m in entry["measurements"]} == {"time", "rate"}
    back = file_utils.load_output_file(tmp_path / "new" / "out.json")
    assert [r["time"] for r in back] == [r["time"] for r in results]
    file_utils.store_metadata_file(str(tmp_path / "meta.json"))
    meta = json.loads((tmp_path / "meta.json").read_text())
    theirs = pytest.importorskip("kernel_tuner.file_utils")
    import jsonschema

    jsonschema.validate(data, theirs.output_file_schema("results")[1])
    jsonschema.validate(meta, theirs.output_file_schema("metadata")[1])


def test_device_targets(problem, tmp_path):
    results, env = kernel_tuner.tune_kernel(**problem)
    env["device_name"] = "My GPU"
    file, header = str(tmp_path / "r.json"), tmp_path / "targets.h"
    kernel_tuner.store_results(file, "scale", SCALE, problem["tune_params"], (N, 1), results, env)
    kernel_tuner.store_results(file, "scale", SCALE, problem["tune_params"], (N, 1), results, {**env, "device_name": "Other"})
    kernel_tuner.create_device_targets(str(header), file)
    program = '#include "targets.h"\n#include <stdio.h>\nint main(void) { printf("%d %d", tile, unroll); }\n'
    (tmp_path / "p.c").write_text(program)
    for flags in (["-DTARGET_My_GPU"], ["-DTARGET_Other"], []):
        subprocess.run(["cc", *flags, "p.c", "-o", "p"], cwd=tmp_path, check=True)
        assert subprocess.run(["./p"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "1 1"
    best = integration.TuneResults(file).get_best_config("My GPU", (N, 1))
    assert best["tunable_parameters"] == {"tile": 1, "unroll": 1}


# --- interruption ----------------------------------------------------------------------------------------------------


def test_ctrl_c_loses_nothing(tmp_path):
    script = textwrap.dedent("""
        import numpy as np
        from greenup.kernel_tuner import tune_kernel
        source = "float f(float *x) { for (volatile int i = 0; i < 20000000; i++); return tile; }"
        try:
            tune_kernel("f", source, 1, [np.zeros(4, np.float32)], {"tile": list(range(1, 200))}, cache="cache")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    (tmp_path / "script.py").write_text(script)
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "script.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"}, start_new_session=True,
    )  # fmt: skip
    try:
        lines = [process.stdout.readline() for _ in range(4)]
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "interrupted" in rest
    printed = [line for line in [*lines, *rest.splitlines()] if line.startswith("tile=")]
    entries = json.loads((tmp_path / "cache.json").read_text())["cache"]
    assert 3 <= len(printed) <= len(entries) < 199
    assert all(entry["time"] == pytest.approx(int(key)) for key, entry in entries.items())


def test_ctrl_c_while_a_result_is_handled_keeps_it(problem, tmp_path):
    seen = []

    def interrupting(result):
        seen.append(key_of({k: result[k] for k in problem["tune_params"]}))
        if len(seen) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return result["time"]

    cache = tmp_path / "cache.json"
    with pytest.raises(KeyboardInterrupt):
        kernel_tuner.tune_kernel(**problem, metrics={"m": interrupting}, cache=cache)
    entries = json.loads(cache.read_text())["cache"]
    assert len(seen) >= 2 and set(seen) <= set(entries)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_metric_that_raises_loses_no_result(problem, tmp_path):
    cache = tmp_path / "cache.json"
    with pytest.raises(ZeroDivisionError):
        kernel_tuner.tune_kernel(**problem, metrics={"m": lambda result: 1 / 0}, cache=cache)
    assert len(json.loads(cache.read_text())["cache"]) == 1


def test_a_second_ctrl_c_does_not_wait():
    with pytest.raises(KeyboardInterrupt), Deferred() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            interrupts.check()
        except KeyboardInterrupt:
            pass
        else:
            pytest.fail("the first one was lost")
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the second one waited")


def test_a_missing_program_is_named(problem, monkeypatch, tmp_path):
    monkeypatch.setenv("GREENUP_BIN", str(tmp_path / "none"))
    with pytest.raises(RuntimeError, match="GREENUP_BIN"):
        kernel_tuner.tune_kernel(**problem)


def test_what_was_not_measured_is_null_in_files_and_never_the_best(tmp_path):
    nan = float("nan")
    results = [{"time": nan, "GFLOP/s": nan}, {"time": 2.0, "GFLOP/s": float("inf")}, {"time": 1.0, "GFLOP/s": np.float32(3.0)}]
    assert json.loads(json.dumps({"a": results}, cls=util.NpEncoder))["a"][0] == {"time": None, "GFLOP/s": None}
    assert util.get_best_config(results, "time")["time"] == 1.0
    file = tmp_path / "cache.json"
    head = '{"device_name": "d", "kernel_name": "k", "tune_params_keys": ["a"], "cache": {\n'
    entries = ['"1": {"a": 1, "time": 2.0, "GFLOP/s": NaN}', '"2": {"a": 2, "time": 1e20}', '"3": {"a": null, "time": null}']
    file.write_text("\ufeff" + head + ",\n".join(entries) + "}\n}", encoding="utf-8")
    read = cache_module.read_cache(str(file))["cache"]
    assert math.isnan(read["1"]["GFLOP/s"])
    assert "__error__" in read["2"]
    assert read["3"]["a"] is None and math.isnan(read["3"]["time"])


def test_units_of_t4_files_are_read(tmp_path):
    file = tmp_path / "t4.json"

    def time_of(value, unit, metadata=None):
        measurements = [{"name": "time", "value": value, "unit": unit}, {"name": "energy", "value": 500.0, "unit": "mJ"}]
        entry = {"configuration": {"b": 1}, "measurements": measurements, "invalidity": "correct"}
        file.write_text(json.dumps({"results": [entry], "metadata": metadata or {}}))
        (result,) = file_utils.load_output_file(str(file))
        assert result["energy"] == 0.5
        return result["time"]

    for value, unit in ((2.0, "ms"), (2.0, ""), (2000.0, "us"), ("2.0", "ms"), ([1.0, 3.0], "ms")):
        assert time_of(value, unit) == pytest.approx(2.0)
    assert time_of(2000.0, "", {"timeunit": "microseconds"}) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="fortnights"):
        time_of(1.0, "fortnights")
