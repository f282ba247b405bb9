"""Kinds of directives, the languages they stand in, and what a line of code holds of them."""

import re
from dataclasses import dataclass


class Directive:
    """A kind of directives; ``word`` follows the language's sentinel."""

    word = ""

    def get(self):
        """Its name in Kernel Tuner."""
        return type(self).__name__.lower()


class OpenACC(Directive):
    word = "acc"


class OpenMP(Directive):
    word = "omp"


class Language:
    """A language; ``sentinel`` begins a directive, and ``array`` is a section of an array from its start."""

    sentinel = ""

    def get(self):
        """Its name in Kernel Tuner."""
        return type(self).__name__.lower()

    def end_string(self):
        """The line that ends a section."""
        return f"{self.sentinel}tuner stop"


class Cxx(Language):
    sentinel = "#pragma "

    @staticmethod
    def array(name, size):
        return f"{name}[:{size.get()}]"


class Fortran(Language):
    sentinel = "!$"

    @staticmethod
    def array(name, size):
        return f"{name}({','.join(f':{n}' for n in size)})"


@dataclass
class Code:
    """Directives in a language."""

    directive: Directive
    language: Language


def is_openacc(directive):
    """Whether directives are OpenACC's."""
    return isinstance(directive, OpenACC)


def is_openmp(directive):
    """Whether directives are OpenMP's."""
    return isinstance(directive, OpenMP)


def is_cxx(lang):
    """Whether a language is C++."""
    return isinstance(lang, Cxx)


def is_fortran(lang):
    """Whether a language is Fortran."""
    return isinstance(lang, Fortran)


def _contains(line, lang, words):
    return isinstance(lang, (Cxx, Fortran)) and f"{lang.sentinel}{words}" in line


def line_contains_openacc_directive(line, lang):
    """Whether code has an OpenACC directive."""
    return _contains(line, lang, "acc")


def line_contains_openmp_directive(line, lang):
    """Whether code has an OpenMP directive."""
    return _contains(line, lang, "omp")


def line_contains_openacc_parallel_directive(line, lang):
    """Whether code has an OpenACC directive that begins a parallel region."""
    return _contains(line, lang, "acc parallel")


def line_contains_openmp_target_directive(line, lang):
    """Whether code has an OpenMP directive that begins a region on a device."""
    return _contains(line, lang, "omp target")


def _has_clause(line, names):
    return re.search(rf"\b(?:{'|'.join(names)})\s*\(", line) is not None


def openacc_directive_contains_data_clause(line):
    """Whether an OpenACC directive says where its data are."""
    return _has_clause(line, ("copy", "copyin", "copyout", "create", "no_create", "present", "device", "deviceptr"))


def openmp_directive_contains_data_clause(line):
    """Whether an OpenMP directive says where its data are."""
    return _has_clause(line, ("map", "is_device_ptr", "has_device_addr"))
