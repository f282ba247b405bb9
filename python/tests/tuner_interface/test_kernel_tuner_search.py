"""Searches by Kernel Tuner's interface: what guides them, budgets, options, seeds, simulation, optimizers written in Python."""

import itertools
import json
import sys
import threading

import numpy as np
import pytest

from greenup import kernel_tuner
from greenup.kernel_tuner.budget import StopCriterionReached
from greenup.kernel_tuner.strategies import strategy_map
from greenup.kernel_tuner.strategies.common import CostFunc
from greenup.kernel_tuner.strategies.wrapper import OptAlg, OptAlgWrapper

PARAMS = {"x": list(range(20)), "y": [2**i for i in range(10)], "mode": ["a", "b"]}


def cache_of(folder, params=PARAMS, keep=lambda p: True, **values):
    """A cache of a made-up kernel: time is least at (3, 8, "a"), energy at (15, 128, "b")."""
    entries = {}
    for config in itertools.product(*params.values()):
        p = dict(zip(params, config))
        if not keep(p):
            continue
        x, y = p["x"], np.log2(p["y"])
        time = 1.0 + abs(x - 3) + abs(y - 3) + (p["mode"] == "b")
        energy = 1.0 + abs(x - 15) + abs(y - 7) + (p["mode"] == "a")
        entries[",".join(map(str, config))] = {
            **p, "time": float(time), "times": [float(time)], "energy": float(energy), "compile_time": 100.0, "verification_time": 1.0,
            "benchmark_time": 10.0, "strategy_time": 5.0, "framework_time": 5.0, "timestamp": "2024-01-01", **values,
        }  # fmt: skip
    head = {"device_name": "X", "kernel_name": "k", "problem_size": 100, "tune_params_keys": list(params), "tune_params": params}
    file = folder / "cache.json"
    file.write_text(json.dumps({**head, "objective": ["time"], "cache": entries}))
    return file


@pytest.fixture
def cache(tmp_path):
    return cache_of(tmp_path)


def simulate(cache, params=PARAMS, **more):
    return kernel_tuner.tune_kernel("k", "float k() { return 1; }", 100, [], params, cache=str(cache), simulation_mode=True, quiet=True, **more)


def order(results):
    return [(r["x"], r["y"], r["mode"]) for r in results]


# --- the objective ---------------------------------------------------------------------------------------------------

GUIDED = [s for s in strategy_map if s not in ("brute_force", "random_sample", "nsga2", "nsga3")]


@pytest.mark.parametrize("strategy", GUIDED)
def test_the_objective_guides_the_search(cache, strategy):
    options = {"strategy": strategy, "strategy_options": {"max_fevals": 120}, "seed": 5}
    _, env = simulate(cache, objective="energy", **options)
    assert env["best_config"]["energy"] <= 3.0
    # A metric that is to be large, found from others.
    metrics = {"work": lambda p: 1 / p["energy"], "double": "2 * work"}
    _, env = simulate(cache, metrics=metrics, objective="double", objective_higher_is_better=True, **options)
    assert env["best_config"]["energy"] <= 3.0
    _, env = simulate(cache, **options)
    assert env["best_config"]["time"] <= 3.0


def test_several_objectives_share_a_search(cache):
    options = {"objectives": {"time": False, "energy": False}, "strategy_options": {"max_fevals": 150}, "seed": 1}
    _, env = simulate(cache, strategy="nsga2", **options)
    front = env["best_config"]
    assert min(r["time"] for r in front) <= 4.0 and min(r["energy"] for r in front) <= 4.0
    assert all(r["optimal"] for r in front)
    with pytest.warns(UserWarning, match="nsga2"):
        simulate(cache, strategy="mls", **options)


@pytest.mark.parametrize("strategy", [None, "random_sample", "mls"])
def test_an_absent_objective_is_named(cache, strategy):
    options = {"strategy_options": {"max_fevals": 5}} if strategy else {}
    with pytest.raises(KeyError, match="'power' is not in the results"):
        simulate(cache, strategy=strategy, objective="power", objective_higher_is_better=False, **options)


@pytest.mark.parametrize("value", [float("nan"), None, float("inf"), "text"])
def test_what_is_no_number_never_wins(cache, value):
    metrics = {"m": lambda p: value if p["x"] > 2 else np.float32(p["x"])}
    for up, best in ((True, 2), (False, 0)):
        _, env = simulate(cache, metrics=metrics, objective="m", objective_higher_is_better=up)
        assert env["best_config"]["x"] == best
        _, env = simulate(
            cache, metrics=metrics, objective="m", objective_higher_is_better=up, strategy="mls", strategy_options={"max_fevals": 400}
        )
        assert env["best_config"]["x"] == best


