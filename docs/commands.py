#!/usr/bin/env python3
"""Writes docs/commands.md: every command with the sentence of its `--help`, and examples with their times.

Usage: docs/commands.py [FOLDER]          the programs are in FOLDER, all of them
                                          [default: target/release, else target/debug]
       docs/commands.py [FOLDER] --check  fails if docs/commands.md differs from what would be written
       docs/commands.py [FOLDER] --time [TEXT]
                                          runs the examples, or those that contain TEXT, in the working folder (a checkout),
                                          and prints their wall-clock times
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/commands.md"

# Examples in the order in which they run: some read the output of earlier ones. (command, time, what it shows); the time is
# None where a GPU is needed and depends on it.
EXAMPLES = {
    "greenup": [
        ("greenup study", "1.5 min", "the main job; about 3 min more for each GPU; writes study/report.html"),
        ("greenup doctor", "0.5 s", "which energy sensors work; if none, the cause and the fix"),
        ("greenup run 'sleep 0.2' 'sleep 0.1'", "9 s", "time, energy, power of commands; speedup, powerup, greenup"),
        ("greenup init c my-kernel", "< 0.1 s", "a kernel to tune: problem file, source, reference"),
        ("greenup tune my-kernel/problem.toml --budget 20s", "25 s", "its best config"),
        ("greenup best sweeps/transpose --format header", "< 0.1 s", "that config for your build: flags, C header, JSON, TOML, command"),
        ("greenup init command my-program", "< 0.1 s", "the same for a program in any language: built, run, timed, checked by commands"),
        ("greenup profile -- sleep 1", "1 s", "any program: joules and time of its GPU kernels without privileges; on CPUs counters, or estimates"),
        ("greenup tune examples/opencl/gemm/problem.toml --budget 60s", "70 s", "a kernel in OpenCL, on any device with a driver (CPUs: apt install pocl-opencl-icd)"),
        ("greenup calibrate --quick", "50 s", "this host's machine file"),
        ("greenup fit docs/results/data/host/records.csv", "0.3 s", "a machine model from any measurements"),
        ("greenup machines", "< 0.1 s", "published and calibrated machines, with sources"),
        ("greenup predict --machine gtx-titan --op f32=1e12 --op dram=1e11", "< 0.1 s", "time, energy, power, and what binds"),
        ("greenup whatif cluster --machine gtx-titan --of arndale-gpu", "< 0.1 s", "what-if: power bounds, clusters, trade-offs"),
        ("greenup roofline --machine gtx-titan --machine arndale-gpu -o compare.png", "0.1 s", "roofline, arch line, power line"),
        ("greenup space spaces/beast_dgemm_k20x.toml --sample 3", "0.3 s", "count a search space, show what each filter prunes"),
        ("greenup tune examples/stencil/problem.toml --budget 60s", "68 s", "search, build, verify, measure; resumable"),
        ("greenup scale examples/stencil/problem.toml --sweep sweeps/stencil --over n=514,1026,2050", "20 s", "configs over problem size"),
        ("greenup analyze sweeps/stencil --out analysis", "0.2 s", "what separates fast from slow and from low-energy configs"),
        ("greenup replay sweeps/stencil --strategy genetic", "< 0.1 s", "search strategies on a recorded sweep"),
        ("greenup gemm --n 2048", "35 s", "DGEMM, compared with other libraries"),
        ("greenup gemm --n 2048 --tune", "2 min", "the same, tuned for this host first"),
        ("greenup wisdom list", "< 0.1 s", "tuned configs by problem and device, yours and the shipped ones"),
        ("greenup predict --machine h200 --from-counters sweeps/dgemm_h200", "0.1 s", "energy from hardware counters"),
        ("greenup sweeps show examples/imports/ktt.xml", "< 0.1 s", "results of other tuners: Kernel Tuner, KTT, CLBlast, T4"),
        ("greenup predict --machine h100 --from-counters examples/imports/counted.csv", "< 0.1 s", "energy of the kernels in a table of ncu"),
        ("greenup energy examples/imports/gpu.csv --from 08:59:25 --to 08:59:35", "< 0.1 s", "energy between two times of a log of nvidia-smi"),
        ("greenup paper beast --out beast", "9 s", "figures, tables and claims of a paper, redrawn from records next to its numbers"),
        ("greenup explain -o explain.html", "< 0.1 s", "energy of four applications, predicted and measured"),
        ("greenup fit --dvfs --race-to-halt crates/calibrate/tests/data/dvfs/gtx980.csv", "2 s", "race-to-halt, or a lower clock?"),
        ("greenup compile examples/cuda/triad.cu --arch sm_90", "0.2 s", "registers, spills, occupancy of CUDA kernels; needs NVRTC, no GPU"),
        ("greenup calibrate --device cuda:0", None, "minutes: a GPU's peaks, tensor cores, memory, energies, the clock at the cap"),
        ("greenup tune crates/gemm/src/kernels/gpu/problem.toml", None, "60 s and more: DGEMM on a GPU, with cuBLAS as the baseline"),
        ("greenup profile --method counters --out train -- python3 train.py", None, "flops and bytes of each kernel, on roofline and arch line"),
        ("greenup profile crates/gemm/src/kernels/gpu/problem.toml --sweep sweeps/dgemm_gpu", None, "minutes: hardware counters of a sweep's configs"),
    ],
    "gisaxs": [
        ("gisaxs simulate apps/gisaxs/examples/unit_cell.toml -o cell.html", "0.8 s", "X-ray scattering at grazing incidence"),
        ("gisaxs simulate apps/gisaxs/examples/paracrystal.toml --counts 1 -o apps/gisaxs/examples/measured.npy", "< 0.1 s", "the same as photon counts"),
        ("gisaxs fit apps/gisaxs/examples/fit.toml -o fit.html", "5 s", "fit sample parameters, with 1σ uncertainties"),
        ("gisaxs study --device cuda --machine machines/h200.toml", None, "minutes: time and joules of each method for a mesh's form factor"),
    ],
    "hydro": [
        ("hydro run --problem 1 --mesh square01_quad --refine 3 --t-final 0.8", "6 s", "Sedov blast wave, high-order finite elements"),
    ],
    "fmm": [
        ("fmm run -n 1000000 --distribution plummer --gradient --check 500", "7 s", "potentials of a million charges, and their error"),
        ("fmm run -n 1000000 --machine h200", "4 s", "time of each phase, and its bound on another machine"),
        ("fmm study --device cuda", None, "minutes: inputs at several settings: time, energy, counters"),
    ],
}

PAGES = {
    "greenup": "[the study](study.md) is the main job; every command has a page in the guide",
    "gisaxs": "guide: [X-ray scattering](gisaxs.md)",
    "hydro": "guide: [Lagrangian hydrodynamics](hydro.md)",
    "fmm": "guide: [fast multipole method](fmm.md)",
}

HEAD = """\
# Commands

