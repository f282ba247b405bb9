"""Sections of code between the directives of the tuner, and their parameters as those list them."""

import re
from dataclasses import dataclass, field

from .languages import is_fortran

#: A parameter of a section, such as `a(float*:SIZE)`.
_PARAMETER = re.compile(r"(\w+)\(([^:()]*)(?::([^()]*))?\)")
_FORTRAN_TYPES = {"float": "real (c_float)", "double": "real (c_double)", "int": "integer (c_int)"}
#: What `wrap_timing` uses.
_FORTRAN_CLOCK = "integer(c_int64_t) :: kt_timing_start, kt_timing_end, kt_rate\nreal(c_float) :: timing\n"


@dataclass
class _Section:
    name: str
    #: Name, type and size of each parameter.
    parameters: list
    lines: list = field(default_factory=list)


def _lines(code):
    """Lines, with those that are continued in one."""
    return code.replace("\\\n", "").split("\n")


def correct_kernel(kernel_name, line):
    """Whether the line that starts a section names a kernel."""
    return re.search(rf"\btuner\s+start\s+{re.escape(kernel_name)}(?=\s|$)", line) is not None


def _sections(code, langs, kernel_name=None):
    """The sections of code that begin with `tuner start`."""
    start, stop = f"{langs.language.sentinel}tuner start", langs.language.end_string()
    found, now = [], None
    for line in _lines(code):
        if now is None and start in line:
            if kernel_name is None or correct_kernel(kernel_name, line):
                name, _, rest = line.split(start, 1)[1].strip().partition(" ")
                now = _Section(name or f"init_{len(found)}", _PARAMETER.findall(rest.replace(", ", ",")))
                found.append(now)
        elif now is not None and stop in line:
            now = None
        elif now is not None:
            now.lines.append(line)
    return found


def extract_directive_code(code, langs, kernel_name=None):
    """The code of each section, by its name."""
    return {s.name: "\n".join(s.lines) for s in _sections(code, langs, kernel_name)}


def extract_directive_data(code, langs, kernel_name=None):
    """Type and size of each parameter, by the section's name and its own."""
    sections = _sections(code, langs, kernel_name)
    return {s.name: {name: [kind, size or 0] for name, kind, size in s.parameters} for s in sections}


def extract_directive_signature(code, langs, kernel_name=None):
    """The head of a function for each section, by its name."""
    head = _fortran_head if is_fortran(langs.language) else _cxx_head
    return {s.name: head(s) for s in _sections(code, langs, kernel_name)}


def _cxx_head(section):
    parameters = (f"{kind.replace('*', ' *')} {name}" for name, kind, _ in section.parameters)
    return f"float {section.name}({', '.join(parameters)})"


def _fortran_head(section):
    names = ", ".join(name for name, _, _ in section.parameters)
    lines = [f"function {section.name}({names}) result(timing)", "use iso_c_binding", "implicit none"]
    for name, kind, size in section.parameters:
        base = _FORTRAN_TYPES.get(kind.rstrip("*"))
        if base is None:
            raise ValueError(f"the section {section.name}: {name} is a {kind}, and Fortran's parameters are float, double, int or arrays of them")
        lines.append(f"{base}, dimension({size}) :: {name}" if kind.endswith("*") else f"{base}, value :: {name}")
    return "\n".join(lines) + f"\n{_FORTRAN_CLOCK}"


def _between(code, langs, word):
    """The code between all directives `tuner WORD` and the ends of their sections."""
    start, stop = f"{langs.language.sentinel}tuner {word}", langs.language.end_string()
    out, inside = [], False
    for line in _lines(code):
        if inside and stop not in line:
            out.append(f"{line}\n")
        inside = stop not in line if inside else start in line
    return "".join(out)


def extract_initialization_code(code, langs):
    """What is done before each section."""
    return _between(code, langs, "initialize")


def extract_deinitialization_code(code, langs):
    """What is done after each section."""
    return _between(code, langs, "deinitialize")


def extract_preprocessor(code):
    """Lines that define macros or include files."""
    return [line for line in _lines(code) if re.match(r"\s*#\s*(?:define|include)\b", line)]
