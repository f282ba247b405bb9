"""Runs of Greenup's tuner: the program, its trials as they come, and its end."""

import json
import os
import signal
import subprocess
import time

from ... import _commands
from ..._process import this_process


class TunerError(RuntimeError):
    """The tuner could not run: its message says why."""


def executable():
    """The program ``greenup``: that of the package, or ``$GREENUP_BIN``."""
    file = _commands.path()
    if not os.access(file, os.X_OK):
        raise TunerError(f"there is no program {file}: install the package again, or set GREENUP_BIN to the program `greenup`")
    return file


class Run:
    """A tuner in progress, which measures what is requested.

    ``interrupts`` is asked for Ctrl-C while it is awaited.
    """

    def __init__(self, problem, out, *, device=None, sensor="none", interrupts=None):
        self.out = out
        self._interrupts = interrupts
        command = [executable(), "tune", str(problem), "--out", str(out), "--requests", "-", "--budget", "100%"]
        command += ["--finalists", "0", "--near-ties", "0", "--rounds", "2", "--quiet"]
        for flag, value in (("--device", device), ("--sensor", sensor)):
            if value is not None:
                command += [flag, value]
        self._said = open(os.path.join(os.path.dirname(str(problem)), "tuner.log"), "w+b")  # noqa: SIM115
        # A session of its own: Ctrl-C reaches it only through `stop`, which lets it record what it has. It ends with this process.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=self._said,
            stderr=self._said,
            start_new_session=True,
            env={**os.environ, "GREENUP_PARENT": this_process()},
        )
        self._read = 0
        self._rest = b""

    def request(self, configs):
        """Asks for configs, lists of values; they are built together and measured in this order."""
        try:
            self._process.stdin.write(json.dumps(configs).encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            # Its message is found where its trials are awaited.
            pass

    def trials(self, count):
        """So many trials, as the tuner records them."""
        while True:
            running = self._process.poll() is None
            for trial in self.new():
                yield trial
                count -= 1
            if count <= 0:
                return
            if not running:
                break
            time.sleep(0.005)
            if self._interrupts is not None:
                self._interrupts.check()
        raise TunerError(self.said() or f"the tuner ended with code {self._process.returncode}")

    def new(self):
        """Trials that were recorded since the last call."""
        try:
            with open(os.path.join(str(self.out), "trials.jsonl"), "rb") as file:
                file.seek(self._read)
                text = file.read()
        except FileNotFoundError:
            return
        self._read += len(text)
        lines = (self._rest + text).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if line.strip():
                yield json.loads(line)

    def stop(self, patience=30.0):
        """Ends the search; what was measured is recorded."""
        for sign, wait in ((signal.SIGINT, patience), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
            if self._process.poll() is None:
                self._process.send_signal(sign)
            self._end_requests()
            try:
                self._process.wait(wait)
                return
            except subprocess.TimeoutExpired:
                continue

    def _end_requests(self):
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass

    def said(self):
        """What the tuner printed."""
        self._said.flush()
        self._said.seek(0)
        return self._said.read().decode(errors="replace").strip()

    def close(self):
        """Ends the search if it runs."""
        self._end_requests()
        self.stop(patience=5.0)
        self._said.close()


def device_of(out):
    """The device's name in a sweep."""
    try:
        with open(os.path.join(str(out), "sweep.json"), encoding="utf-8") as file:
            return json.load(file).get("device")
    except (OSError, ValueError):
        return None
