"""Searches of Python functions and of commands, sweeps, and that nothing measured is lost."""

import gc
import math
import os
import pty
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import greenup

SPACE = "name = 'bowl'\n[parameters]\nx = '0 : 30'\ny = '0 : 30'\n[hard]\nhalf = 'x + y < 50'\n"


def bowl(point):
    return 1.0 + (point["x"] - 21) ** 2 + (point["y"] - 9) ** 2


@pytest.mark.parametrize("strategy", [s for s in greenup.strategies() if s not in ("halving", "steered")])
def test_every_strategy_goes_through_its_trials(strategy):
    result = greenup.tune(SPACE, bowl, strategy=strategy, trials=60, seed=1)
    assert len(result) == 60
    points = [(t["x"], t["y"]) for t in result.trials]
    assert len(set(points)) == 60 and all(t["cost"] == bowl(t) for t in result.trials)
    assert result.best.value == min(t["cost"] for t in result.trials) == bowl(result.best.config)


def test_the_search_finds_the_bottom_and_repeats_itself():
    space = greenup.Space(SPACE)
    results = [greenup.tune(space, bowl, trials=120, seed=5) for _ in range(2)]
    assert results[0].trials == results[1].trials
    assert results[0].best.value < 6 and results[0].best == results[1].best
    everything = greenup.tune(space, bowl, strategy="exhaustive", trials=10**6)
    assert len(everything) == len(space) and everything.best.config == {"x": 21, "y": 9}


def test_ask_and_tell():
    search = greenup.Search(greenup.Space(SPACE), strategy="random", trials=3)
    assert search.best is None
    first, second = search.ask(), search.ask()
    assert first != second and search.left == 1
    search.tell(second, 2)
    search.tell(first, None, message="no")
    third = search.ask()
    search.tell(third, 1.5, seconds=0.5, joules=3)
    assert search.ask() is None and len(search) == 3
    best = search.best
    assert (best.config, best.value, best.values) == (third, 1.5, {"objective": 1.5})
    assert [t["cost"] for t in search.trials] == [2.0, None, 1.5]
    assert "3 trials" in repr(search)


def test_strategies_say_when_they_wait():
    search = greenup.Search(greenup.Space(SPACE), strategy="anneal", trials=200)
    with pytest.raises(greenup.TuneError, match="waits") as e:
        for _ in range(200):
            search.ask()
    assert "tell" in e.value.hint


def test_a_callback_gets_each_trial():
    seen = []
    result = greenup.tune(SPACE, lambda p: None if p["x"] % 2 else [p["x"]], trials=30, callback=seen.append)
    assert seen == result.trials and len(seen) == 30


def test_several_costs():
    def two(point):
        return [float(point["x"]), float(30 - point["x"] + point["y"])]

    result = greenup.tune(SPACE, two, strategy="nsga2", trials=80)
    assert result.trials[0]["cost"] == two(result.trials[0])
    best = result.best
    assert best.values == dict(zip(("objective", "objective_2"), two(best.config))) and best.value == best.values["objective"]
    search = result.search
    with pytest.raises(ValueError, match="costs"):
        search.tell({"x": 1, "y": 1}, 1.0)


def test_what_is_told_is_checked():
    search = greenup.Search(greenup.Space(SPACE), trials=5)
    point = search.ask()
    for wrong in (math.nan, math.inf, [1.0, math.nan]):
        with pytest.raises(ValueError):
            search.tell(point, wrong)
    for wrong in ("fast", [], {}, object()):
        with pytest.raises(TypeError):
            search.tell(point, wrong)
    with pytest.raises(ValueError):
        search.tell({"x": 30, "y": 30}, 1.0)
    with pytest.raises(ValueError):
        search.tell(point, 1.0, seconds=-1)
    assert len(search) == 0
    with pytest.raises(greenup.TuneError, match="no strategy"):
        greenup.Search(greenup.Space(SPACE), strategy="luck")
    with pytest.raises(ValueError):
        greenup.Search(greenup.Space(SPACE), trials=0)
    with pytest.raises(greenup.TuneError):
        greenup.Search(greenup.Space("[parameters]\na=[1]\n[hard]\nn='a>1'"))
    with pytest.raises(TypeError):
        greenup.tune(SPACE, 3)


