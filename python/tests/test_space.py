"""Spaces: counts, points, errors, Ctrl-C."""

import itertools
import os
import signal
import threading
import time

import pytest
from interrupts import interrupted

import greenup

TEXT = """
name = "tiles"
[parameters]
tile = "1 : 8"
unroll = [1, 2, 4]
way = ["a", "b"]
[derived]
work = "tile * unroll"
[hard]
small = "tile * unroll <= 12"
"""
# More combinations than can be counted in a test's time.
HUGE = """
[parameters]
a = "1 : 2000"
b = "1 : 2000"
c = "1 : 2000"
d = "1 : 2000"
[hard]
tangled = "(a * a * b + b * c * c * d + d * d * a * c) % 1009 == 3"
"""


def by_hand():
    every = itertools.product(range(1, 9), [1, 2, 4], "ab")
    return [{"tile": t, "unroll": u, "way": w} for t, u, w in every if t * u <= 12]


@pytest.fixture
def space():
    return greenup.Space(TEXT)


def test_points_are_those_of_a_loop(space):
    points = list(space)
    key = lambda p: tuple(p.values())  # noqa: E731
    assert sorted(points, key=key) == sorted(by_hand(), key=key)
    assert len(space) == space.count() == len(by_hand())
    assert space.names == ["tile", "unroll", "way"] and space.name == "tiles"
    assert [space[i] for i in range(len(space))] == points
    assert space[-1] == points[-1] and space[2:7:2] == points[2:7:2] and space[::-1] == points[::-1]
    assert all(space.position(p) == i for i, p in enumerate(points))
    assert space.values()["unroll"] == [1, 2, 4]
    assert space.derived(points[0]) == {"work": points[0]["tile"] * points[0]["unroll"]}


def test_membership(space):
    assert {"tile": 2, "unroll": 2, "way": "a"} in space
    assert {"tile": 8, "unroll": 2, "way": "a"} not in space
    assert {"tile": 2, "unroll": 3, "way": "a"} not in space
    assert {"tile": 2} not in space
    assert {"tile": 2, "unroll": 2, "way": "a", "more": 1} not in space
    assert {"tile": 2**70, "unroll": 2, "way": "a"} not in space
    assert {"tile": None, "unroll": 2, "way": "a"} not in space
    np = pytest.importorskip("numpy")
    assert {"tile": np.int32(2), "unroll": np.int64(2), "way": "a"} in space


def test_samples_and_neighbours(space):
    some = space.sample(5, seed=3)
    assert len(some) == 5 and all(p in space for p in some)
    assert some == space.sample(5, seed=3) != space.sample(5, seed=4)
    assert len(space.sample(10**6)) == len(space) and space.sample(0) == []
    point = {"tile": 2, "unroll": 2, "way": "a"}
    near = space.neighbours(point)
    assert near == space.neighbours(space.position(point))
    assert sorted(map(str, near)) == sorted(
        str(p) for p in by_hand() if sum(p[k] != point[k] for k in p) == 1
    )
    close = space.neighbours(point, adjacent=True)
    assert {"tile": 3, "unroll": 2, "way": "a"} in close and {"tile": 6, "unroll": 2, "way": "a"} not in close


def test_the_funnel(space):
    (row,) = space.funnel()
    assert row["filter"] == "small" and row["strength"] == "hard"
    assert (row["before"], row["after"]) == (48, len(by_hand()))
    assert space.funnel(1.8e19) == [row]
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError):
            space.funnel(wrong)


def test_files(tmp_path):
    file = tmp_path / "space.toml"
    file.write_text(TEXT)
    assert len(greenup.Space(file)) == len(greenup.Space(str(file))) == len(by_hand())
    assert greenup.Space(file).source == str(file)
    with pytest.raises(FileNotFoundError) as e:
        greenup.Space(tmp_path / "none.toml")
    assert e.value.filename.endswith("none.toml")
    with pytest.raises(OSError):
        greenup.Space(tmp_path)


def test_errors_tell_the_fix(space):
    with pytest.raises(greenup.SpaceError, match="paramters") as e:
        greenup.Space("[paramters]\na = [1]\n")
    assert "parameters" in e.value.hint and isinstance(e.value, greenup.GreenupError)
    with pytest.raises(greenup.SpaceError, match="line 3"):
        greenup.Space("[parameters]\na = [1]\nb = 'a +'\n")
    with pytest.raises(greenup.SpaceError, match="division by zero"):
        len(greenup.Space("[parameters]\na = [0]\nb = [1, 2]\n[hard]\nnever = '1 / a > 0'\n"))
    for wrong in (10**6, -(10**6), len(space), 10**30):
        with pytest.raises(IndexError):
            space[wrong]
    with pytest.raises(TypeError):
        space["tile"]
    with pytest.raises(KeyError):
        space.position({"tile": 1})
    with pytest.raises(ValueError):
        space.position({"tile": 8, "unroll": 4, "way": "a"})
    with pytest.raises(ValueError, match="NaN"):
        space.position({"tile": float("nan"), "unroll": 4, "way": "a"})
    with pytest.raises(TypeError):
        space.position({"tile": {1}, "unroll": 4, "way": "a"})
    with pytest.raises(TypeError, match="a space is a dict"):
        greenup.Space(3)
    with pytest.raises(ValueError):
        space.sample(-1)
    assert len(greenup.Space("[parameters]\na = [1]\n[hard]\nnever = 'a > 1'\n")) == 0


def test_facts_are_given_or_those_of_this_host():
    text = "[parameters]\na = '1 : device.cores'\n"
    assert len(greenup.Space(text, facts={"cores": 7})) == 7
    assert len(greenup.Space(text)) >= 1


def test_ctrl_c_ends_a_count_and_other_threads_go_on():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(time.monotonic())

    other = threading.Thread(target=tick)
    other.start()
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        greenup.Space(HUGE).count()
    assert time.monotonic() - start < 5
    done.set()
    other.join()
    assert len(ticks) > 15


def test_ctrl_c_is_heard_in_spaces_of_millions_of_points():
    large = greenup.Space('[parameters]\na = "1 : 300"\nb = "1 : 300"\nc = "1 : 100"\n')
    assert len(large) == 9_000_000
    for n in (4_000_000, 9_000_000):
        assert interrupted(lambda: large.sample(n), 0.1) < 0.5


def test_a_sample_beyond_memory_raises():
    large = greenup.Space("[parameters]\n" + "".join(f'{p} = "1 : 100000"\n' for p in "abc"))
    with pytest.raises(MemoryError, match="sample"):
        large.sample(2**48)
