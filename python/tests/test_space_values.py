"""Spaces from dicts, with filters as expressions and as functions."""

import os
import random
import signal
import sys

import pytest

import greenup

VALUES = {"x": range(10), "y": [1, 2], "way": ("a", "b")}


def by_hand(keep):
    return [{"x": x, "y": y, "way": w} for x in range(10) for y in (1, 2) for w in "ab" if keep(x, y, w)]


def test_a_dict_is_a_space_like_its_text():
    space = greenup.Space(VALUES, filters=["x > y"], name="small")
    text = greenup.Space("name = 'small'\n[parameters]\nx = '0 : 9'\ny = [1, 2]\nway = ['a', 'b']\n[hard]\nf = 'x > y'\n")
    assert list(space) == list(text) and space.name == "small" and space.source is None
    assert len(space) == space.count() == len(by_hand(lambda x, y, w: x > y))
    assert greenup.Space({"a": "2 : 8 : 2"}).values() == {"a": [2, 4, 6, 8]}
    assert len(greenup.Space({"a": "1 : device.cores"}, facts={"cores": 7})) == 7
    assert len(greenup.Space({"a": range(9, 0, -2), "b": range(5, 6), "c": range(10**6)})) == 5 * 10**6


def test_expressions_and_functions_keep_what_a_loop_keeps():
    np = pytest.importorskip("numpy")

    def odd(x, way):
        return (x % 2 == 1) == (way == "a")

    class Callable:
        def __call__(self, point):
            return np.bool_(point["x"] != 7)

    keep = lambda x, y, w: x > y and odd(x, w) and x != 7  # noqa: E731
    space = greenup.Space(VALUES, filters=["x > y", odd, Callable()])
    key = lambda p: tuple(p.values())  # noqa: E731
    points = list(space)
    assert sorted(points, key=key) == sorted(by_hand(keep), key=key)
    assert len(space) == space.count() == len(points)
    assert [space.position(p) for p in points] == list(range(len(points)))
    assert all((p in space) == keep(p["x"], p["y"], p["way"]) for p in by_hand(lambda *_: True))
    assert space[-1] == points[-1] and space[1:3] == points[1:3]
    assert sorted(map(str, space.sample(100))) == sorted(map(str, points))
    for p in points:
        near = [q for q in points if sum(p[k] != q[k] for k in p) == 1]
        assert sorted(map(str, space.neighbours(p))) == sorted(map(str, near))
    assert space.values()["x"] == sorted({p["x"] for p in points})
    rows = space.funnel()
    assert [r["filter"] for r in rows] == ["filter_1", "odd", "filter_3"]
    assert [r["after"] for r in rows][-1] == len(points) and rows[2]["before"] == rows[1]["after"]
    assert rows[1]["before"] == rows[0]["after"] == len(by_hand(lambda x, y, w: x > y))


def test_searches_take_such_spaces(tmp_path):
    space = greenup.Space({"x": range(31), "y": range(31)}, filters=lambda x, y: x + y < 50)
    for strategy in greenup.strategies():
        if strategy not in ("halving", "steered"):
            result = greenup.tune(space, lambda p: (p["x"] - 21) ** 2 + p["y"], strategy=strategy, trials=20)
            assert len(result) == 20 and all(t["x"] + t["y"] < 50 for t in result.trials)
    result = greenup.tune({"x": [3, 1, 2]}, lambda p: p["x"], out=tmp_path / "sweep")
    assert result.best.config == {"x": 1} and greenup.Sweep(tmp_path / "sweep").best.value == 1
    # Filters are added to those of a text.
    text = "[parameters]\nx = '0 : 9'\n[hard]\nfilter_1 = 'x > 3'\n"
    assert len(greenup.Space(text, filters=["x < 8", lambda x: x != 5])) == 3


@pytest.mark.parametrize("n", range(20))
def test_random_filters_keep_what_a_loop_keeps(n):
    rng = random.Random(n)
    names = "abcd"[: rng.randint(1, 4)]
    values = {p: sorted(rng.sample(range(20), rng.randint(1, 6))) for p in names}
    table = {}

    def keep(point):
        return table.setdefault(tuple(point.values()), rng.random() < 0.4)

    space = greenup.Space(values, filters=keep)
    points = list(space)
    assert points == [dict(zip(names, p)) for p in table if table[p]] and len(space) == len(points)
    assert all(space.position(p) == i for i, p in enumerate(points))


