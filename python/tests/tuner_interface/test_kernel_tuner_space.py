"""Spaces of Kernel Tuner's interface: restrictions in every form, their size, configs in order, neighbours."""

import itertools

import numpy as np
import pytest

from greenup import kernel_tuner
from greenup.kernel_tuner import integration
from greenup.kernel_tuner.space import restrictions
from greenup.kernel_tuner.searchspace import Searchspace

PARAMS = {"x": [1, 2, 4, 8], "y": [3, 1, 2], "mode": ["a", "b"]}


def by_hand(passes, params=PARAMS):
    return [c for c in itertools.product(*params.values()) if passes(*c)]


def only_x_and_y(x, y):
    return x * y <= 8


CASES = {
    "a text": (["x * y <= 8"], lambda x, y, m: x * y <= 8),
    "functions of math": (["ceil(x / y) + floor(x / 3) <= 2", "sqrt(x) < 2.5"], lambda x, y, m: -(-x // y) + x // 3 <= 2 and x < 6.25),
    "functions with their modules": (["math.ceil(x / y) == np.floor(x / y)"], lambda x, y, m: x % y == 0),
    "words": (["mode == 'a' or x in (1, 8)"], lambda x, y, m: m == "a" or x in (1, 8)),
    "what only Python knows": (["mode.upper() == 'B'"], lambda x, y, m: m == "b"),
    "a lambda": ([lambda p: p["x"] > 1 and p["y"] < 3], lambda x, y, m: x > 1 and y < 3),
    "a lambda of all": ([lambda p: sum(v for v in p.values() if isinstance(v, int)) > 6], lambda x, y, m: x + y > 6),
    "a function by names": ([only_x_and_y], lambda x, y, m: x * y <= 8),
    "a division by zero holds": (["8 % (y - 1) == 0"], lambda x, y, m: True),
    "always": (["1 < 2"], lambda x, y, m: True),
}


@pytest.mark.parametrize("case", CASES)
def test_restrictions_leave_the_configs_that_pass(case, monkeypatch):
    limits, passes = CASES[case]
    for most in (restrictions.TABLE, 0):
        # With and without tables of what passes.
        monkeypatch.setattr(restrictions, "TABLE", most)
        space = Searchspace(PARAMS, limits)
        assert space.list == by_hand(passes)
        assert space.size == len(space.list) == len(space.get_list_dict())
        for config in itertools.product(*PARAMS.values()):
            assert space.is_param_config_valid(config) == passes(*config)
        assert set(space.get_random_sample(100)) == set(space.list)
        assert len(set(space.get_random_sample(2))) == 2


def test_values_that_look_alike_stay_apart():
    params = {"v": ["test", 1, True, 2.45, "1"], "w": [None, (1, 2)], "n": list(np.array([4, 1]))}
    space = Searchspace(params, [lambda p: p["v"] is not True or p["n"] == 4])
    expected = [c for c in itertools.product(*params.values()) if c[0] is not True or c[2] == 4]
    assert [tuple(map(repr, c)) for c in space.list] == [tuple(map(repr, c)) for c in expected]
    assert space.is_param_config_valid((True, None, 4)) and not space.is_param_config_valid((True, None, 1))
    with pytest.raises(ValueError, match="twice"):
        Searchspace({"v": [1, 2, 1]})


def test_names_that_a_space_does_not_have():
    assert Searchspace({"min": [1, 2], "lambda_": [3], "if": [1, 5]}, [lambda p: p["min"] == 2]).list == [(2, 3, 1), (2, 3, 5)]


def test_large_spaces_are_not_listed():
    params = {f"p{i}": list(range(1, 21)) for i in range(7)}
    # Of two parameters: a filter of the space. Of six: asked for each config that is proposed.
    space = Searchspace(params, [lambda p: p["p0"] + p["p3"] == 30, "p5 % p6 == 0"])
    assert space.size == 11 * 20**3 * sum(a % b == 0 for a in range(1, 21) for b in range(1, 21))
    opaque = Searchspace(params, [lambda p: sum(p[f"p{i}"] for i in range(6)) % 2 == 0])
    assert opaque.most() == 20**7 and opaque.counted() == f"at most {20**7}"
    sample = opaque.get_random_sample(5)
    assert len(set(sample)) == 5 and all(sum(c[:6]) % 2 == 0 for c in sample)
    assert opaque.is_param_config_valid((1,) * 7) and not opaque.is_param_config_valid((2, *(1,) * 6))


def test_neighbours():
    space = Searchspace(PARAMS, ["x * y <= 8", "x != 2"])
    assert set(space.get_neighbors((4, 2, "a"), "Hamming")) == {(1, 2, "a"), (4, 1, "a"), (4, 2, "b")}
    assert set(space.get_neighbors((4, 2, "a"), "adjacent")) >= {(1, 2, "a"), (8, 1, "a"), (1, 1, "b")}
    assert (1, 2, "a") not in space.get_neighbors((4, 2, "a"), "strictly-adjacent")
    assert space.get_random_neighbor((4, 2, "a"), "Hamming") in space.list
    assert space.get_param_neighbors((4, 2, "a"), 1, "Hamming") == [1]
    with pytest.raises(ValueError, match="Neighbor method"):
        space.get_neighbors((4, 2, "a"))


def test_an_empty_space_is_an_error():
    with pytest.raises(ValueError, match="no config meets"):
        kernel_tuner.tune_kernel("k", "float k() { return 1; }", 1, [], PARAMS, restrictions=["x > 100"], lang="C", quiet=True)


def test_numpy_values_keep_their_order_and_type():
    params = {"t": np.array([4, 1, 2])}
    results, _ = kernel_tuner.tune_kernel("k", "float k() { return t; }", 1, [], params, lang="C", quiet=True, iterations=1)
    assert [r["t"] for r in results] == [4, 1, 2]
    assert all(isinstance(r["t"], np.integer) for r in results)


def test_functions_in_grids_and_metrics():
    results, _ = kernel_tuner.tune_kernel(
        "k", "float k() { return 10 * grid_size_x; }", "floor(t / 3) + 6", [], {"t": [1, 2, 7]}, grid_div_x=["ceil(t / 3)"], lang="C",
        quiet=True, iterations=1, metrics={"m": "ceil(t / 3) + floor(time / 7)"},
    )  # fmt: skip
    assert [r["time"] for r in results] == pytest.approx([60.0, 60.0, 30.0])
    assert [r["m"] for r in results] == [9, 9, 7]


def test_the_top_of_stored_results_is_without_its_bound(tmp_path):
    file = tmp_path / "results.json"
    for times, kept in (([100.0, 101.0, 102.9, 103.0, float("nan")], 3), ([0.0, 1.0], 1)):
        results = [{"x": i, "time": t} for i, t in enumerate(times)]
        integration.store_results(file, "k", None, {"x": list(range(5))}, 100, results, {"device_name": "X"}, top=3)
        assert len(integration._read_results_file(file)[1]) == kept
