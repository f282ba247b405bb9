"""Structures and complex numbers that kernels take by value."""

import ctypes.util

import numpy as np
import pytest

from greenup.kernel_tuner import run_kernel
from greenup.kernel_tuner.util import check_argument_list

# Layouts that are passed in different ways: in registers of each kind, in both, and in memory.
LAYOUTS = {
    "floats": ("float x, y, z;", np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")])),
    "mixed": ("int32_t x; double y; int8_t z;", np.dtype([("x", "i4"), ("y", "f8"), ("z", "i1")], align=True)),
    "short": ("int8_t x; float y, z;", np.dtype([("x", "i1"), ("y", "f4"), ("z", "f4")], align=True)),
    "packed": ("int8_t x; float y; double z;", np.dtype([("x", "i1"), ("y", "f4"), ("z", "f8")])),
    "large": ("double x, y, z; float more[5];", np.dtype([("x", "f8"), ("y", "f8"), ("z", "f8"), ("more", "f4", 5)], align=True)),
}


def structure(name):
    """The declaration of `struct S` and a value of it."""
    members, dtype = LAYOUTS[name]
    value = np.zeros(1, dtype)
    value["x"], value["y"], value["z"] = 1, 2.5, 4
    return f"struct {'__attribute__((packed)) ' if name == 'packed' else ''}S {{ {members} }};", value[0]


def host(code, *arguments):
    return run_kernel("f", f"#include <stdint.h>\n{code}", 1, list(arguments), {}, lang="C", quiet=True)[0].tolist()


@pytest.mark.parametrize("name", LAYOUTS)
def test_host_code_takes_them(name):
    declared, value = structure(name)
    code = f"{declared} float f(double *o, struct S s, int after) {{ o[0] = s.x; o[1] = s.y; o[2] = s.z; o[3] = after; return 1; }}"
    assert host(code, np.zeros(4), value, np.int32(7)) == [1, 2.5, 4, 7]


def test_without_members_they_are_passed_where_that_is_clear():
    code = "struct S { double x, y, z; }; float f(double *o, struct S s) { o[0] = s.x; o[1] = s.z; return 1; }"
    raw = np.array([1.0, 2.0, 4.0]).tobytes()
    assert host(code, np.zeros(2), np.frombuffer(raw, np.dtype((np.void, 24)))[0]) == [1, 4]
    with pytest.raises(TypeError, match="position 1: .*without members"):
        host(code, np.zeros(2), np.frombuffer(raw[:16], np.dtype((np.void, 16)))[0])


def test_complex_numbers():
    code = """
    #include <complex>
    extern "C" float f(double *o, std::complex<float> a, std::complex<double> b) { o[0] = a.imag(); o[1] = b.real(); return 1; }
    """
    assert host(code, np.zeros(2), np.complex64(1 + 2j), np.complex128(3 + 4j)) == [2, 3]


@pytest.mark.skipif(ctypes.util.find_library("OpenCL") is None, reason="needs OpenCL, such as pocl")
@pytest.mark.parametrize("name", ["floats", "mixed", "packed"])
def test_devices_take_them(name):
    declared, value = structure(name)
    declared = declared.replace("int32_t", "int").replace("int8_t", "char")
    code = f"{declared} __kernel void f(__global double *o, struct S s, int after) {{ o[0] = s.x; o[1] = s.y; o[2] = s.z; o[3] = after; }}"
    out = run_kernel("f", code, 1, [np.zeros(4), value, np.int32(7)], {"block_size_x": 1}, lang="OpenCL", quiet=True)
    assert out[0].tolist() == [1, 2.5, 4, 7]


def test_types_by_unknown_names_get_no_warning(recwarn):
    x = np.zeros(3, np.float32)
    check_argument_list("f", "template <typename T> __global__ void f(T *x, const Shape s, real_t y, int n)", [
        x, np.zeros(1, [("a", "f4")])[0], np.float64(1), np.int32(3)])
    assert not recwarn.list
    check_argument_list("f", "__global__ void f(T *x, unsigned n)", [x, np.float32(3)])
    assert "position 1" in str(recwarn.pop(UserWarning).message)