def test_failed_configs_are_never_the_best(tmp_path, capsys):
    cache = cache_of(tmp_path, time="RuntimeFailedConfig")
    results, env = kernel_tuner.tune_kernel("k", "float k() {}", 100, [], PARAMS, cache=str(cache), simulation_mode=True)
    assert len(results) == 400 and all("__error__" in r for r in results)
    assert env["best_config"] is None
    assert "no config has a measured time" in capsys.readouterr().out


# --- seeds, starting points, options, budgets ------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["random_sample", "genetic_algorithm", "mls", "bayes_opt"])
def test_seeded_runs_repeat_and_unseeded_runs_differ(cache, strategy):
    options = {"strategy": strategy, "strategy_options": {"max_fevals": 12}}
    one, again, other = (order(simulate(cache, seed=seed, **options)[0]) for seed in (7, 7, 8))
    assert one == again != other
    free = [order(simulate(cache, **options)[0]) for _ in range(3)]
    assert not free[0] == free[1] == free[2]


@pytest.mark.parametrize("strategy", strategy_map)
def test_starting_points_are_used_or_refused(cache, strategy):
    options = {"x0": [19, 512, "b"], "max_fevals": 6}
    if "x0" in strategy_map[strategy].refuses:
        with pytest.raises(ValueError, match="x0|max_fevals"):
            simulate(cache, strategy=strategy, strategy_options=options)
        return
    results, _ = simulate(cache, strategy=strategy, strategy_options=options)
    assert order(results)[0] == (19, 512, "b") and len(set(order(results))) == len(results) == 6
    with pytest.raises(AssertionError, match="Invalid x0"):
        simulate(cache, strategy=strategy, strategy_options={**options, "x0": [1]})
    with pytest.raises(ValueError, match="no valid config"):
        simulate(cache, strategy=strategy, strategy_options={**options, "x0": [1, 3, "a"]})


@pytest.mark.parametrize("strategy", [None, *strategy_map])
def test_unknown_options_are_refused(cache, strategy):
    with pytest.raises(ValueError, match="Unrecognized option magic"):
        simulate(cache, strategy=strategy, strategy_options={"magic": 1})


def test_options_without_effect_are_named(cache):
    with pytest.warns(UserWarning, match="mutation_chance of genetic_algorithm have no effect"):
        simulate(cache, strategy="genetic_algorithm", strategy_options={"mutation_chance": 3, "max_fevals": 5})


@pytest.mark.parametrize(
    ("strategy", "options", "count"),
    [
        ("brute_force", {}, 400),
        ("random_sample", {}, 40),
        ("random_sample", {"fraction": 0.011}, 5),
        ("random_sample", {"max_fevals": 7}, 7),
        ("random_sample", {"max_fevals": 700}, 400),
        ("mls", {}, 100),
        ("bayes_opt", {}, 100),
        ("genetic_algorithm", {"popsize": 4, "maxiter": 3}, 12),
        ("genetic_algorithm", {}, 400),
        ("dual_annealing", {}, 400),
        ("diff_evo", {"max_fevals": 700}, 400),
    ],
)
def test_budgets_and_own_ends(cache, strategy, options, count):
    results, _ = simulate(cache, strategy=strategy, strategy_options=options)
    assert len(set(order(results))) == len(results) == count


def test_impossible_budgets_are_refused(cache):
    for options, kind, match in (
        ({"max_fevals": 0}, ValueError, "max_fevals"),
        ({"time_limit": 0}, RuntimeError, "startup time"),
        ({"fraction": 2}, ValueError, "fraction"),
    ):
        with pytest.raises(kind, match=match):
            simulate(cache, strategy="random_sample", strategy_options=options)
    with pytest.raises(ValueError, match="Unrecognized option max_fevals"):
        simulate(cache, strategy="brute_force", strategy_options={"max_fevals": 3})


# --- simulation ------------------------------------------------------------------------------------------------------


def test_a_time_limit_is_simulated_time(cache):
    # 111 ms each.
    results, env = simulate(cache, strategy="random_sample", strategy_options={"fraction": 1, "time_limit": 2.0})
    assert 10 <= len(results) <= 19
    assert env["simulated_time"] == pytest.approx(111.0 * len(results))


def test_times_of_a_simulation_add_up(cache):
    results, env = simulate(cache, strategy="genetic_algorithm", strategy_options={"max_fevals": 50})
    parts = ("framework", "strategy", "compile", "verification", "benchmark")
    assert all(env[f"total_{p}_time"] > 0 for p in parts) and env["overhead_time"] > 0
    assert env["total_compile_time"] == pytest.approx(100.0 * 50)
    # Not those of the cache: what the search took now.
    assert all(0 < r["strategy_time"] and r["framework_time"] < 1000 for r in results)
    assert results[0]["framework_time"] != 5.0


