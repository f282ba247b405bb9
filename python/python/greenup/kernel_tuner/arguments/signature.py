"""Arguments compared with the kernel's signature in the code."""

import re
import warnings

import numpy as np

#: Names in C and OpenCL of NumPy's types.
_NAMES = {
    "bool": ("bool",),
    "int8": ("char", "int8_t"), "uint8": ("uchar", "unsigned char", "uint8_t"),
    "int16": ("short", "int16_t"), "uint16": ("ushort", "unsigned short", "uint16_t"),
    "int32": ("int", "int32_t"), "uint32": ("uint", "unsigned int", "uint32_t"),
    "int64": ("long", "int64_t"), "uint64": ("ulong", "unsigned long", "uint64_t"),
    "float16": ("half",), "float32": ("float",), "float64": ("double",),
    "complex64": ("float2", "complex<float>"), "complex128": ("double2", "complex<double>"),
}  # fmt: skip
#: A type that is known by its name; others, such as a template's ``T`` or a structure, take what is given.
_KNOWN = re.compile(r"\b(?:bool|u?char|u?short|u?int|u?long|half|float|double)\d*\b|\bu?int\d+_t\b|\b(?:un)?signed\b")


def _is_array(argument):
    return not isinstance(argument, np.generic) and hasattr(argument, "dtype") and hasattr(argument, "shape")


def _fits(argument, parameter):
    """Whether a parameter as it is written may take an argument."""
    if hasattr(argument, "select_for_configuration"):
        return True
    if _is_array(argument) != ("*" in parameter or "[" in parameter):
        return False
    names = _NAMES.get(str(argument.dtype).removeprefix("torch."))
    if names is None or not _KNOWN.search(parameter) or any(name in parameter for name in names):
        return True
    return "uint" in names and re.search(r"\bunsigned\b(?!\s+(?:char|short|long)\b)", parameter) is not None


def _mismatch(arguments, parameters):
    """What is wrong with the arguments for a list of parameters; ``None`` if they fit."""
    if len(parameters) != len(arguments):
        return f"Kernel ({len(parameters)}) and host argument ({len(arguments)}) lists do not match in size."
    for i, (argument, parameter) in enumerate(zip(arguments, parameters)):
        if not _fits(argument, parameter):
            return f"Argument at position {i} of dtype: {getattr(argument, 'dtype', '')} does not match {parameter}."
    return None


def check_argument_list(kernel_name, kernel_string, args, lang=None):  # noqa: ARG001 - Kernel Tuner's signature
    """Warns of arguments that fit none of the places in the code where the kernel's name is followed by a list.

    Raises TypeError for an argument that is neither an array nor a scalar of NumPy, CuPy or PyTorch.
    """
    for i, argument in enumerate(args):
        if not hasattr(argument, "dtype") and not hasattr(argument, "select_for_configuration"):
            raise TypeError(
                f"Argument at position {i} of type: {type(argument)} should be of type "
                "np.ndarray, numpy scalar, cupy.ndarray or torch.Tensor"
            )
    lists = re.findall(rf"(?<!\w){re.escape(kernel_name)}" + r"\s*\(([^)]*)\)", kernel_string)
    found = [_mismatch(args, text.split(",") if text.strip() not in ("", "void") else []) for text in lists]
    if None not in found:
        for message in found:
            warnings.warn(message, UserWarning, stacklevel=4)


def check_time_returned(kernel_name, code):
    """Warns of a host kernel whose function returns no ``float``: what is taken for its time then is none."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", code, flags=re.S)
    returned = re.search(rf"\b(void|bool|char|int|long|unsigned|double)\s+{re.escape(kernel_name)}\s*\([^;{{]*\)\s*\{{", code)
    if returned is not None:
        warnings.warn(
            f"{kernel_name} returns {returned[1]}, so its time is not known: a kernel on the host returns its time in ms as float",
            UserWarning,
            stacklevel=4,
        )
