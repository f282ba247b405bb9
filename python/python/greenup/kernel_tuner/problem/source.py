"""Kernel sources: text, files, lists of files, and functions that generate text."""

import os
import re
from pathlib import Path

from ..util import replace_param_occurrences
from .host.fortran import is_fortran

_CODE = ("__global__ ", "__kernel ", "void ", "float ")

def looks_like_a_filename(source):
    """Whether a text names a file rather than being code."""
    if not isinstance(source, str) or len(source) > 250 or any(c in source for c in "();{}\\"):
        return False
    return not any(c in source for c in _CODE) and any(s in source for s in (".c", ".opencl", ".F"))


def detect_language(text):
    """``CUDA``, ``OPENCL`` or ``C``, by words in the code."""
    if "__global__" in text:
        return "CUDA"
    return "OPENCL" if "__kernel" in text else "C"


class KernelSource:
    """The sources of a kernel."""

    def __init__(self, kernel_name, sources, lang, defines, compiler=None):
        self.name = kernel_name
        self.sources = sources if isinstance(sources, list) else [sources]
        self.defines = defines
        first = self.sources[0]
        if lang is None:
            if callable(first):
                raise TypeError("Please specify language when using a code generator function")
            lang = detect_language(self.text(None))
        lang = str(lang).upper()
        #: Name of the function in the compiled file; instances of templates get one of their own.
        self.entry = kernel_name if "<" not in kernel_name else kernel_name.split("<")[0].strip() + "_instance"
        self.language = "CUDA" if lang in ("CUDA", "CUPY", "NVCUDA", "PYCUDA") else lang
        if self.language == "C" and is_fortran(compiler):
            self.language = "FORTRAN"
        if self.language not in ("CUDA", "C", "FORTRAN", "OPENCL"):
            raise NotImplementedError(f"lang={lang!r}: greenup.kernel_tuner runs C, C++, Fortran, CUDA and OpenCL kernels")

    @property
    def generated(self):
        """Whether a function makes the code from a config."""
        return callable(self.sources[0])

    def text(self, params):
        """Code of the first source for a config."""
        first = self.sources[0]
        if callable(first):
            return first(params)
        if isinstance(first, Path):
            return first.read_text(encoding="utf-8")
        if not isinstance(first, str):
            raise TypeError("Error kernel_source is not a string nor a callable function")
        if looks_like_a_filename(first):
            with open(first, encoding="utf-8") as file:
                return file.read()
        return first

    def code(self, text):
        """The code with the kernel under its plain name in the compiled file."""
        if self.language in ("FORTRAN", "OPENCL") and "<" not in self.name:
            return text
        if "<" in self.name:
            if self.language != "CUDA":
                raise NotImplementedError(f"kernel_name={self.name!r}: only CUDA kernels may be instances of templates")
            return instantiated(text, self.name, self.entry)
        return external(text, self.name, self.language)

    def suffix(self):
        """End of the first source's file name, if it is a file."""
        first = self.sources[0]
        named = isinstance(first, Path) or looks_like_a_filename(first)
        return os.path.splitext(str(first))[1] if named else None

    def others(self):
        """Further files, which the first one includes: name and text."""
        out = []
        for file in self.sources[1:]:
            if not (isinstance(file, Path) or looks_like_a_filename(file) or isinstance(file, str) and os.path.isfile(file)):
                raise ValueError("When passing multiple kernel sources, the secondary entries must be filenames")
            out.append((str(file), Path(file).read_text(encoding="utf-8")))
        return out

    def needs_text_for_each(self, tune_params):
        """Whether macros on the command line do not do: the code differs from config to config by more than them."""
        values = [v for values in tune_params.values() for v in values]
        return (
            self.generated
            or self.defines is not None
            or "<" not in self.name
            and self.name != replace_param_occurrences(self.name, {k: "0" for k in tune_params})
            or any(isinstance(v, (bool, tuple, list)) or isinstance(v, str) and "\n" in v for v in values)
            or self.language == "CUDA" and any("loop_unroll_factor" in k for k in tune_params)
        )

    def prefix(self, params, grid, threads, names):
        """Macros that Kernel Tuner puts before the code, and the code for a config, by name and value."""
        defines = self.defines
        if defines is None:
            defines = dict(zip(("grid_size_x", "grid_size_y", "grid_size_z"), grid))
            defines.update(zip(names, threads))
            defines.update(params)
            defines["kernel_tuner"] = 1
        code = self.text(params)
        lines = []
        for name, value in defines.items():
            if callable(value):
                value = value(params)
            elif isinstance(value, str):
                value = replace_param_occurrences(value, params)
            if not name.isidentifier():
                raise ValueError(f"name is not a valid identifier: {name}")
            value = str(value).replace("\n", "\\\n")
            lines.append(f"#undef {name}\n")
            if "loop_unroll_factor" in name and self.language == "CUDA":
                # A pragma takes a constant, not a macro; 0 leaves the choice to the compiler.
                if value == "0":
                    code = re.sub(r"\n\s*#pragma\s+unroll\s+" + name + r"\b", "\n", code)
                else:
                    lines.append(f"constexpr int {name} = {value};\n")
            else:
                lines.append(f"#define {name} {value}\n")
        return "".join(lines), code