def test_an_exception_leaves_the_trials(tmp_path):
    calls = []

    def breaks(point):
        calls.append(point)
        if len(calls) == 8:
            raise ZeroDivisionError("oops")
        return bowl(point)

    with pytest.raises(ZeroDivisionError) as e:
        greenup.tune(SPACE, breaks, trials=20, out=tmp_path / "sweep")
    assert len(e.value.result) == 7 and e.value.result.best.value > 0
    assert len(greenup.Sweep(tmp_path / "sweep")) == 7
    # It goes on where it ended, and knows what it had.
    result = greenup.tune(SPACE, bowl, trials=20, out=tmp_path / "sweep", resume=True)
    assert len(result) == 20 and len(greenup.Sweep(tmp_path / "sweep")) == 20
    with pytest.raises(greenup.TuneError) as e:
        greenup.tune(SPACE, bowl, trials=20, out=tmp_path / "sweep")
    assert "resume" in e.value.hint


def test_exceptions_may_be_failures():
    def odd(point):
        if point["x"] % 2:
            raise RuntimeError("odd")
        return bowl(point)

    result = greenup.tune(SPACE, odd, trials=50, catch=RuntimeError)
    assert len(result) == 50 and all((t["cost"] is None) == bool(t["x"] % 2) for t in result.trials)


def test_ctrl_c_leaves_the_trials(tmp_path):
    def slow(point):
        time.sleep(0.01)
        if slow.calls == 20:
            os.kill(os.getpid(), signal.SIGINT)
        slow.calls += 1
        return bowl(point)

    slow.calls = 0
    with pytest.raises(KeyboardInterrupt) as e:
        greenup.tune(SPACE, slow, trials=500, out=tmp_path / "sweep")
    assert 20 <= len(e.value.result) <= 22
    assert len(greenup.Sweep(tmp_path / "sweep")) == len(e.value.result)


def test_a_killed_search_keeps_its_trials(tmp_path):
    script = textwrap.dedent(f"""
        import os, signal, greenup
        n = 0
        def f(p):
            global n
            n += 1
            if n == 11:
                os.kill(os.getpid(), signal.SIGKILL)
            return float(p["x"])
        greenup.tune({SPACE!r}, f, trials=50, out={str(tmp_path / "sweep")!r})
    """)
    assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
    assert len(greenup.Sweep(tmp_path / "sweep")) == 10


def test_a_time_limit():
    start = time.monotonic()
    result = greenup.tune(SPACE, lambda p: time.sleep(0.01) or bowl(p), seconds=0.3)
    assert time.monotonic() - start < 3 and 2 < len(result) < 60


def test_sweeps_are_replayed_and_analyzed(tmp_path):
    greenup.tune(SPACE, bowl, strategy="exhaustive", trials=300, out=tmp_path / "sweep")
    sweep = greenup.Sweep(tmp_path / "sweep")
    assert sweep.name == "bowl" and sweep.parameters == ["x", "y"] and len(sweep.trials) == 300
    replayed = sweep.replay("forest", trials=60, seed=2)
    assert replayed["evaluations"] == 60 and 0 < replayed["fraction"] <= 1
    assert replayed == sweep.replay("forest", trials=60, seed=2)
    best = sweep.best
    assert best.value == best.values["objective"] == bowl(best.config) and best.values["time_s"] > 0
    assert sweep.best_by("time").value == min(t["time_s"] for t in sweep.trials)
    found = sweep.analyze()
    rows = found["rows"]
    assert len(rows) == 300
    pandas = pytest.importorskip("pandas")
    assert isinstance(rows, pandas.DataFrame) and {"time_s", "performance"} <= set(rows.columns)
    assert list(found["importance"]["parameter"]) == ["x", "y"]
    frame = sweep.frame()
    assert len(frame) == 300 and frame["objective"].min() == min(bowl(p) for p in frame.to_dict("records"))
    assert sweep._repr_html_().startswith("<table>")
    with pytest.raises(ValueError):
        sweep.replay("forest", trials=5, seconds=1)
    with pytest.raises(ValueError):
        sweep.replay("forest", objective="speed")
    with pytest.raises(greenup.TuneError):
        sweep.replay("luck")
    with pytest.raises(greenup.TuneError):
        sweep.best_by("energy")
    with pytest.raises(ValueError):
        sweep.best_by("speed")
    with pytest.raises(OSError):
        greenup.Sweep(tmp_path / "none")


PROBLEM = """
name = "sleep"
[build]
[run]
command = "sh -c 'sleep 0.0{tenth}'"
[parameters]
tenth = [1, 2, 3]
"""


