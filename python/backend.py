"""Builds the wheel: maturin makes the native module, then the commands are added.

``GREENUP_WHEEL_PROFILE=dev`` takes Cargo's profile ``dev`` in place of ``wheel``: quick to build, slow to run.
"""

import base64
import hashlib
import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

import maturin
from maturin import (  # noqa: F401
    build_sdist,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_wheel,
)

HERE = Path(__file__).parent
COMMANDS = ("greenup", "gisaxs", "hydro", "fmm", "greenup-paper", "greenup-scaling")
MODULE = "greenup/_native.abi3.so"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel with the module and the commands; returns its name."""
    profile = os.environ.get("GREENUP_WHEEL_PROFILE", "wheel")
    arguments = os.environ.get("MATURIN_PEP517_ARGS", "")
    os.environ["MATURIN_PEP517_ARGS"] = f"--profile {profile} {arguments}".strip()
    with tempfile.TemporaryDirectory() as folder:
        name = maturin.build_wheel(folder, config_settings, metadata_directory)
        with zipfile.ZipFile(Path(folder, name)) as old:
            launcher = compiled(old.read(MODULE), Path(folder), strip=profile != "dev")
            target = Path(wheel_directory, name)
            with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
                fill(new, old, launcher)
    return name


def fill(new, old, launcher):
    """Everything of ``old`` but its record, the commands, and a record of all."""
    record = next(n for n in old.namelist() if n.endswith(".dist-info/RECORD"))
    lines = []

    def add(info, data):
        new.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{info.filename},sha256={digest},{len(data)}\n")

    for info in old.infolist():
        if info.filename != record:
            add(info, old.read(info))
    for command in COMMANDS:
        info = zipfile.ZipInfo(f"greenup/bin/{command}", old.getinfo(MODULE).date_time)
        # A file that may be run: pip keeps that.
        info.external_attr = 0o100755 << 16
        add(info, launcher)
    lines.append(f"{record},,\n")
    new.writestr(record, "".join(lines))


def compiled(module, folder, strip):
    """The small program that loads the module, with the symbols that the module expects of an interpreter."""
    file = folder / "module.so"
    file.write_bytes(module)
    listed = subprocess.run(["nm", "-D", "--undefined-only", file], check=True, capture_output=True, text=True).stdout
    names = sorted(set(re.findall(r" U (_?Py\w+)", listed)))
    if not names:
        raise SystemExit("the native module expects nothing of an interpreter: it is not a module of Python")
    stubs = folder / "stubs.h"
    stubs.write_text("".join(f"STUB({n})\n" for n in names))
    out = folder / "launcher"
    compiler = os.environ.get("CC", "cc").split()
    flags = ["-O2", "-Wall", "-rdynamic", f'-DSTUBS="{stubs}"', *(["-s"] if strip else [])]
    subprocess.run([*compiler, *flags, HERE / "launcher.c", "-o", out, "-ldl"], check=True)
    return out.read_bytes()