def test_arrays_of_numpy():
    np = pytest.importorskip("numpy")
    values = {"i": np.arange(3, dtype=np.int8), "f": np.array([0.5, 1.5]), "s": np.array(["a", "b"]), "b": np.array([True, False])}
    point = greenup.Space(values)[0]
    assert point == {"i": 0, "f": 0.5, "s": "a", "b": True}
    assert [type(v) for v in point.values()] == [int, float, str, bool]
    for wrong in (np.zeros((2, 2)), np.array(3)):
        with pytest.raises((TypeError, ValueError), match="parameter `x`"):
            greenup.Space({"x": wrong})
    for wrong in (np.array([1.0, np.nan]), np.array([np.inf]), np.array([2**63], dtype=np.uint64)):
        with pytest.raises(ValueError, match="parameter `x`"):
            greenup.Space({"x": wrong})


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ([], greenup.SpaceError),
        (range(0), greenup.SpaceError),
        ([1, 1.0], greenup.SpaceError),
        ("1 : ", greenup.SpaceError),
        ("device.nothing", greenup.SpaceError),
        ([1, float("nan")], ValueError),
        ([float("inf")], ValueError),
        ([(1.0, float("inf"))], ValueError),
        ([2**63], ValueError),
        (range(2**63, 2**63 + 2), ValueError),
        ([1, "a"], TypeError),
        ([True, 0], TypeError),
        ([(1, 2), 3], TypeError),
        ([{}], TypeError),
        ([1j], TypeError),
        (3, TypeError),
        (None, TypeError),
        ({1, 2}, TypeError),
        ({1: 2}, TypeError),
        (b"ab", TypeError),
        (iter([1]), TypeError),
    ],
)
def test_bad_values_name_the_parameter(wrong, error):
    with pytest.raises(error, match="parameter `tile`"):
        len(greenup.Space({"tile": wrong, "other": [1]}))


def test_none_may_stand_with_any():
    space = greenup.Space({"x": [None, 4, 8]}, filters="not x or x > 4")
    assert {p["x"] for p in space} == {None, 8}


def test_bad_names_and_filters():
    with pytest.raises(TypeError, match="name of a parameter"):
        greenup.Space({1: [1]})
    for wrong in ({}, {"no word": [1]}, {"and": [1]}):
        with pytest.raises(greenup.SpaceError):
            greenup.Space(wrong)
    for filters, words in (("z > 1", "`z`"), ("x >", "filter_1"), (lambda x, z: x, "`z`"), (lambda: True, "no arguments")):
        with pytest.raises(greenup.SpaceError, match=words):
            len(greenup.Space(VALUES, filters=[filters]))
    for wrong in (3, [3], {"x > 1"}, [None], [["x > 1"]]):
        with pytest.raises(TypeError, match="filter"):
            greenup.Space(VALUES, filters=wrong)


def test_functions_that_fail_are_named():
    def broken(point):
        return 1 / point["x"] > 0

    with pytest.raises(greenup.SpaceError, match="`broken` raised ZeroDivisionError.*'x': 0") as e:
        len(greenup.Space(VALUES, filters=broken))
    assert isinstance(e.value.__cause__, ZeroDivisionError)
    with pytest.raises(greenup.SpaceError, match="filter_2.*None") as e:
        greenup.Space(VALUES, filters=["x > 1", lambda x: None]).count()
    assert "return True" in e.value.hint
    # A misspelt name gets the point.
    with pytest.raises(greenup.SpaceError) as e:
        greenup.Space(VALUES, filters=lambda z: z > 1).sample(1)
    assert "`z` is the whole point" in e.value.hint
    if sys.version_info >= (3, 11):
        assert e.value.__notes__ == [f"hint: {e.value.hint}"]
    huge = greenup.Space({p: range(10**5) for p in "abc"}, filters=lambda a: a > 3)
    with pytest.raises(greenup.SpaceError, match="asked about"):
        len(huge)


def test_how_functions_are_called():
    seen = []

    def named(x, *, way, more=3):
        seen.append((x, way, more))
        return True

    assert len(greenup.Space(VALUES, filters=named)) == 40
    assert sorted(seen) == sorted((x, w, 3) for x in range(10) for w in "ab")
    positional = eval("lambda y, /, x: x > y")
    all_of_them = lambda **kw: set(kw) == set(VALUES)  # noqa: E731
    space = greenup.Space(VALUES, filters=[positional, all_of_them, lambda *p: len(p) == 1, lambda p, n=3: len(p) == n])
    assert len(space) == len(by_hand(lambda x, y, w: x > y))
    assert len(greenup.Space({"x": [0, 1]}, filters=bool)) == 2


def test_ctrl_c_ends_the_asking():
    def slow(point):
        if point["a"] == 1000:
            os.kill(os.getpid(), signal.SIGINT)
        return True

    with pytest.raises(KeyboardInterrupt):
        len(greenup.Space({"a": range(10**7)}, filters=slow))
