"""greenup.fmm: sums against direct ones, wrong arguments, Ctrl-C."""

import numpy as np
import pytest
from interrupts import interrupted
from limits import with_memory

import greenup
from greenup import fmm


def cloud(n, seed=1):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (n, 3)), rng.uniform(-1, 1, n)


def pairs(targets, sources):
    d = targets[:, None, :] - sources[None, :, :]
    r = np.sqrt((d * d).sum(-1))
    return d, np.divide(1.0, r, out=np.zeros_like(r), where=r > 0), r


def error(got, exact):
    return np.linalg.norm(got - exact) / np.linalg.norm(exact)


def test_laplace_with_gradients_is_the_direct_sum():
    x, q = cloud(1500)
    d, inverse, _ = pairs(x, x)
    exact = inverse @ q / (4 * np.pi)
    assert error(fmm.evaluate(x, q, accuracy=1e-6), exact) < 1e-6
    sums, gradients = fmm.evaluate(x, q, accuracy=1e-6, gradient=True)
    slope = -(d * (inverse**3)[..., None] * q[None, :, None]).sum(1) / (4 * np.pi)
    assert sums.shape == (1500,) and gradients.shape == (1500, 3)
    assert error(sums, exact) < 1e-6 and error(gradients, slope) < 1e-6


def test_targets_apart_and_other_kernels():
    (x, q), (y, _) = cloud(1200), cloud(300, 2)
    d, inverse, r = pairs(y, x)
    assert error(fmm.evaluate(x, q, y), inverse @ q / (4 * np.pi)) < 1e-6
    screened = fmm.evaluate(x, q, y, kernel="yukawa", kappa=2.0)
    assert error(screened, (inverse * np.exp(-2 * r)) @ q / (4 * np.pi)) < 1e-6
    wave = fmm.evaluate(x, q * (1 + 0.5j), y, kernel="helmholtz", k=1.5)
    assert wave.dtype == np.complex128
    assert error(wave, (inverse * np.exp(1.5j * r)) @ (q * (1 + 0.5j)) / (4 * np.pi)) < 1e-6
    forces = np.random.default_rng(3).uniform(-1, 1, (1200, 3))
    flow = fmm.evaluate(x, forces, y, kernel="stokes", mu=2.0)
    along = (d * forces[None]).sum(-1)
    exact = ((inverse[..., None] * forces[None]) + d * (along * inverse**3)[..., None]).sum(1) / (16 * np.pi)
    assert flow.shape == (300, 3) and error(flow, exact) < 1e-6


def test_a_plan_serves_many_charges():
    x, q = cloud(2000)
    plan = fmm.Plan(x, accuracy=1e-5)
    first = plan.evaluate(q)
    assert np.allclose(plan.evaluate(2 * q), 2 * first, rtol=1e-12)
    assert np.array_equal(first, fmm.evaluate(x, q, accuracy=1e-5))
    assert plan.sources == plan.targets == 2000 and plan.order >= 3
    assert set(plan.phases) >= {"p2p_s", "p2m_m2m_s"}
    assert "laplace" in repr(plan)


def test_layouts_and_types_of_arrays_do_not_matter():
    x, q = cloud(500)
    plain = fmm.evaluate(x, q)
    assert np.array_equal(fmm.evaluate(np.asfortranarray(x), np.repeat(q, 2)[::2]), plain)
    assert error(fmm.evaluate(x.astype(np.float32), q.astype(np.float32)), plain) < 1e-4
    assert fmm.evaluate(x.tolist(), [1] * 500).shape == (500,)


@pytest.mark.parametrize(
    "change, error",
    [
        (dict(points=np.zeros((5, 2))), ValueError),
        (dict(points=np.zeros(15)), ValueError),
        (dict(points=np.full((5, 3), np.nan)), ValueError),
        (dict(points=np.zeros((5, 3), complex)), TypeError),
        (dict(points=None), TypeError),
        (dict(charges=np.zeros(4)), ValueError),
        (dict(charges=np.zeros((5, 3))), ValueError),
        (dict(charges=np.full(5, np.inf)), ValueError),
        (dict(charges=["a"] * 5), TypeError),
        (dict(charges=np.zeros(5, complex)), TypeError),
        (dict(targets=np.zeros((5, 4))), ValueError),
        (dict(accuracy=0), greenup.FmmError),
        (dict(accuracy=float("nan")), greenup.FmmError),
        (dict(accuracy=1e-30), greenup.FmmError),
        (dict(kernel="coulomb"), ValueError),
        (dict(kernel="yukawa", kappa=-1), greenup.FmmError),
        (dict(precision="f16"), ValueError),
        (dict(device="tpu"), greenup.FmmError),
        (dict(ncrit=0), greenup.FmmError),
        (dict(ncrit=-1), (OverflowError, ValueError)),
        (dict(order=99), greenup.FmmError),
        (dict(order=-1), ValueError),
        (dict(kappa=2.0), ValueError),
        (dict(kernel="stokes", k=1.0), ValueError),
        (dict(charges=np.full(5, 1e308), points=np.arange(15.0).reshape(5, 3) * 1e-3), greenup.FmmError),
        (dict(points=[[1e308 * s] * 3 for s in (1, -1, 1, -1, 1)], gradient=True), greenup.FmmError),
        (dict(points=[[1e-200 * s] * 3 for s in (1, -1, 2, -2, 0)], gradient=True), greenup.FmmError),
    ],
)
def test_wrong_arguments_raise(change, error):
    arguments = dict(points=np.arange(15.0).reshape(5, 3), charges=np.ones(5))
    with pytest.raises(error):
        fmm.evaluate(**{**arguments, **change})


def test_too_many_points_raise_before_they_are_copied():
    start = "x = np.zeros((8_000_000, 3)); q = np.zeros(len(x)); fmm.evaluate(x[:9], q[:9])"
    out = with_memory(100, start, "fmm.evaluate(x, q)")
    assert out.startswith("MemoryError: a sum over 8000000 sources")


def test_messages_name_keywords():
    with pytest.raises(greenup.FmmError, match="accuracy=3e-11") as e:
        fmm.Plan(np.zeros((5, 3)), accuracy=1e-30)
    assert "--" not in str(e.value)
    with pytest.raises(greenup.FmmError, match="omit gradient"):
        fmm.Plan(np.zeros((5, 3)), kernel="stokes", gradient=True)


@pytest.mark.parametrize("size", [1e308, 1e-300])
def test_units_do_not_matter(size):
    exact = np.array([2, 3, 2, 3, 2]) / (4 * np.pi * 12**0.5) / size
    assert np.allclose(fmm.evaluate([[size * s] * 3 for s in (1, -1, 1, -1, 1)], np.ones(5)), exact, rtol=1e-6, atol=0)


def test_few_or_no_points():
    assert fmm.evaluate(np.zeros((0, 3)), np.zeros(0)).shape == (0,)
    assert fmm.evaluate(np.zeros((1, 3)), [1.0]).tolist() == [0.0]
    assert fmm.evaluate(np.zeros((0, 3)), np.zeros(0), np.ones((2, 3))).tolist() == [0.0, 0.0]
    assert fmm.evaluate(np.zeros((4, 3)), np.ones(4)).tolist() == [0.0] * 4


def test_ctrl_c_ends_an_evaluation_and_the_plan_lives_on():
    x, q = cloud(60_000)
    plan = fmm.Plan(x, accuracy=1e-4)
    first = plan.evaluate(q)

    def again():
        while True:
            plan.evaluate(q)

    assert interrupted(again) < 1.0
    assert np.array_equal(plan.evaluate(q), first)
