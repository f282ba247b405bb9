"""Time and energy of blocks and functions."""

import asyncio
import functools
import json
import os
import subprocess
import sys
import threading
import time

import pytest

import greenup


@pytest.fixture
def trace(tmp_path):
    """A recorded sensor of 40 W, which is seen to move."""
    file = tmp_path / "trace.csv"
    file.write_text("".join(f"{0.005 * i},{39 + 2 * (i % 2)}\n" for i in range(20000)))
    return f"recorded:{file}"


def test_a_block():
    with greenup.measure() as m:
        assert m.seconds is None
        time.sleep(0.05)
    assert 0.05 <= m.seconds < 0.5
    if m.joules is None:
        assert m.why and m.watts is None
    else:
        assert m.joules > 0 and m.why is None
    assert "s" in repr(m) and m._repr_html_().startswith("<table>")


def test_energy_of_a_known_trace(trace):
    with greenup.measure(sensor=trace) as m:
        time.sleep(0.4)
    assert m.joules == pytest.approx(40 * m.seconds, rel=0.02), m
    assert m.watts == pytest.approx(40, rel=0.02) and m.sensor


def test_without_a_sensor_the_cause_is_told():
    with greenup.measure(sensor="none") as m:
        pass
    assert m.joules is None and "none" in m.why and m.seconds >= 0


def test_blocks_nest_and_end_by_exceptions():
    measure = greenup.measure(sensor="none")
    with measure as outer:
        with measure as inner:
            time.sleep(0.02)
        time.sleep(0.02)
    assert outer.seconds > inner.seconds + 0.015
    with pytest.raises(ZeroDivisionError):
        with greenup.measure(sensor="none") as m:
            1 / 0
    assert m.seconds is not None


def test_a_decorator():
    @greenup.measure(sensor="none")
    def twice(x):
        "Doubles."
        return 2 * x

    assert twice.measured is None
    assert twice(4) == 8 and twice.measured.seconds >= 0 and twice.__doc__ == "Doubles."


def test_a_decorator_without_parentheses_says_so():
    @greenup.measure
    def once():
        return 1

    with pytest.raises(TypeError, match=r"@greenup.measure\(\)"):
        once()


def test_a_decorator_without_parentheses_of_a_function_with_arguments_says_so():
    with pytest.raises(TypeError, match=r"twice.*missing a required argument: 'x'.*@greenup.measure\(\)"):

        @greenup.measure
        def twice(x):
            return 2 * x


def test_what_computes_after_its_call_is_measured_to_its_end_or_refused():
    async def waits():
        await asyncio.sleep(0.05)
        return 3

    def yields():
        yield time.sleep(0.05)

    async def yields_later():
        yield 1

    measured = greenup.measure(sensor="none")(waits)
    assert asyncio.run(measured()) == 3 and 0.05 <= measured.measured.seconds < 5
    for function, why in ((yields, "generator"), (yields_later, "generator"), (functools.partial(yields), "generator")):
        for measure in (greenup.measure(sensor="none"), greenup.measure, greenup.region("r")):
            with pytest.raises(TypeError, match=why):
                measure(function)
    for measure in (greenup.measure, greenup.region("r")):
        with pytest.raises(TypeError, match="waits is a coroutine"):
            measure(waits)


def test_a_result_in_place_of_a_function_is_refused():
    for result in (None, 5):
        with pytest.raises(TypeError, match="the function itself"):
            greenup.measure(result)


def test_calls_are_repeated():
    calls = []
    m = greenup.measure(lambda n: calls.append(time.sleep(n)), 0.002, sensor="none", window=0.02, warmup=0)
    assert 0.002 <= m.seconds < 0.01 and m.interval[0] <= m.seconds <= m.interval[1]
    assert 3 <= m.windows <= 7 and len(calls) >= m.windows
    assert m.joules is None and m.why and m.details["time_s"]["n"] == m.windows


def test_energy_of_repeated_calls(trace):
    m = greenup.measure(time.sleep, 0.01, sensor=trace, window=0.1, warmup=0)
    assert m.joules == pytest.approx(40 * m.seconds, rel=0.05), m.details


def test_errors():
    def breaks():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        greenup.measure(breaks, sensor="none")
    with pytest.raises(KeyboardInterrupt):
        greenup.measure(interrupt, sensor="none")
    with pytest.raises(greenup.MeterError) as e:
        greenup.measure(sensor="sun").__enter__()
    assert "sun" in str(e.value)
    with pytest.raises(TypeError):
        greenup.measure(3)
    for wrong in ({"window": 0}, {"repeats": (0, 3)}, {"repeats": (3, 2)}, {"error": float("nan")}, {"warmup": -1}):
        with pytest.raises(ValueError):
            greenup.measure(time.time, sensor="none", **wrong)
    with pytest.raises(TypeError, match="repeats is a pair"):
        greenup.measure(time.time, sensor="none", repeats=3)
    assert greenup.measure(time.time, sensor="none", window=0.001, warmup=0, repeats=[1, 1]).windows == 1


def interrupt():
    raise KeyboardInterrupt


def test_threads_measure_for_themselves():
    found = {}

    def work(n):
        with greenup.measure(sensor="none") as m:
            time.sleep(0.02 * n)
        found[n] = m.seconds

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(0.02 * n <= found[n] < 0.02 * n + 0.2 for n in found)


def test_regions_are_summed_up(tmp_path):
    script = """
import greenup, time
@greenup.region("step")
def step():
    time.sleep(0.005)
with greenup.region("solve"):
    for _ in range(4):
        step()
"""
    file = tmp_path / "regions.jsonl"
    environment = dict(os.environ, GREENUP_REGIONS_FILE=str(file), GREENUP_REGIONS_SENSOR="none")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    summary = json.loads(file.read_text())
    regions = {tuple(r["path"]): r for r in summary["regions"]}
    assert regions["solve",]["calls"] == 1 and regions["solve", "step"]["calls"] == 4, summary
    with pytest.raises(TypeError):
        greenup.region(3)