<!-- Written by docs/commands.py. Change that file, not this one. -->

`python3 docs/commands.py` writes this page: each command with the sentence of its `--help`, and examples with their times. Run the
examples in the folder of a checkout, in this order: some read the output of earlier ones. A comment starts with the wall-clock time on
two cores of a shared virtual machine with AVX-512, without an energy sensor. "GPU" marks commands that need an NVIDIA GPU.

Every command has `--help`; those that print data have `--json`. Data goes to standard output, messages to standard error. Tables and
sentences fit the terminal: `COLUMNS`, else its width, at least 80. What a table leaves out stands below it. Pipes and files get all columns and
unbroken lines, unless `COLUMNS` is set. `-v`
shows more messages, `--quiet` only warnings and errors. All programs print shell completions (`greenup completions bash`) and
manual pages (`greenup man`). `--version` prints their commit. `NO_COLOR` is respected.

`greenup NAME` starts the program `greenup-NAME` next to it or on PATH with all arguments: `greenup paper`, `greenup scaling`, or one of
your own; `greenup gisaxs`, `greenup hydro` and `greenup fmm` start those.
"""


def help_of(binary, path=()):
    done = subprocess.run([binary, *path, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode != 0:
        raise SystemExit(f"{binary} {' '.join(path)} --help: exit code {done.returncode}: {done.stderr.strip()[:200]}")
    return done.stdout


def commands(binary, path=()):
    """(words, sentence) of all commands of a program, in the order of its help."""
    # In one group or in several, before the options.
    listed = help_of(binary, path).split("\nOptions:")[0]
    for name, sentence in re.findall(r"^  ([a-z][\w-]*)\s+(.*(?:\n {6,}.*)*)", listed, flags=re.M):
        # Programs with a section of their own are not listed in greenup's.
        if name not in ("help", "completions", "man", *EXAMPLES):
            yield (*path, name), " ".join(sentence.split())
            yield from commands(binary, (*path, name))


def page(folder):
    out = [HEAD]
    for program, examples in EXAMPLES.items():
        binary = folder / program
        about = " ".join(help_of(binary).split("\n\nUsage:")[0].split())
        out.append(f"## {program}\n\n{about.rstrip('.')} ({PAGES[program]}).\n\n| command | what it does |\n|---|---|")
        for words, sentence in commands(binary):
            sentence = sentence.replace("|", "\\|")
            out.append(f"| `{program} {' '.join(words)}` | {sentence} |")
        out.append("\n```sh")
        for command, seconds, what in examples:
            out.append(f"# {seconds or 'GPU'}: {what}\n{command}")
        out.append("```\n")
    return "\n".join(out).rstrip() + "\n"


def measure(folder, text):
    for command, _seconds, _what in (e for examples in EXAMPLES.values() for e in examples if e[1] and text in e[0]):
        program, *rest = shlex.split(command)
        start = time.monotonic()
        code = subprocess.run([folder / program, *rest], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        print(f"{time.monotonic() - start:7.2f} s  {command}" + (f"  (exit code {code})" if code else ""), flush=True)


def main(arguments):
    os.environ["COLUMNS"] = "100"
    flags = [a for a in arguments if a.startswith("--")]
    words = [a for a in arguments if not a.startswith("--")]
    text = words.pop() if "--time" in flags and arguments[-1] != "--time" else ""
    built = [ROOT / "target/release", ROOT / "target/debug"]
    folder = pathlib.Path(words[0]).resolve() if words else next((f for f in built if (f / "fmm").exists()), built[0])
    if "--time" in flags:
        measure(folder, text)
        return 0
    written = page(folder)
    if "--check" in flags:
        same = PAGE.exists() and PAGE.read_text() == written
        print("docs/commands.md: up to date" if same else "docs/commands.md differs from the help texts: run docs/commands.py")
        return 0 if same else 1
    PAGE.write_text(written)
    return 0


sys.exit(main(sys.argv[1:]))
