"""Sessions of the tuner on a project: requests, and the trials that answer them."""

import copy
import os

from ..arguments import to_numpy
from ..arguments.tunable import chosen, is_tunable
from ..problem.project import INDEX
from .check import Exchange, outputs_in
from .interrupts import Deferred
from .log import LOG
from .tuner import Run, TunerError
from .workplace import wait_for_ends

#: Configs that the tuner is asked for at a time: it builds them together, and has no more left to do if this process is killed.
AHEAD = max(64, 4 * (os.cpu_count() or 1))

#: Bytes of arguments that may not fit beside those of the search before.
MUCH = 1 << 30


class Session:
    """The tuner on a project: its process starts with the first request, and ends however the caller leaves."""

    def __init__(self, project, device, wanted, workplace, observed=None):
        self.project, self._workplace = project, workplace
        self._device, self._wanted, self._observed = device, wanted, observed
        self._run = self._checker = None
        #: Messages of the trials that failed by what is no limit of the device.
        self.failures = []
        self._interrupts = Deferred()

    def __enter__(self):
        # The caller's code between two trials is not interrupted either: it stores the trial.
        self._interrupts.__enter__()
        return self

    def __exit__(self, kind, *_):
        try:
            closes = []
            if self._run is not None:
                LOG.debug("the tuner said: %s", self._run.said() or "nothing")
                closes.append(self._run.close)
            if self._checker is not None:
                closes.append(self._checker.close)
            self._workplace.end(closes, failed=kind is not None)
        finally:
            self._interrupts.__exit__()

    def _answer(self, words):
        """The reply to a process that runs kernels or checks their outputs."""
        project = self.project

        def params_of(key):
            return dict(project.configs[int(key)])

        if words[0] != "output":
            return self._observed.answer(words, params_of)
        _, folder, key = words
        right = self._wanted.look(outputs_in(folder, project.kernel.arguments, self._wanted.outputs), key, params_of)
        return "right" if right else "wrong"

    def start(self):
        """Writes the problem and starts the tuner, unless it runs."""
        if self._run is not None:
            return
        if sum(getattr(a, "nbytes", 0) for a in self.project.kernel.arguments) > MUCH:
            wait_for_ends()
        wanted, project, observed = self._wanted, self.project, self._observed
        hooked = observed is not None and observed.hooked
        if wanted.look is not None or hooked:
            self._checker = Exchange(project.folder, self._answer)
        key = INDEX if observed is not None and observed.need_config else None
        problem = project.write(
            answer=wanted.answer, atol=wanted.atol, outputs=wanted.outputs,
            check=self._checker.command(key) if wanted.look is not None else None,
            pipes=(self._checker.asked, self._checker.told) if hooked else None,
        )  # fmt: skip
        self._run = Run(
            problem, project.folder / "sweep", device=project.kernel.target(self._device),
            sensor="none" if observed is None else observed.sensor, interrupts=self._interrupts,
        )  # fmt: skip

    def measure(self, requests):
        """Trials of requests, each a list of values as the tuner has them, in order. After Ctrl-C its last trials still come."""
        self.start()
        run = self._run
        try:
            for first in range(0, len(requests), AHEAD):
                part = requests[first : first + AHEAD]
                run.request(part)
                for trial in run.trials(len(part)):
                    if self._checker is not None and self._checker.raised is not None:
                        raise self._checker.raised
                    yield trial
        except KeyboardInterrupt:
            run.stop()
            yield from run.new()
            raise
        except TunerError as e:
            # A space that the restrictions leave empty is no error here, nor one in which every config failed.
            if not any(m in str(e) for m in ("no valid", "no point", "no configs", "no trial succeeded")):
                raise
        if self._checker is not None and self._checker.raised is not None:
            raise self._checker.raised

    def stop(self):
        """Ends the tuner; gives the trials that it had measured by then."""
        self._run.stop()
        return self._run.new()


class Sessions:
    """The sessions of a search: one, or one for each choice of arguments where they depend on the config."""

    def __init__(self, folder, kernel, answer, make):
        self._folder, self._kernel, self._answer, self._make = folder, kernel, answer, make
        self._several = any(map(is_tunable, [*kernel.given, answer]))
        self._open = {}
        if not self._several:
            # At once, so that wrong arguments are refused before anything else.
            self._open[()] = (make(self._folder, kernel, answer).__enter__(), None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for session, _ in reversed(self._open.values()):
            session.__exit__(*error)

    def start(self):
        """Starts the tuner, where there is one for all configs."""
        if not self._several:
            self._open[()][0].start()

    @property
    def failures(self):
        """Messages of the trials that failed by what is no limit of the device."""
        return [m for session, _ in self._open.values() for m in session.failures]

    def of(self, params):
        """The session that measures a config."""
        if not self._several:
            return self._open[()][0]
        picked = chosen([*self._kernel.given, self._answer], params)
        key = tuple(map(id, picked))
        if key not in self._open:
            kernel = copy.copy(self._kernel)
            kernel.arguments = [to_numpy(a, n) for n, a in enumerate(picked[:-1])]
            folder = self._folder / f"part{len(self._open)}"
            folder.mkdir()
            # What was picked is kept, so that nothing else gets its identity.
            self._open[key] = (self._make(folder, kernel, picked[-1]).__enter__(), picked)
        return self._open[key][0]