def test_incomplete_caches_serve_what_they_have(tmp_path):
    cache = cache_of(tmp_path, keep=lambda p: p["x"] < 10)
    results, _ = simulate(cache, restrictions=["x < 10"], strategy="mls")
    assert len(results) == 100
    results, _ = simulate(cache, strategy="mls", strategy_options={"x0": [0, 1, "a"], "max_fevals": 1})
    assert order(results) == [(0, 1, "a")]
    with pytest.raises(ValueError, match="not in cache"):
        simulate(cache)
    results, _ = kernel_tuner.tune_cache(str(cache), quiet=True)
    assert len(results) == 200


# --- strategies written in Python ------------------------------------------------------------------------------------


class Descent(OptAlg):
    """Goes to the best neighbour until there is none, then starts again."""

    def __call__(self, func, searchspace):
        while func.budget_spent_fraction < 1.0:
            best, cost = None, float("inf")
            near = searchspace.get_random_sample(1)
            while near:
                costs = func.eval_all(near)
                if min(costs) >= cost:
                    break
                cost = min(costs)
                best = near[costs.index(cost)]
                near = searchspace.get_neighbors(best, "Hamming")
        return best, cost


def test_an_optimizer_written_in_python_finds_the_best(cache):
    results, env = simulate(cache, strategy=OptAlgWrapper(Descent()), strategy_options={"max_fevals": 120}, objective="energy")
    assert env["best_config"]["energy"] == 1.0
    assert len(set(order(results))) <= 120


class Scaled(OptAlg):
    def __init__(self, positions):
        self.positions, self.costs = positions, []
        self.costfunc_kwargs = {"scaling": True, "snap": True}

    def __call__(self, func, searchspace):
        assert searchspace.num_params == 3 and searchspace.size == 400
        self.costs += [func(p) for p in self.positions]
        return None, 0.0


def test_positions_are_scaled_and_snapped(cache):
    optimizer = Scaled([[0, 0, 0], [1, 1, 0.1], [0.53, 0.06, 0.06]])
    results, _ = simulate(cache, strategy=OptAlgWrapper(optimizer), strategy_options={"max_fevals": 10})
    # One value of the parameter with the most values is 1/20 wide.
    assert order(results) == [(0, 1, "a"), (19, 512, "b"), (10, 2, "b")]
    assert optimizer.costs == [r["time"] for r in results]


class Own:
    """A strategy without a base class, that asks for several configs at a time."""

    def tune(self, searchspace, runner, tuning_options):
        func = CostFunc(searchspace, tuning_options, runner, snap=False)
        assert func.eval_all([(0, 1, "a"), (0, 3, "a"), (5, 8, "b")]) == [7.0, sys.float_info.max, 4.0]
        with pytest.raises(StopCriterionReached):
            func.eval_all([(1, 1, "a"), (2, 1, "a"), (3, 1, "a")])
        return func.results


def test_a_strategy_object_gets_costs_until_the_budget_ends(cache):
    results, _ = simulate(cache, strategy=Own(), strategy_options={"max_fevals": 4})
    assert order(results) == [(0, 1, "a"), (5, 8, "b"), (1, 1, "a"), (2, 1, "a")]


# --- kernels that run ------------------------------------------------------------------------------------------------

SOURCE = """
#include <math.h>
float point(float *y, int n) { y[0] = n; return VALUE; }
"""


def tune(value, params, **more):
    y = np.zeros(4, np.float32)
    return kernel_tuner.tune_kernel(
        "point", SOURCE.replace("VALUE", value), 4, [y, np.int32(4)], params, lang="C", quiet=True, iterations=1, **more
    )


def test_measurements_are_guided_by_a_metric():
    metrics = {"far": lambda p: abs(p["t"] - 6) + p["time"] * 0}
    results, env = tune(
        "100 - t", {"t": list(range(1, 31))}, metrics=metrics, objective="far", objective_higher_is_better=False, strategy="mls",
        strategy_options={"max_fevals": 6, "x0": [8]}, seed=3,
    )  # fmt: skip
    assert results[0]["t"] == 8 and len(results) == 6
    # By its time the best is 30, of which nothing is near.
    assert env["best_config"]["far"] <= 2


def test_a_strategy_of_python_measures_kernels():
    class Climb(OptAlg):
        def __call__(self, func, searchspace):
            t = 2
            while func([t + 1]) < func([t]):
                t += 1

    results, env = tune("1 + fabs(t - 5.0)", {"t": list(range(1, 9))}, strategy=OptAlgWrapper(Climb()), strategy_options={"max_fevals": 30})
    assert [r["t"] for r in results] == [3, 2, 4, 3, 5, 4, 6, 5]
    assert env["best_config"]["t"] == 5
    # What is known takes no time.
    assert results[3]["compile_time"] == 0 < results[0]["compile_time"]


