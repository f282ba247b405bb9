"""greenup.hydro: steps, arrays of the state, checkpoints, callbacks, Ctrl-C, ranks."""

import copy
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from interrupts import interrupted

import greenup
from greenup.hydro import Run


def sedov(**more):
    return Run(problem=1, mesh="square01_quad", refine=1, **more)


def test_a_run_has_the_shapes_and_energy_of_its_problem():
    # This integrator conserves energy to rounding.
    run = sedov(ode="rk2avg", cg_tol=1e-14)
    assert run.t == 0 and run.dt > 0 and run.steps == 0
    assert run.x.shape == run.v.shape == (2, run.nodes)
    assert run.e.shape[0] == run.zones == run.zone_nodes.shape[0]
    assert run.zone_nodes.max() == run.nodes - 1
    before = sum(run.energies())
    assert before == pytest.approx(0.25, rel=1e-9)
    assert run.run(0.1) == run.t == 0.1
    assert sum(run.energies()) == pytest.approx(before, rel=1e-10)
    assert abs(run.report()["energy_drift"]) < 1e-10
    assert run.settings["mesh"] == "square01_quad" and "square01_quad" in repr(run)


def test_steps_and_runs_agree():
    one, many = sedov(), sedov()
    one.step(5)
    for _ in range(5):
        many.step()
    assert one.t == many.t and one.steps == many.steps == 5
    assert np.array_equal(one.x, many.x) and np.array_equal(one.e, many.e)
    called, other = [], sedov()
    other.run(1.0, called.append, steps=5)
    assert len(called) == 5 and np.array_equal(other.e, one.e)


def test_the_time_step_survives_an_end_in_between():
    run = sedov()
    run.run(0.1)
    dt = run.dt
    run.run(run.t + dt * 1e-3)
    assert run.dt == pytest.approx(dt, rel=0.05)


def test_arrays_are_copies_and_views_forbid_steps():
    run = sedov()
    x = run.x
    x[:] = 0
    assert run.x.any()
    with run.view("x") as seen:
        assert np.array_equal(seen, run.x) and not seen.flags.writeable
        with pytest.raises(ValueError):
            seen[0, 0] = 1
        with pytest.raises(greenup.HydroError, match="view"):
            run.step()
    run.step()
    assert run.steps == 1
    with pytest.raises(ValueError):
        with run.view("z"):
            pass
    run.step()


def test_a_checkpoint_goes_on_with_the_same_digits(tmp_path):
    run = sedov()
    run.step(4)
    run.save(tmp_path / "run.ckpt")
    run.step(4)
    other = Run.load(tmp_path / "run.ckpt")
    assert other.steps == 4
    other.step(4)
    assert other.t == run.t and np.array_equal(other.e, run.e)
    with pytest.raises(FileNotFoundError):
        Run.load(tmp_path / "none.ckpt")
    (tmp_path / "bad.ckpt").write_bytes(b"\0" * 100)
    with pytest.raises(greenup.HydroError):
        Run.load(tmp_path / "bad.ckpt")
    with pytest.raises(FileNotFoundError):
        run.save(tmp_path / "no" / "folder.ckpt")


def test_a_callback_may_stop_or_raise():
    run = sedov()
    assert run.run(1.0, lambda r: r.steps < 3) == run.t and run.steps == 3

    def fail(_):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        run.run(1.0, fail)
    assert run.steps == 4
    run.step()
    assert run.steps == 5
    # Comparisons of arrays give NumPy's False; a callback without a result goes on.
    run.run(1.0, lambda r: np.bool_(r.steps < 7))
    assert run.steps == 7
    run.run(1.0, lambda r: None, steps=2)
    assert run.steps == 9


def test_a_run_is_not_copied():
    run = sedov()
    for how in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            how(run)


def test_numbers_of_numpy_are_settings():
    run = Run(problem=1, mesh="square01_quad", refine=np.int64(1), cfl=np.float32(0.5))
    assert run.settings["refine"] == 1 and run.settings["cfl"] == 0.5
    with pytest.raises(TypeError, match="mesh"):
        Run(problem=1, mesh=b"square01_quad")


