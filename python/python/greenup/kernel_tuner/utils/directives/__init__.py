"""Code with OpenACC or OpenMP directives: sections between `tuner start` and `tuner stop` become functions that can be tuned.

``process_directives(Code(OpenACC(), Cxx()), source)`` returns the functions' sources and their arguments, by the sections' names.
"""

import numpy as np  # noqa: F401

from .clauses import (
    add_present_openacc,
    create_data_directive_openacc,
    create_data_directive_openmp,
    exit_data_directive_openacc,
    exit_data_directive_openmp,
    wrap_data,
)
from .functions import (
    allocate_array,
    allocate_scalar,
    allocate_signature_memory,
    generate_directive_function,
    process_directives,
    wrap_timing,
)
from .languages import (
    Code,
    Cxx,
    Directive,
    Fortran,
    Language,
    OpenACC,
    OpenMP,
    is_cxx,
    is_fortran,
    is_openacc,
    is_openmp,
    line_contains_openacc_directive,
    line_contains_openacc_parallel_directive,
    line_contains_openmp_directive,
    line_contains_openmp_target_directive,
    openacc_directive_contains_data_clause,
    openmp_directive_contains_data_clause,
)
from .sections import (
    correct_kernel,
    extract_deinitialization_code,
    extract_directive_code,
    extract_directive_data,
    extract_directive_signature,
    extract_initialization_code,
    extract_preprocessor,
)
from .sizes import ArraySize, parse_size

# Kernel Tuner's module gives NumPy to those who import everything from it.
__all__ = [name for name in dir() if not name.startswith("_") and name not in ("clauses", "functions", "languages", "sections", "sizes")]