@pytest.mark.parametrize(("value", "time", "best"), [("t == 2 ? 0.0 : t", 0.0, 2), ("t == 2 ? -5.0 : t", -5.0, 2), ("t == 2 ? NAN : t", None, 1), ("t == 1 ? INFINITY : t", None, 2)])  # fmt: skip
def test_returned_times_are_taken_as_they_are(value, time, best):
    with pytest.warns(RuntimeWarning, match="as its time"):
        results, env = tune(value, {"t": [1, 2, 4]}, answer=[np.array([4, 0, 0, 0], np.float32), None])
    assert not any("__error__" in r for r in results)
    assert env["best_config"]["t"] == best
    if time is not None:
        assert results[1]["time"] == pytest.approx(time)


@pytest.mark.parametrize("time", ["0.0", "NAN"])
def test_results_are_compared_before_a_time_that_is_none(time):
    with pytest.raises(RuntimeError, match="verification failed"):
        tune(time, {"t": [2]}, answer=[np.array([5, 0, 0, 0], np.float32), None])


@pytest.mark.parametrize("strategy", ["simulated_annealing", "dual_annealing", "hybrid_vndx"])
def test_annealing_cools_within_its_budget(cache, strategy):
    def best(seed):
        _, env = kernel_tuner.tune_kernel(
            "k", "", 100, [], PARAMS, strategy=strategy, strategy_options={"max_fevals": 60}, objective="energy",
            objective_higher_is_better=False, cache=str(cache), simulation_mode=True, quiet=True, seed=seed,
        )  # fmt: skip
        return env["best_config"]["energy"]

    # Of 400 configs 1 has the least and 9 less than 3; without cooling a walk is as good as 60 random configs.
    assert sorted(best(seed) for seed in range(9))[6] <= 2


def test_configs_that_only_python_refuses_do_not_end_a_search(tmp_path):
    params = {f"p{i}": list(range(20)) for i in range(4)}
    asked = []

    class Runner:
        def run(self, configs, options):
            asked.extend(configs)
            return [{"time": float(sum(c))} for c in configs]

    space = kernel_tuner.searchspace.Searchspace(params, [lambda p: sum(p.values()) % 2 == 0], 10**9, [])
    options = {
        "strategy_options": {"max_fevals": 40}, "budget": kernel_tuner.budget.TuningBudget(None, None), "seed": 1,
        "objective": ["time"], "objective_higher_is_better": [False],
    }  # fmt: skip
    assert len(strategy_map["mls"].tune(space, Runner(), options)) == len(asked) == 40
    assert all(sum(c) % 2 == 0 for c in asked)


def test_a_gpus_tuner_ends_while_the_caller_goes_on():
    from greenup.kernel_tuner.measure.workplace import Workplace, wait_for_ends

    may_end, ended = threading.Event(), []

    def close(name, *, waits=True):
        def end():
            if waits:
                may_end.wait()
            ended.append(name)

        return end

    with Workplace(awaited=False) as place:
        place.end([close("tuner"), close("checker")], failed=False)
    assert place.path.is_dir() and not ended
    may_end.set()
    wait_for_ends()
    assert ended == ["tuner", "checker"] and not place.path.exists()
    # A host's next search would be disturbed, and after an error nothing is left. What one end raises keeps no other from coming.
    for awaited, failed in ((True, False), (False, True)):
        ended.clear()
        with Workplace(awaited=awaited) as place:

            def broken():
                raise OSError("gone")

            with pytest.raises(OSError, match="gone"):
                place.end([broken, close("checker", waits=False)], failed=failed)
            assert ended == ["checker"]
        wait_for_ends()
        assert not place.path.exists()


def test_the_tuner_is_asked_for_a_part_at_a_time(monkeypatch):
    from greenup.kernel_tuner.measure import session

    ahead = []

    class Run:
        def __init__(self):
            self.left = 0

        def request(self, configs):
            self.left += len(configs)
            ahead.append(self.left)

        def trials(self, count):
            for _ in range(count):
                self.left -= 1
                yield {}

    monkeypatch.setattr(session, "AHEAD", 4)
    made = session.Session(None, None, None, None)
    made._run = Run()
    assert len(list(made.measure([[i] for i in range(11)]))) == 11
    assert ahead == [4, 4, 3]


def test_a_kernel_that_is_missing_ends_the_search():
    with pytest.raises(AttributeError, match="nothing"):
        kernel_tuner.tune_kernel("nothing", SOURCE.replace("VALUE", "1"), 4, [np.zeros(4, np.float32), np.int32(4)], {"t": [1, 2]}, lang="C", quiet=True)


def test_no_config_that_runs_is_an_error():
    crash = "(*(volatile int *)0 = 1, 1.0)"
    with pytest.warns(RuntimeWarning, match="crash"), pytest.raises(RuntimeError, match="no config could be measured"):
        tune(crash, {"t": [1, 2]})
