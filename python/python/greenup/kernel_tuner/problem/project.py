"""A temporary project for the tuner: ``problem.toml``, sources, data."""

import hashlib
import json
import os
import re
from pathlib import Path

import numpy as np

from ..arguments import Writer
from ..space import restrictions
from ..space.expressions import named_choices
from . import launch
from .host import call, fortran

#: Measuring time of a config at the default of seven iterations, s.
SECONDS = 0.005
#: The parameter that numbers the configs of a list.
INDEX = "kt_config"
#: What only code for a GPU has.
_DEVICE_CODE = ("__global", "__syncthreads()", "threadIdx")


class Project:
    """The files of a problem, and the configs that its points stand for.

    ``listed``: the configs are numbered. ``seconds``: how long a config is measured on a GPU at least.
    """

    def __init__(self, folder, kernel, tune_params, limits, *, done=(), iterations=7, listed=False, seconds=0.0):
        self.folder = Path(folder)
        self.kernel = kernel
        self.tune_params = {k: [_plain(v) for v in values] for k, values in tune_params.items()}
        self.iterations = iterations
        self.seconds = seconds
        self.configs = self._numbers = None
        self._times = call.Times(self.folder / "times.txt")
        blocks = [n for n in kernel.names if n in self.tune_params]
        limits = list(limits)
        if blocks:
            limits.append(f"{' * '.join(blocks)} <= {kernel.max_threads}")
        grid = launch.grid_expressions(kernel.problem_size, kernel.divisors, self.tune_params, kernel.names)
        shared = launch.shared_expression(kernel.smem_args, self.tune_params)
        filters = restrictions.translated(limits, self.tune_params)
        if listed or done or None in (grid, shared, filters) or kernel.source.needs_text_for_each(self.tune_params):
            self._listed(limits, set(done))
        else:
            self._by_expressions(filters, grid, shared)

    def _by_expressions(self, filters, grid, shared):
        """The tuner works out everything from the parameters."""
        kernel = self.kernel
        code = kernel.source.code(kernel.source.text(None))
        self._write_source("kernel", code)
        constants = {n: d for n, d in zip(kernel.names, (256, 1, 1)) if n not in self.tune_params}
        self._key = list(self.tune_params)
        self._macros = [*constants, *self.tune_params, "kernel_tuner", *(f"grid_size_{d}" for d in "xyz")]
        lines = ["[constants]", "kernel_tuner = 1", *(f"{n} = {v}" for n, v in constants.items()), "", "[parameters]"]
        lines += [f"{name} = {json.dumps(values)}" for name, values in self.tune_params.items()]
        lines += ["", "[derived]", *(f"grid_size_{d} = {json.dumps(e)}" for d, e in zip("xyz", grid))]
        lines += ["", "[hard]", *(f"restriction_{i} = {json.dumps(f)}" for i, f in enumerate(filters))]
        self.shape = (["grid_size_x", "grid_size_y", "grid_size_z"], list(kernel.names), shared)
        self.space = "\n".join(lines)

    def _listed(self, limits, done):
        """Python works out everything; the tuner gets a list of configs."""
        kernel = self.kernel
        self.configs = [c for c in restrictions.valid_configs(self.tune_params, limits) if key_of(c) not in done]
        files, shapes, shared = [], [], []
        for config in self.configs:
            threads = launch.block(config, kernel.names)
            grid = launch.grid(kernel.problem_size, kernel.divisors, config, kernel.names)
            prefix, code = kernel.source.prefix(config, grid, threads, kernel.names)
            text = prefix + self._with_others(kernel.source.code(code))
            name = f"source_{hashlib.sha256(text.encode()).hexdigest()[:20]}{self._suffix()}"
            if not (self.folder / name).exists():
                (self.folder / name).write_text(text, encoding="utf-8")
            files.append(name)
            shapes.append((*grid, *threads))
            shared.append(launch.shared(kernel.smem_args, config))
        # Names of files are written out: the tuner's cache of compiled kernels looks at what is included.
        numbers = {name: i for i, name in enumerate(dict.fromkeys(files))}
        parts = [f'#{"elif" if i else "if"} kt_source == {i}\n#include "{name}"\n' for name, i in numbers.items()]
        (self.folder / f"kernel{self._suffix()}").write_text("".join(parts) + "#endif\n", encoding="utf-8")
        if not self.configs:
            self.space = ""
            return
        sizes = ["grid_size_x", "grid_size_y", "grid_size_z", *kernel.names]
        derived = {f"kt_{n}": list(column) for n, column in zip(sizes, zip(*shapes))}
        derived["kt_shared"] = shared
        derived["kt_source"] = [numbers[name] for name in files]
        # The values of each, and those that they are chosen from.
        written = [pair for name, values in derived.items() for pair in named_choices(name, values)]
        self._key, self._macros = [INDEX], [INDEX, *(name for name, _ in written)]
        lines = ["[parameters]", f"{INDEX} = {list(range(len(self.configs)))}", "", "[derived]"]
        lines += [f"{name} = {json.dumps(text)}" for name, text in written]
        self.shape = ([f"kt_{n}" for n in sizes[:3]], [f"kt_{n}" for n in sizes[3:]], "kt_shared")
        self.space = "\n".join(lines)

    def _suffix(self):
        fixed = {"CUDA": ".cu", "OPENCL": ".cl", "FORTRAN": ".F90"}.get(self.kernel.source.language)
        if fixed is not None:
            return fixed
        if any(c in self.kernel.source.text(self._first()) for c in _DEVICE_CODE):
            return ".cu"
        suffix = self.kernel.source.suffix() or ".cc"
        return suffix if suffix in (".cu", ".cpp", ".cxx", ".cc") else ".cc"

    def _with_others(self, code):
        """Copies the further files, and names the copies in the code that includes them."""
        for i, (name, text) in enumerate(self.kernel.source.others()):
            copy = f"part_{i}{os.path.splitext(name)[1]}"
            (self.folder / copy).write_text(text, encoding="utf-8")
            code = code.replace(name, copy)
        return code

    def _write_source(self, name, code):
        (self.folder / f"{name}{self._suffix()}").write_text(self._with_others(code), encoding="utf-8")

    def _build(self, pipes):
        kernel = self.kernel
        folders = [str(self.folder), os.getcwd()]
        if kernel.source.language == "OPENCL":
            # The compiler of a device looks into no folder: what is included is named.
            parts = sorted(f.name for f in self.folder.iterdir() if f.name.startswith(("part_", "source_")))
            lines = ["[build]", f"sources = {json.dumps([f'kernel{self._suffix()}', *parts])}", 'language = "opencl"']
            return [*lines, f"flags = {json.dumps(kernel.compiler_options)}"]
        lines = ["[build]", f'sources = ["kernel{self._suffix()}"]']
        if kernel.on_gpu:
            options = [o for o in kernel.compiler_options if not re.match(r"--?(gpu-architecture|arch|gencode)\b", o)]
            if not any("-std=" in o for o in options):
                options.insert(0, "--std=c++17")
            folders += _cuda_headers()
            lines += ['language = "cuda"', f"flags = {json.dumps(options + [f'--include-path={f}' for f in folders])}"]
            return lines
        compiler = kernel.compiler or "g++"
        code = kernel.source.text(self._first())
        cuda = (*_DEVICE_CODE, "#include <cuda", "cudaMemcpy")
        if compiler == "g++" and (self._suffix() == ".cu" or any(c in code for c in cuda)) and _found("nvcc"):
            compiler = "nvcc"
        options = kernel.compiler_options + [f"-I{f}" for f in folders]
        target = kernel.source.entry
        if kernel.source.language == "FORTRAN":
            target = fortran.symbol(code, target, compiler)
            compiler = self._script(fortran.script(compiler))
        elif os.path.basename(compiler) == "nvcc":
            # nvcc passes options of the host's compiler on only where it is told to.
            compiler = self._script(
                '#!/bin/sh\nfor a in "$@"; do shift; case "$a" in -fPIC) set -- "$@" -Xcompiler=-fPIC;; *) set -- "$@" "$a";; esac; done\n'
                f'exec {compiler} "$@"\n'
            )
        between = call.code(
            kernel.arguments, key=self._key, macros=self._macros, target=target, runs=self.iterations, times=self._times.file, pipes=pipes
        )
        (self.folder / "call.cc").write_text(between, encoding="utf-8")
        lines = ["[build]", f'sources = ["kernel{self._suffix()}", "call.cc"]', 'language = "c++"']
        lines += [f'entry = "{call.ENTRY}"', 'returns = "ms"']
        return [*lines, f"compiler = {json.dumps(compiler)}", f"flags = {json.dumps(options)}"]

    def _script(self, text):
        file = self.folder / "compile.sh"
        file.write_text(text, encoding="utf-8")
        file.chmod(0o700)
        return str(file)

    def _first(self):
        if self.configs:
            return self.configs[0]
        return {name: values[0] for name, values in self.tune_params.items()}

    def write(self, *, answer=None, atol=1e-6, outputs=(), check=None, pipes=None):
        """Writes the problem file; returns its path.

        ``answer`` has the right values by argument, ``outputs`` the numbers of arguments that ``check``, a command, looks at.
        ``pipes``: where host code asks before and after its runs.
        """
        kernel = self.kernel
        writer = Writer(self.folder, kernel.on_gpu)
        for i, argument in enumerate(kernel.arguments):
            expected = None if answer is None else answer[i]
            writer.add(i, argument, written=expected is not None or i in outputs, answer=expected, atol=atol)
        if kernel.on_gpu:
            for i, (symbol, value) in enumerate(kernel.cmem_args.items(), len(kernel.arguments)):
                writer.add(i, np.asarray(value), written=False, symbol=symbol)
        # Host code measures itself in the number of runs that the caller names; the tuner's own windows follow.
        seconds = max(min(max(SECONDS * self.iterations / 7, 0.005), 2.0), self.seconds) if kernel.on_gpu else 0.005
        parts = [f'name = "{_name(kernel.source.name)}"', self.space, "\n".join(self._build(pipes))]
        if kernel.on_gpu:
            grid, block, shared = self.shape
            shape = f"grid = {json.dumps(grid)}\nblock = {json.dumps(block)}"
            if kernel.source.language == "CUDA" or kernel.smem_args:
                shape += f"\nshared = {json.dumps(shared)}"
            parts.append(f'[[launch]]\nkernel = "{kernel.source.entry}"\n{shape}')
        parts += writer.tables
        if check is not None:
            parts.append(f"[check]\ncommand = {json.dumps(check)}\ntimeout = 3600.0")
        parts.append(f"[measure]\nseconds = {seconds!r}\ntimeout = {3600.0 if pipes else 60.0}\ndrift = false\nrestore = false")
        path = self.folder / "problem.toml"
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        return path

    def times(self, config):
        """Times of each run of host code that was measured with a config, ms; ``None`` for other code, or if it was not."""
        return None if self.kernel.on_gpu else self._times.of(config)

    def request(self, params):
        """A config as the tuner is asked for it: its values, or its number in a list."""
        if self.configs is None:
            return [_plain(v) for v in params.values()]
        if self._numbers is None:
            self._numbers = {key_of(c): i for i, c in enumerate(self.configs)}
        return [self._numbers.get(key_of(params), -1)]

    def params(self, config):
        """The parameters of a config as the tuner writes it."""
        if self.configs is not None:
            return dict(self.configs[int(config[0])])
        return {name: _same(value, values) for value, (name, values) in zip(config, self.tune_params.items())}


def key_of(params):
    """The name of a config in a cache file."""
    return key_of_values(params.values())


def key_of_values(config):
    """The same of a config's values."""
    return ",".join(map(str, config))


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _same(value, values):
    return next((v for v in values if v == value and isinstance(v, str) == isinstance(value, str)), value)


def _name(text):
    return re.sub(r"[^0-9A-Za-z_.-]", "_", text).lstrip(".-") or "kernel"


def _cuda_headers():
    """The folder of the toolkit's headers, if it is where the toolkit is installed by default or by the variables that name it."""
    homes = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")
    return [f"{h}/include" for h in homes if h and os.path.isfile(f"{h}/include/cuda_runtime.h")][:1]


def _found(program):
    return any(os.access(os.path.join(p, program), os.X_OK) for p in os.environ.get("PATH", "").split(os.pathsep))
