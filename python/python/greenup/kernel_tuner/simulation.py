"""Searches of a recorded space: nothing is built or measured."""

import time
from pathlib import Path

from .project import INDEX, key_of
from .restrictions import valid_configs
from .results import with_metrics
from .tuner import Run


def search(folder, tune_params, limits, entries, search_of, metrics):
    """Results of a search over the entries of a cache, in the order in which the strategy asks for them."""
    configs = valid_configs(tune_params, limits)
    missing = [c for c in configs if key_of(c) not in entries]
    if missing:
        raise ValueError(
            f"kernel configuration {tuple(missing[0].values())} not in cache - in simulation mode, "
            f"all configurations must be present in the cache ({len(missing)} are not)"
        )
    for config in _order(Path(folder), configs, entries, search_of):
        yield with_metrics(dict(entries[key_of(config)]), metrics)


def _order(folder, configs, entries, search_of):
    if search_of.name == "exhaustive":
        count = len(configs) if search_of.evaluations is None else int(search_of.evaluations)
        yield from configs[:count]
        return
    recorded = folder / "recorded"
    recorded.mkdir()
    for i, config in enumerate(configs):
        entry = entries[key_of(config)]
        text = "no measurement" if "__error__" in entry or "time" not in entry else f"time {entry['time']!r}"
        (recorded / str(i)).write_text(text + "\n", encoding="utf-8")
    problem = folder / "problem.toml"
    problem.write_text(_problem(len(configs)), encoding="utf-8")
    until = None if search_of.time_limit is None else time.monotonic() + search_of.time_limit
    run = Run(problem, folder / "sweep", strategy=search_of.name, budget=search_of.budget(), seed=search_of.seed, until=until)
    try:
        for trial in run:
            yield configs[int(trial["config"][0])]
    finally:
        run.close()


def _problem(count):
    """A command that prints what was recorded of a config."""
    return (
        f'name = "recorded"\n[parameters]\n{INDEX} = {list(range(count))}\n'
        f'[run]\ncommand = "cat recorded/{{{INDEX}}}"\ntime = {{ regex = \'time (\\S+)\', unit = "ms" }}\nrepeats = 1\n'
        "[measure]\nseconds = 0.0001\n"
    )

