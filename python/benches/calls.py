"""Overhead of calls into the native module: time a call, median and spread of runs.

    python3 python/benches/calls.py
"""

import platform
import statistics
import sys
import timeit

import greenup

space = greenup.Space("[parameters]\nx = '1 : 100'\ny = '1 : 100'\n[hard]\nsum = 'x + y < 150'\n")
machine = greenup.Machine("h200")
point = space[7]
work = {"f64": 1e12, "dram": 1e11}
search = greenup.Search(space, strategy="random")
len(space)

CALLS = {
    "len(space)": lambda: len(space),
    "machine.constant_power": lambda: machine.constant_power,
    "space.position(point)": lambda: space.position(point),
    "space[7]": lambda: space[7],
    "point in space": lambda: point in space,
    "machine.predict(work)": lambda: machine.predict(work),
    "with greenup.region": None,
    "an empty function": lambda: None,
}


def region():
    with greenup.region("r"):
        pass


def main():
    print(f"greenup {greenup.__version__}, CPython {platform.python_version()}, {platform.machine()}")
    print(f"{'call':<26} {'median':>9} {'min':>9} {'max':>9}  µs, 15 runs")
    for name, call in CALLS.items():
        call = call or region
        number = 20_000
        times = [t / number * 1e6 for t in timeit.repeat(call, number=number, repeat=15)]
        print(f"{name:<26} {statistics.median(times):9.3f} {min(times):9.3f} {max(times):9.3f}")
    times = []
    for _ in range(15):
        fresh = greenup.Search(space, strategy="random", trials=2000)
        start = timeit.default_timer()
        n = 0
        while (p := fresh.ask()) is not None:
            fresh.tell(p, 1.0)
            n += 1
        times.append((timeit.default_timer() - start) / n * 1e6)
    print(f"{'ask and tell (random)':<26} {statistics.median(times):9.3f} {min(times):9.3f} {max(times):9.3f}")


if __name__ == "__main__":
    sys.exit(main())