def test_commands_are_tuned_by_the_program(tmp_path):
    file = tmp_path / "problem.toml"
    file.write_text(PROBLEM.replace("[build]\n", ""))
    sweep = greenup.tune(file, trials=3, strategy="exhaustive", out=tmp_path / "sweep")
    assert len(sweep) == 3 and {t["tenth"] for t in sweep.trials} == {1, 2, 3}
    assert all(t["time_s"] > 0.009 * t["tenth"] for t in sweep.trials)
    with pytest.raises(greenup.TuneError) as e:
        greenup.tune(file, out=tmp_path / "sweep")
    assert "resume" in e.value.hint
    with pytest.raises(FileNotFoundError):
        greenup.tune(tmp_path / "none.toml", out=tmp_path / "x")
    file.write_text("nonsense")
    with pytest.raises(greenup.TuneError):
        greenup.tune(file, out=tmp_path / "y")


def test_the_program_ends_with_a_killed_script(tmp_path):
    file = tmp_path / "problem.toml"
    # Its first run alone takes longer than the tuner may live on.
    file.write_text(PROBLEM.replace("[build]\n", "").replace("sleep 0.0", "sleep 5"))
    out = tmp_path / "sweep"
    script = f"import greenup; greenup.tune({str(file)!r}, seconds=300.0, out={str(out)!r})"
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def running():
        found = []
        for status in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                found += [status] if str(out).encode() in status.read_bytes().split(b"\0") else []
            except OSError:
                pass
        return found

    end = time.monotonic() + 60
    while not running() and time.monotonic() < end and run.poll() is None:
        time.sleep(0.02)
    assert running(), "it starts a tuner"
    run.kill()
    run.wait()
    end = time.monotonic() + 30
    while running() and time.monotonic() < end:
        time.sleep(0.05)
    assert not running()


def test_without_a_folder_a_sweep_holds_everything(tmp_path):
    file = tmp_path / "problem.toml"
    file.write_text(PROBLEM.replace("[build]\n", ""))
    sweep = greenup.tune(file, trials=3, strategy="exhaustive")
    folder = sweep.path
    assert len(sweep) == 3 and sweep.best.config["tenth"] in (1, 2, 3) and os.path.exists(folder)
    assert sweep.best.value == sweep.best.values["time_s"] > 0.009
    assert os.listdir(tmp_path) == ["problem.toml"]
    del sweep
    gc.collect()
    assert not os.path.exists(folder)
    with pytest.raises(ValueError, match="out="):
        greenup.tune(file, resume=True)


def test_what_only_the_program_or_only_python_takes_is_refused(tmp_path):
    file = tmp_path / "problem.toml"
    file.write_text(PROBLEM.replace("[build]\n", ""))
    for wrong in ({"callback": print}, {"catch": RuntimeError}):
        with pytest.raises(TypeError, match="without Python"):
            greenup.tune(file, **wrong)
    for wrong in ({"device": "cuda:0"}, {"arguments": ["--rounds", "2"]}):
        with pytest.raises(TypeError, match="compiled"):
            greenup.tune(SPACE, bowl, **wrong)
    for space in (greenup.Space({"x": [1]}, filters=lambda x: True), {"x": [1]}):
        with pytest.raises(TypeError, match="function"):
            greenup.tune(space)
    with pytest.raises(greenup.TuneError, match="OpenCL"):
        greenup.tune(file, device="opencl:0")


def test_a_measurement_that_has_not_ended_is_no_cost():
    def early(point):
        with greenup.measure(sensor="none") as m:
            greenup.tune({"y": [1]}, lambda p: m)

    with pytest.raises(ValueError, match="ended"):
        early({})


def test_progress_is_shown_on_a_terminal_alone(tmp_path):
    file = tmp_path / "problem.toml"
    file.write_text(PROBLEM.replace("[build]\n", "").replace("0.0{", "0.2{"))
    code = f"import greenup; greenup.tune({str(file)!r}, trials=3, strategy='exhaustive', arguments=['--finalists', '0'])"
    ours, theirs = pty.openpty()
    done = subprocess.run([sys.executable, "-c", code], stderr=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0 and "trials, 0 failed, the fastest takes 0." in shown and not done.stdout
    quiet = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert quiet.returncode == 0 and not quiet.stderr and not quiet.stdout


def test_one_default_seed():
    import inspect

    for function in (greenup.tune, greenup.Search, greenup.Space.sample, greenup.Sweep.replay, greenup.Sweep.analyze, greenup.Sweep.analysis):
        assert inspect.signature(function).parameters["seed"].default == 1, function
