"""Commands of this package in a process of their own, and the progress of a tuner's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import BinaryIO

from ._native import TuneError


class Progress:
    """A line on the terminal about the trials that are recorded in a sweep's folder; nothing elsewhere."""

    #: Time between two looks, s.
    LOOK = 0.25

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._file = os.path.join(folder, "trials.jsonl")
        self._trials = 0
        self._failed = 0
        self._least: float | None = None
        self._rest = b""

    def until_end(self, process: subprocess.Popen[bytes]) -> int:
        """Waits for the process; returns its exit code."""
        if not sys.stderr.isatty():
            return process.wait()
        file: BinaryIO | None = None
        try:
            while True:
                try:
                    return process.wait(self.LOOK)
                except subprocess.TimeoutExpired:
                    pass
                if file is None and os.path.exists(self._file):
                    file = open(self._file, "rb")
                if file is not None and self.read(file.read()):
                    print(f"\r{self}\x1b[K", end="", file=sys.stderr, flush=True)
        finally:
            if file is not None:
                file.close()
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def read(self, new: bytes) -> bool:
        """Takes in more of the file; whether a trial ended in it."""
        *lines, self._rest = (self._rest + new).split(b"\n")
        for line in lines:
            trial = json.loads(line)
            self._trials += 1
            time_s = trial.get("measured", {}).get("time_s")
            if time_s is None:
                self._failed += 1
            elif self._least is None or time_s < self._least:
                self._least = time_s
        return bool(lines)

    def __str__(self) -> str:
        least = "" if self._least is None else f", the fastest takes {self._least:.4g} s"
        return f"{self._trials} trials, {self._failed} failed{least}"


def this_process() -> str:
    """The number of this process, and its namespace of processes where the system has one: a program that gets it as
    ``GREENUP_PARENT`` ends with this process.
    """
    try:
        return f"{os.getpid()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return str(os.getpid())


def run_command(command: Sequence[str], progress: Progress | None = None) -> None:
    """Runs a command of this package; raises `TuneError` with its message and hint.

    It ends with this process, however that ends. Ctrl-C reaches the command, which keeps what it measured and ends; then KeyboardInterrupt is raised.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as printed:
        # A group of its own: the terminal's Ctrl-C comes here alone and is passed on once.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=printed,
            start_new_session=True,
            env={**os.environ, "GREENUP_KEYWORDS": "1", "GREENUP_PARENT": this_process()},
        )
        try:
            code = progress.until_end(process) if progress else process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
        printed.seek(0)
        text = printed.read()
    if code == 0:
        return
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [i for i, line in enumerate(lines) if line.startswith("error: ")]
    message = "\n".join(lines[errors[-1] :] if errors else lines[-5:]) or f"the command ended with {code}"
    message, _, hint = message.removeprefix("error: ").partition("\nhint: ")
    error = TuneError(message)
    error.hint = hint or None
    if hint and sys.version_info >= (3, 11):
        error.add_note(f"hint: {hint}")
    raise error