@pytest.mark.parametrize(
    "settings, error",
    [
        (dict(problem=99), greenup.HydroError),
        (dict(problem="none.toml"), FileNotFoundError),
        (dict(mesh="moebius"), greenup.HydroError),
        (dict(mesh="0x5"), greenup.HydroError),
        (dict(refine=-1), greenup.HydroError),
        (dict(refine=100), greenup.HydroError),
        (dict(refine=12, order=8, mesh="cube01_hex"), (greenup.HydroError, MemoryError)),
        (dict(refine="x"), TypeError),
        (dict(order=0), greenup.HydroError),
        (dict(cfl=float("nan")), ValueError),
        (dict(cfl=-1.0), greenup.HydroError),
        (dict(ode="rk5"), greenup.HydroError),
        (dict(device="tpu"), greenup.HydroError),
        (dict(threads=0), ValueError),
        (dict(colour="red"), TypeError),
    ],
)
def test_wrong_settings_raise(settings, error):
    with pytest.raises(error):
        Run(**settings)


@pytest.mark.parametrize(
    "settings, message",
    [
        (dict(refine=1.0), "refine=1.0: use a whole number"),
        (dict(order="2"), 'order="2": use a whole number'),
        (dict(mesh=3), "mesh=3: use text"),
        (dict(cfl="fast"), 'cfl="fast": use a number'),
        (dict(assembly=True), "assembly=true: use `full` or `partial`"),
        (dict(t_final=[1.0]), "t_final=.*use a number"),
        (dict(threads="2"), "threads='2': use a whole number"),
        (dict(e0=b"1"), "e0 has a value of type bytes"),
    ],
)
def test_wrong_types_name_the_setting(settings, message):
    with pytest.raises(TypeError, match=message):
        Run(**settings)


@pytest.mark.parametrize(
    "settings, message",
    [
        (dict(cg_max=0), "cg_max=0: at least 1"),
        (dict(cg_tol=10), "cg_tol=10: it must be below 1"),
        (dict(cfl=-1.0), "cfl=-1: it must be above 0"),
        (dict(refine=-1), "refine=-1: use a whole number"),
        (dict(ode="rk5"), 'ode="rk5": use one of'),
        (dict(mesh="square01_tri", assembly="partial"), 'use assembly="full"'),
        (dict(order=1, energy_order=5), "energy_order of at most"),
    ],
)
def test_wrong_values_name_the_keyword(settings, message):
    with pytest.raises(greenup.HydroError, match=message) as e:
        Run(**settings)
    assert "--" not in str(e.value) + (e.value.hint or "")


def test_wrong_times_and_counts_raise():
    run = sedov()
    run.step()
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError):
            run.run(wrong)
    for wrong in (-1, 1.5, True, "x"):
        with pytest.raises(ValueError):
            run.step(wrong)
    assert run.steps == 1 and run.step(0) == run.t


def test_ctrl_c_ends_a_run_after_a_step_and_loses_nothing():
    run = Run(problem=1, mesh="square01_quad", refine=3)
    assert interrupted(lambda: run.run(0.8)) < 3.0
    steps = run.steps
    assert steps > 0 and run.t < 0.8
    other = Run(problem=1, mesh="square01_quad", refine=3)
    other.step(steps)
    assert np.array_equal(run.e, other.e)
    run.step()
    assert run.steps == steps + 1


def test_times_are_those_of_the_last_step_in_a_signal_handler():
    run = Run(problem=1, mesh="square01_quad", refine=3)
    seen = []

    def look(*_):
        seen.append((run.steps, run.t, run.dt, run.rejected))
        if len(seen) == 3:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            run.run(100.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    steps, times = [s[0] for s in seen], [s[1] for s in seen]
    assert 0 < steps[0] < steps[1] < steps[2] <= run.steps
    assert 0 < times[0] < times[1] < times[2] <= run.t


PROGRAM = """
import json
from mpi4py import MPI
from greenup.hydro import Run
run = Run(problem=1, mesh="square01_quad", refine=2, comm=MPI.COMM_WORLD, threads=1)
run.step(10)
total = MPI.COMM_WORLD.allreduce(run.zones)
energies = run.energies()
if MPI.COMM_WORLD.rank == 0:
    print(json.dumps([run.ranks, total, run.t, *energies]))
"""


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun")
def test_ranks_of_mpi4py_share_the_zones(tmp_path):
    if subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True).returncode:
        pytest.skip("needs mpi4py and MPI")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    flags = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout
    flags = flags if "Open MPI" in version or "Open RTE" in version else []
    out = subprocess.run(
        ["mpirun", *flags, "-np", "2", sys.executable, program],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert out.returncode == 0, out.stderr
    ranks, zones, t, internal, kinetic = json.loads(out.stdout.strip().splitlines()[-1])
    alone = Run(problem=1, mesh="square01_quad", refine=2)
    alone.step(10)
    assert (ranks, zones) == (2, alone.zones)
    assert t == pytest.approx(alone.t, rel=1e-10)
    assert (internal, kinetic) == pytest.approx(alone.energies(), rel=1e-9)
