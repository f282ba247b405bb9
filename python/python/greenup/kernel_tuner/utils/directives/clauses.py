"""Directives that bring data to a device and back."""

from .languages import (
    Cxx,
    Fortran,
    is_openacc,
    is_openmp,
    line_contains_openacc_parallel_directive,
    openacc_directive_contains_data_clause,
)
from .sizes import parse_size


def _lines(texts, name, size, lang):
    if not isinstance(lang, (Cxx, Fortran)):
        return ""
    return "".join(f"{lang.sentinel}{text.format(lang.array(name, size))}\n" for text in texts)


def create_data_directive_openacc(name, size, lang):
    """Creates an array on the device, and copies it there."""
    return _lines(("acc enter data create({})", "acc update device({})"), name, size, lang)


def create_data_directive_openmp(name, size, lang):
    """Creates an array on the device, and copies it there."""
    return _lines(("omp target enter data map(to: {})",), name, size, lang)


def exit_data_directive_openacc(name, size, lang):
    """Copies an array back from the device, and removes it there."""
    return _lines(("acc exit data copyout({})",), name, size, lang)


def exit_data_directive_openmp(name, size, lang):
    """Copies an array back from the device, and removes it there."""
    return _lines(("omp target exit data map(from: {})",), name, size, lang)


def _arrays(data, preprocessor, dimensions):
    """Name and size of each array of a section."""
    return [(name, parse_size(size, preprocessor, dimensions)) for name, (kind, size) in data.items() if "*" in kind]


def wrap_data(code, langs, data, preprocessor=None, user_dimensions=None):
    """Code with its arrays on the device from its begin to its end."""
    arrays = _arrays(data, preprocessor, user_dimensions)
    begin, end = "", ""
    if is_openacc(langs.directive):
        begin, end = create_data_directive_openacc, exit_data_directive_openacc
    elif is_openmp(langs.directive):
        begin, end = create_data_directive_openmp, exit_data_directive_openmp
    else:
        return code
    before, after = ("".join(f(name, size, langs.language) for name, size in arrays) for f in (begin, end))
    return f"{before}\n{code}\n{after}"


def add_present_openacc(code, langs, data, preprocessor=None, user_dimensions=None):
    """Code whose parallel regions say that their arrays are on the device; unchanged if one says itself where its data are."""
    lines = code.replace("\\\n", "").split("\n")
    regions = [i for i, line in enumerate(lines) if line_contains_openacc_parallel_directive(line, langs.language)]
    if any(openacc_directive_contains_data_clause(lines[i]) for i in regions):
        return code
    clauses = " ".join(f"present({langs.language.array(n, s)})" for n, s in _arrays(data, preprocessor, user_dimensions))
    for i in regions:
        lines[i] = f"{lines[i].rstrip()} {clauses}" if clauses else lines[i]
    return "\n".join(lines)
