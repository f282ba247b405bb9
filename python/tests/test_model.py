"""Machines and predictions."""

import math

import pytest

import greenup


def test_a_prediction_is_the_roofline():
    m = greenup.Machine("h200")
    p = m.predict({"f64": 1e12, "dram": 1e11})
    costs = m.costs
    alone = {"f64": 1e12 * costs["f64"]["time_s"], "dram": 1e11 * costs["dram"]["time_s"]}
    assert p["time_by_op_s"] == pytest.approx(alone) and p["time_s"] >= 0.999 * max(alone.values())
    assert m.predict({"dram": 1e11})["time_s"] == pytest.approx(alone["dram"])
    assert p["time_interval_s"][0] <= p["time_s"] <= p["time_interval_s"][1]
    assert p["energy_j"] == pytest.approx(sum(p["energy_by_op_j"].values()) + p["constant_energy_j"])
    assert p["power_w"] == pytest.approx(p["energy_j"] / p["time_s"])
    assert p["bound"] in greenup.operations() or p["bound"] == "cap"
    assert m.has_energy and m.constant_power > 0 and m.time_balance() > 1


def test_what_ifs():
    m = greenup.Machine("h200")
    work = {"f64": 1e12}
    assert m.cluster(2).predict(work)["time_s"] == pytest.approx(m.predict(work)["time_s"] / 2)
    half = m.throttled(4)
    assert half.predict(work)["time_s"] >= m.predict(work)["time_s"]
    bounded = m.power_bounded(m.constant_power + 50)
    assert bounded.usable_power == pytest.approx(50)
    with pytest.raises(greenup.ModelError):
        m.power_bounded(1)
    with pytest.raises(greenup.ModelError):
        m.throttled(math.nan)
    with pytest.raises(greenup.ModelError, match="range of numbers"):
        m.throttled(1e308).throttled(1e308)
    with pytest.raises(greenup.ModelError, match="range of numbers"):
        m.throttled(1e308).predict({"f64": 1e18})
    clocked = m.predict_clocked(work)
    assert clocked["clock_hz"] > 1e8 and clocked["energy_j"] > 0


def test_all_machines_and_files(tmp_path):
    names = [m.name for m in greenup.machines()]
    assert "h200" in names and len(names) > 5
    file = tmp_path / "mine.toml"
    file.write_text(greenup.Machine("h200").to_toml())
    assert greenup.Machine(file) == greenup.Machine("h200") == greenup.Machine.from_toml(file.read_text())
    html = greenup.Machine("h200")._repr_html_()
    assert html.startswith("<table>") and "f64" in html and "flop/s" in html


def test_errors():
    with pytest.raises(greenup.ModelError, match="h20") as e:
        greenup.Machine("h20")
    assert "h200" in e.value.hint
    with pytest.raises(FileNotFoundError):
        greenup.Machine("none/none.toml")
    m = greenup.Machine("h200")
    for work in ({"f64": -1.0}, {"f64": math.nan}, {"f64": math.inf}, {"flops": 1.0}, {}, {"f64": 0}):
        with pytest.raises(ValueError):
            m.predict(work)
    for work in ({"f64": "many"}, {1: 1.0}, None, [1]):
        with pytest.raises(TypeError):
            m.predict(work)
    with pytest.raises(greenup.ModelError):
        greenup.Machine.from_toml("name = 1")
