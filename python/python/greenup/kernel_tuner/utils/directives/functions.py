"""Functions that can be tuned, made of sections of code, and arguments for them."""

import numpy as np

from .clauses import add_present_openacc, wrap_data
from .languages import is_cxx, is_fortran, is_openacc
from .sections import (
    extract_deinitialization_code,
    extract_directive_code,
    extract_directive_data,
    extract_directive_signature,
    extract_initialization_code,
    extract_preprocessor,
)
from .sizes import parse_size

_TYPES = {"float": np.float32, "double": np.float64, "int": np.int32}
_CXX_RETURN = "return elapsed_time.count();\n"


def _timed_cxx(code):
    """Code that leaves its time in milliseconds in `elapsed_time`."""
    return (
        f"auto kt_timing_start = std::chrono::steady_clock::now();\n{code}\n"
        "auto kt_timing_end = std::chrono::steady_clock::now();\n"
        "std::chrono::duration<float, std::milli> elapsed_time = kt_timing_end - kt_timing_start;\n"
    )


def _timed_fortran(code):
    return (
        f"call system_clock(kt_timing_start, kt_rate)\n{code}\ncall system_clock(kt_timing_end)\n"
        "timing = 1e3 * real(kt_timing_end - kt_timing_start) / real(kt_rate)\n"
    )


def wrap_timing(code, lang):
    """Code that measures its time, in milliseconds."""
    if is_cxx(lang):
        return _timed_cxx(code) + _CXX_RETURN
    return _timed_fortran(code) if is_fortran(lang) else ""


def generate_directive_function(
    preprocessor, signature, body, langs, data=None, initialization="", deinitialization="", user_dimensions=None
):  # fmt: skip
    """The source of a function with the code of a section."""
    cxx = is_cxx(langs.language)
    code = _timed_cxx(body) if cxx else _timed_fortran(body)
    if data is not None:
        if is_openacc(langs.directive):
            code = add_present_openacc(code, langs, data, preprocessor, user_dimensions)
        code = wrap_data(code, langs, data, preprocessor, user_dimensions)
    macros = "".join(f"#define {name} {value}\n" for name, value in (user_dimensions or {}).items())
    head = "\n".join(preprocessor) + f"\n{macros}"
    inside = f"{signature}{' {' if cxx else ''}\n{initialization}\n{code}\n{deinitialization}\n"
    if cxx:
        return f'{head}#include <chrono>\n\nextern "C" {inside}{_CXX_RETURN}}}\n'
    name = signature.split("(")[0].split()[1]
    return f"{head}\nmodule kt\nuse iso_c_binding\ncontains\n\n{inside}end function {name}\n\nend module kt\n"


def allocate_array(p_type, size):
    """An array of random numbers; of zero bytes for a type that is not known."""
    kind = _TYPES.get(p_type.rstrip("*"))
    if kind is None:
        return np.zeros(size, np.byte)
    return np.random.randint(1024, size=size, dtype=kind) if kind is np.int32 else np.random.rand(size).astype(kind)


def allocate_scalar(p_type, size):
    """A scalar with the value of its size."""
    return _TYPES.get(p_type, np.byte)(size)


def allocate_signature_memory(data, preprocessor=None, user_dimensions=None):
    """Arguments for the parameters of a section."""
    sized = [(kind, parse_size(size, preprocessor, user_dimensions).get()) for kind, size in data.values()]
    return [allocate_array(kind, n) if "*" in kind else allocate_scalar(kind, n) for kind, n in sized]


def process_directives(langs, source, user_dimensions=None):
    """Sources of functions and their arguments, by the names of the sections."""
    preprocessor = extract_preprocessor(source)
    bodies, data = extract_directive_code(source, langs), extract_directive_data(source, langs)
    around = extract_initialization_code(source, langs), extract_deinitialization_code(source, langs)
    functions = {
        name: generate_directive_function(preprocessor, head, bodies[name], langs, data[name], *around, user_dimensions)
        for name, head in extract_directive_signature(source, langs).items()
    }
    return functions, {name: allocate_signature_memory(data[name], preprocessor, user_dimensions) for name in functions}
