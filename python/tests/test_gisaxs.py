"""greenup.gisaxs: results against formulas; wrong arguments; Ctrl-C."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from interrupts import interrupted
from limits import with_memory

import greenup
from greenup import gisaxs

SAMPLE = """
[beam]
wavelength = 0.1
angle = 0.2
[detector]
phi = { from = -1.5, to = 1.5, n = 24 }
alpha = { from = 0.0, to = 2.0, n = 16 }
[[layers]]
[[layers]]
delta = 6e-6
beta = 2e-8
[[particles]]
form = { shape = "sphere", radius = 5.0 }
delta = 9.6e-6
beta = 3.4e-8
density = 0.01
"""


def cube(edge=2.0):
    """A cube around the origin, its faces cut into two triangles each."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]
    return (corners - 0.5) * edge, np.array(triangles)


def exact_cube(q, edge=2.0):
    return edge**3 * np.prod(np.sinc(np.asarray(q) * edge / 2 / np.pi), axis=-1)


def test_form_factor_of_a_cube_is_its_formula():
    q = np.random.default_rng(1).uniform(-3, 3, (4, 5, 3))
    f = gisaxs.form_factor(*cube(), q)
    assert f.shape == (4, 5) and f.dtype == np.complex128
    assert np.abs(f - exact_cube(q)).max() < 1e-8 * 8
    assert np.allclose(gisaxs.form_factor(*cube(), [0, 0, 0]), 8.0)


def test_form_factor_takes_any_layout_and_complex_qz():
    vertices, triangles = cube()
    q = np.zeros((6, 3))
    q[:, 2] = np.linspace(0.1, 3, 6)
    plain = gisaxs.form_factor(vertices, triangles, q)
    other = gisaxs.form_factor(np.asfortranarray(vertices), triangles.astype(np.uint8), np.asfortranarray(q))
    assert np.array_equal(plain, other)
    assert np.array_equal(gisaxs.form_factor(vertices, triangles, q[::2]), plain[::2])
    lossy = gisaxs.form_factor(vertices, triangles, q + np.array([0, 0, 0.1j]))
    exact = 8 * np.sin(q[:, 2] + 0.1j) / (q[:, 2] + 0.1j)
    assert np.abs(lossy - exact).max() < 1e-7


def test_a_grid_has_the_values_of_its_list():
    x, y, z = np.linspace(-1, 1, 3), np.linspace(-2, 2, 4), np.linspace(0, 1, 5)
    grid = gisaxs.form_factor_grid(*cube(), x, y, z)
    assert grid.shape == (5, 3, 4)
    qz, qx, qy = np.meshgrid(z, x, y, indexing="ij")
    assert np.abs(grid - exact_cube(np.stack([qx, qy, qz], -1))).max() < 1e-7


def test_a_soup_of_triangles_is_welded_where_asked():
    vertices, triangles = cube()
    soup, loose = vertices[triangles.ravel()], np.arange(36).reshape(12, 3)
    with pytest.raises(greenup.GisaxsError) as e:
        gisaxs.form_factor(soup, loose, [[0, 0, 0]])
    assert "weld=True" in e.value.hint
    assert np.allclose(gisaxs.form_factor(soup, loose, [[0, 0, 0]], weld=True), 8.0)


@pytest.mark.parametrize(
    "change, error",
    [
        (dict(vertices=np.zeros((8, 2))), ValueError),
        (dict(vertices=np.zeros(24)), ValueError),
        (dict(vertices=np.full((8, 3), np.nan)), ValueError),
        (dict(vertices=[["a"] * 3] * 8), TypeError),
        (dict(triangles=np.zeros((12, 4), int)), ValueError),
        (dict(triangles=np.zeros((12, 3))), TypeError),
        (dict(triangles=np.full((12, 3), 8)), ValueError),
        (dict(triangles=np.full((12, 3), -1)), ValueError),
        (dict(triangles=np.full((12, 3), 2**62)), ValueError),
        (dict(triangles=np.full((12, 3), 2**64 - 1, np.uint64)), ValueError),
        (dict(triangles=np.zeros((0, 3), int)), greenup.GisaxsError),
        (dict(triangles=np.zeros((12, 3), int)), greenup.GisaxsError),
        (dict(vertices=np.zeros((0, 3))), ValueError),
        (dict(q=np.zeros((3, 2))), ValueError),
        (dict(q=1.0), ValueError),
        (dict(q=[[np.inf, 0, 0]]), ValueError),
        (dict(q=[[1j, 0, 0]]), ValueError),
        (dict(q=[["x", "y", "z"]]), TypeError),
        (dict(q=None), TypeError),
        (dict(accuracy=0.0), greenup.GisaxsError),
        (dict(accuracy=np.nan), greenup.GisaxsError),
        (dict(device="tpu"), greenup.GisaxsError),
    ],
)
def test_wrong_arguments_raise(change, error):
    vertices, triangles = cube()
    arguments = dict(vertices=vertices, triangles=triangles, q=np.zeros((3, 3)))
    with pytest.raises(error):
        gisaxs.form_factor(**{**arguments, **change})


