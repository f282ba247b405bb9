"""Kernel arguments: NumPy arrays and scalars as arguments of a problem file, with their data in files."""

import struct

import numpy as np

_TYPES = {
    "float64": "f64", "float32": "f32",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
    "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8",
    "bool": "u8",
    # Raw, as nothing but a check in Python looks at the values.
    "float16": "u16", "complex64": "f32", "complex128": "f64",
}  # fmt: skip
_C = {
    "f4": "float", "f8": "double", "b1": "bool", "f2": "uint16_t",
    "i1": "int8_t", "i2": "int16_t", "i4": "int32_t", "i8": "int64_t",
    "u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t",
}  # fmt: skip
#: Relative error that ``numpy.allclose`` allows.
RTOL = 1e-5


def to_numpy(argument, position):
    """The argument as NumPy's array or scalar; arrays of CuPy and tensors of PyTorch are copied to the host."""
    if isinstance(argument, (np.ndarray, np.generic)):
        return argument
    if hasattr(argument, "get") and hasattr(argument, "dtype") and hasattr(argument, "shape"):
        return argument.get()
    if hasattr(argument, "detach") and hasattr(argument, "cpu"):
        return argument.detach().cpu().numpy()
    raise TypeError(
        f"Argument at position {position} of type: {type(argument)} should be of type "
        "np.ndarray, numpy scalar, cupy.ndarray or torch.Tensor"
    )


def return_to(argument, values):
    """Writes what a kernel gave into the caller's own array, which it changes there in Kernel Tuner too."""
    if isinstance(argument, np.ndarray):
        if argument.flags.writeable:
            argument[...] = values
    elif hasattr(argument, "set") and hasattr(argument, "get"):
        argument.set(values)
    elif hasattr(argument, "copy_") and hasattr(argument, "detach"):
        import torch

        argument.detach().copy_(torch.from_numpy(values))


def _type(dtype, position):
    # Structures are bytes; only a check in Python looks at them.
    if dtype.kind == "V":
        return "u8"
    if str(dtype) not in _TYPES:
        raise TypeError(f"Argument at position {position} has an unsupported dtype: {dtype}")
    return _TYPES[str(dtype)]


def check_answer(arguments, answer):
    """Refuses answers that cannot be those of the arguments, as Kernel Tuner does."""
    if len(arguments) != len(answer):
        raise TypeError("The length of argument list and provided results do not match.")
    for i, (argument, expected) in enumerate(zip(arguments, answer)):
        if expected is None:
            continue
        if not isinstance(expected, (np.ndarray, np.generic)):
            raise TypeError(f"Element {i} of expected results list is not a numpy/cupy ndarray, torch Tensor or numpy scalar.")
        if isinstance(expected, np.ndarray) != isinstance(argument, np.ndarray):
            raise TypeError(f"Element {i} of expected results list and kernel arguments have different types.")
        if not np.can_cast(argument.dtype, expected.dtype):
            raise TypeError(
                f"Element {i} of the expected results list has a dtype that is not compatible with the dtype of "
                f"the kernel output: {expected.dtype} != {argument.dtype}."
            )
        if expected.size != argument.size:
            raise ValueError(
                f"Element {i} of the expected results list has a size different from the kernel argument: "
                f"{expected.size} != {argument.size}."
            )


def compared_by_tuner(argument, answer):
    """Whether the tuner itself can compare an array with its answer; otherwise Python does."""
    if argument.size == 0 or argument.dtype.kind == "V" or str(argument.dtype) in ("float16", "complex64", "complex128", "bool"):
        return False
    return answer is None or not has_nan(answer)


def has_nan(array):
    """Whether an array has a NaN."""
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())


class Writer:
    """Writes arguments into a project's folder."""

    def __init__(self, folder, on_gpu):
        self.folder = folder
        self.on_gpu = on_gpu
        self.tables = []
        self._files = {}

    def _file(self, array, name):
        # One file for an array that is passed twice.
        key = (array.__array_interface__["data"][0], array.nbytes, str(array.dtype), array.strides)
        if key not in self._files:
            np.ascontiguousarray(array).tofile(self.folder / name)
            self._files[key] = (name, array)
        return self._files[key][0]

    def add(self, i, argument, *, written, answer=None, atol=0.0, symbol=None):
        """Adds argument ``i``. ``written`` arrays are restored before each run that is checked."""
        kind = _type(argument.dtype, i)
        lines = ["[[arguments]]", f'name = "{name_of(i)}"', f'type = "{kind}"']
        if isinstance(argument, np.ndarray):
            if argument.size == 0:
                # A pointer to memory that nobody looks at.
                argument, written, answer = np.zeros(1, argument.dtype), False, None
            size = argument.nbytes // np.dtype(_numpy_of(kind)).itemsize
            lines += [f"size = {size}", f'fill = "file:{self._file(argument, f"{name_of(i)}.bin")}"']
            lines += [f'role = "{"inout" if written else "scratch"}"']
            if symbol is not None:
                lines += [f'symbol = "{symbol}"']
            if answer is not None:
                file = f"answer{i}.bin"
                np.ascontiguousarray(answer.astype(argument.dtype, copy=False)).tofile(self.folder / file)
                lines += [f'answer = {{ file = "{file}", atol = {float(atol)!r}, rtol = {RTOL!r} }}']
        elif symbol is not None or not self.on_gpu and by_bytes(argument):
            return self.add(i, np.array([argument]), written=False, symbol=symbol)
        elif argument.dtype.kind in "cV":
            lines[2:] = ['type = "u8"', f'bytes = "{argument.tobytes().hex()}"']
        else:
            kind, value = _scalar(argument, kind, i)
            lines[2:] = [f'type = "{kind}"', f"value = {value}"]
        self.tables.append("\n".join(lines))
        return None


def c_type(dtype):
    """Name in C++ of a number's type; ``None`` for structures and complex numbers."""
    return _C.get(dtype.str[1:])


def by_bytes(argument):
    """Whether a scalar's value cannot be written in a problem file as a number: host code gets it through an array of one element."""
    if isinstance(argument, np.ndarray):
        return False
    if argument.dtype.kind in "cV":
        return True
    value = argument.item()
    return isinstance(value, float) and not np.isfinite(value) or isinstance(value, int) and abs(value) > 2**53


def name_of(i):
    """Name of argument ``i`` in a problem file."""
    return f"kt_argument_{i}"


def _numpy_of(kind):
    return {"f": "f", "i": "i", "u": "u"}[kind[0]] + str(int(kind[1:]) // 8)


def _scalar(value, kind, position):
    """Type and value of a scalar in a problem file. What cannot be written as it is has the same bits in another type."""
    if not by_bytes(value) and value.dtype != np.float16:
        number = value.item()
        return kind, repr(number) if isinstance(number, float) else str(int(number))
    bits = int(value.view(f"i{value.dtype.itemsize}"))
    if abs(bits) <= 2**53 or float(bits) == bits and abs(bits) < 2**63:
        return f"i{8 * value.dtype.itemsize}", str(bits)
    number = struct.unpack("=d", value.tobytes())[0]
    if not np.isfinite(number):
        raise ValueError(f"Argument at position {position} is {value}: integers above 2**53 with these bits are not supported")
    return "f64", repr(number)