_BOUNDS = r"(?:__launch_bounds__\s*\([^)]*\)\s*)?"


def external(code, name, language):
    """The code with C linkage for a function."""
    if 'extern "C"' in code:
        return code
    if language == "C":
        return 'extern "C" {\n#line 1\n' + code + "\n}\n"
    head = re.compile(rf"__global__(?=\s+{_BOUNDS}\s*(?:static\s+)?void\s+{_BOUNDS}{re.escape(name)}\s*\()")
    found = head.search(code)
    if found is None:
        return 'extern "C" {\n#line 1\n' + code + "\n}\n"
    before = code[: found.start()]
    if re.search(r"template\s*<[^;{}]*>\s*$", before):
        raise ValueError(f"the kernel `{name}` is a template: name the instance to tune, such as kernel_name='{name}<float>'")
    return before + 'extern "C" ' + code[found.start() :]


def instantiated(code, instance, entry):
    """The code with a kernel ``entry`` that calls an instance of a template, which becomes a device function."""
    name, values = instance.split("<", 1)
    name, values = name.strip(), values.rsplit(">", 1)[0]
    head = re.compile(
        rf"template\s*<([^;{{}}]*?)>\s*__global__\s+({_BOUNDS})\s*(?:static\s+)?void\s+({_BOUNDS}){re.escape(name)}\s*\(([^)]*)\)(\s*\{{)"
    )
    found = head.search(code)
    if found is None:
        raise ValueError(f"could not find templated kernel definition of `{name}`")
    parameters, bounds, later, arguments, brace = found.groups()
    types = []
    for parameter, value in zip(parameters.split(","), values.split(",")):
        kind, own = parameter.split("=")[0].split()[:-1], parameter.split("=")[0].split()[-1]
        is_type = kind[-1] in ("typename", "class")
        types.append(f"using {own} = {value.strip()};" if is_type else f"constexpr {' '.join(kind)} {own} = {value.strip()};")
    given = [re.findall(r"[A-Za-z_]\w*", a)[-1] for a in arguments.split(",") if a.strip()]
    device = f"template<{parameters}> __device__ void {name}({arguments}){brace}"
    # The wrapper's arguments are written as the template's: in a namespace where its parameters have their values.
    wrapper = (
        f"\nnamespace greenup_instance {{\n{' '.join(types)}\n"
        f'extern "C" __global__ void {bounds or later}{entry}({arguments}) {{ ::{name}<{values}>({", ".join(given)}); }}\n}}\n'
    )
    return code[: found.start()] + device + code[found.end() :] + wrapper