def test_a_mesh_may_lie_far_from_the_origin():
    vertices, triangles = cube()
    near = gisaxs.form_factor(vertices, triangles, np.zeros((1, 3)))
    assert gisaxs.form_factor(vertices + 2.0**30, triangles, np.zeros((1, 3))) == pytest.approx(near, rel=1e-12)


def test_a_forked_child_is_refused_and_a_spawned_one_computes():
    program = f"""
import os, sys
import numpy as np
from greenup import GreenupError, gisaxs
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_gisaxs import cube
work = lambda: gisaxs.form_factor(*cube(), np.ones((1000, 3)))
if sys.argv[1] == "after":
    work()
if os.fork() == 0:
    try:
        work()
    except GreenupError as e:
        os._exit(3 if "spawn" in e.hint else 4)
    os._exit(0)
code = os.waitstatus_to_exitcode(os.wait()[1])
work()
sys.exit(code)
"""
    for when, code in (("after", 3), ("before", 0)):
        assert subprocess.run([sys.executable, "-c", program, when], timeout=60).returncode == code


def test_no_q_gives_no_values():
    assert gisaxs.form_factor(*cube(), np.zeros((0, 3))).shape == (0,)
    assert gisaxs.form_factor_grid(*cube(), np.zeros(0), [1.0], [1.0]).shape == (1, 0, 1)


def test_an_image_has_its_detector(tmp_path):
    image = gisaxs.simulate(SAMPLE)
    assert isinstance(image, np.ndarray) and image.shape == (16, 24) and (image >= 0).all()
    assert image.phi.shape == image.alpha.shape == (16, 24)
    assert image.alpha[0, 0] < image.alpha[-1, 0] and image.phi[0, 0] < image.phi[0, -1]
    assert np.allclose(image.extent, (-1.5, 1.5, 0, 2))
    assert np.allclose(image, image[:, ::-1], rtol=1e-9)
    assert "<svg" in image._repr_html_()
    assert image.figure("png")[1:4] == b"PNG"
    with pytest.raises(ValueError):
        image.figure("bmp")
    assert type(image[:4]) is np.ndarray and type(image + 1) is np.ndarray and image.sum() > 0
    path = tmp_path / "sample.toml"
    path.write_text(SAMPLE)
    assert np.array_equal(gisaxs.simulate(path), image)
    assert np.array_equal(gisaxs.simulate(str(path)), image)


def test_what_must_be_known_of_an_image_is_a_warning():
    # A sphere across the surface of a film is cut there; an energy of 12 eV is keV by habit.
    film = SAMPLE.replace("[[layers]]\n[[layers]]", "[[layers]]\n[[layers]]\ndelta = 2e-6\nthickness = 20.0\n[[layers]]")
    with pytest.warns(UserWarning) as told:
        gisaxs.simulate(film.replace("density = 0.01", "density = 0.01\nheight = -3.0"))
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="eV"):
        gisaxs.reflectivity(SAMPLE.replace("wavelength = 0.1", "energy = 12.0"), [0.5])


def test_a_sample_may_be_a_dict_and_its_numbers_may_be_set():
    sample = {
        "beam": {"wavelength": 0.1, "angle": 0.2},
        "detector": {"phi": {"from": -1.5, "to": 1.5, "n": 24}, "alpha": {"from": 0, "to": 2, "n": 16}},
        "layers": [{}, {"delta": 6e-6, "beta": 2e-8}],
        "particles": [{"form": {"shape": "sphere", "radius": 5}, "delta": 9.6e-6, "beta": 3.4e-8, "density": 0.01}],
    }
    image = gisaxs.simulate(sample)
    assert np.allclose(image, gisaxs.simulate(SAMPLE), rtol=1e-12)
    larger = gisaxs.simulate(SAMPLE, set={"particles.0.form.radius": 6.0})
    assert not np.allclose(image, larger, rtol=1e-3)
    assert gisaxs.simulate(SAMPLE, set={"detector.phi.n": np.int32(8)}).shape == (16, 8)
    assert not np.allclose(image, gisaxs.simulate(SAMPLE, set={"mode": "born"}), rtol=1e-3)
    with pytest.raises(TypeError, match="detector.phi.n is set to a list"):
        gisaxs.simulate(SAMPLE, set={"detector.phi.n": [8]})


@pytest.mark.parametrize(
    "page, error",
    [
        ("no_such_file.toml", FileNotFoundError),
        ("/", OSError),
        ("a = \n", greenup.GisaxsError),
        ("[beam]\nwavelengths = 0.1\n", greenup.GisaxsError),
        (SAMPLE.replace("5.0", "nan"), greenup.GisaxsError),
        (SAMPLE.replace("n = 24", "n = 2000000000"), (greenup.GisaxsError, MemoryError)),
        ({"beam": {"wavelength": "x"}}, greenup.GisaxsError),
        ({"beam": {"wavelength": float("nan")}}, ValueError),
        (5, TypeError),
    ],
)
def test_wrong_samples_raise(page, error):
    with pytest.raises(error):
        gisaxs.simulate(page)


def test_reflectivity_is_total_below_the_critical_angle():
    r = gisaxs.reflectivity(SAMPLE, np.array([[0.0, 0.05], [0.1, 1.0]]))
    assert r.shape == (2, 2)
    assert r[0, 0] == pytest.approx(1, abs=1e-9) and r[0, 1] > 0.9 and r[1, 1] < 1e-3
    for wrong in ([-1.0], [91.0], [np.nan], ["x"]):
        with pytest.raises((ValueError, TypeError)):
            gisaxs.reflectivity(SAMPLE, wrong)


def test_a_fit_finds_the_radius(tmp_path):
    np.save(tmp_path / "data.npy", np.asarray(gisaxs.simulate(SAMPLE)))
    (tmp_path / "sample.toml").write_text(SAMPLE.replace("radius = 5.0", "radius = 4.7"))
    (tmp_path / "fit.toml").write_text(
        'sample = "sample.toml"\ndata = "data.npy"\nnoise = "relative"\nswarm = 0\n'
        '[[parameters]]\npath = "particles.0.form.radius"\nfrom = 4.0\nto = 6.0\nstart = 4.7\n'
    )
    found = gisaxs.fit(tmp_path / "fit.toml")
    assert found["parameters"][0]["value"] == pytest.approx(5.0, abs=1e-3)
    with pytest.raises(FileNotFoundError):
        gisaxs.fit(tmp_path / "none.toml")


def test_ctrl_c_ends_a_form_factor():
    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    vertices = np.array([[np.cos(a), np.sin(a), z] for z in (0.0, 1.0) for a in angles])
    top = [(60, 60 + i, 61 + i) for i in range(1, 59)]
    bottom = [(0, i + 1, i) for i in range(1, 59)]
    side = [t for i in range(60) for j in [(i + 1) % 60] for t in ((i, j, 60 + j), (i, 60 + j, 60 + i))]
    q = np.random.default_rng(2).uniform(-5, 5, (400_000, 3))
    took = interrupted(lambda: gisaxs.form_factor(vertices, top + bottom + side, q, accuracy=1e-12))
    assert took < 3.0


@pytest.mark.parametrize("after", [0.05, 0.3, 0.8, 1.5])
def test_ctrl_c_is_heard_with_millions_of_q(after):
    q = np.random.default_rng(2).uniform(-5, 5, (2_000_000, 3))
    took = interrupted(lambda: gisaxs.form_factor(*cube(), q, accuracy=1e-11), after)
    # Python's own checks of the array, and freeing it, count too.
    assert took < 1.0


def test_too_many_q_or_angles_raise():
    start = "q = np.ones((3_000_000, 3)); q[:, 2] = np.arange(len(q)) * 1e-6"
    shape = "np.array([[0., 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]"
    start += f"; gisaxs.form_factor({shape}, q[:9])"
    for mib in (300, 700):
        out = with_memory(mib, start, f"gisaxs.form_factor({shape}, q)")
        assert out.startswith("MemoryError: ") and " of memory, but " in out
    start = f"page = {SAMPLE!r}; angles = np.full(20_000_000, 0.5); gisaxs.reflectivity(page, angles[:9])"
    out = with_memory(100, start, "gisaxs.reflectivity(page, angles)")
    assert out.startswith("MemoryError: the reflectivity at 20000000 angles")


def test_other_threads_go_on():
    beats, done = [], threading.Event()

    def beat():
        while not done.wait(0.002):
            beats.append(1)

    thread = threading.Thread(target=beat)
    thread.start()
    gisaxs.form_factor(*cube(), np.random.default_rng(3).uniform(-3, 3, (30_000, 3)))
    done.set()
    thread.join()
    assert beats
