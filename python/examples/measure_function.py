"""Time and energy of a function: a product of matrices, by repeated calls, and of a block around it."""

import numpy as np

import greenup

N = 256
rng = np.random.default_rng(1)
a, b = rng.random((N, N)), rng.random((N, N))


def main() -> None:
    with greenup.measure() as block:
        for _ in range(4):
            a @ b
    print("block:", block)
    m = greenup.measure(np.matmul, a, b, window=0.05)
    low, high = m.interval
    print(f"call: {m.seconds * 1e6:.1f} us [{low * 1e6:.1f} to {high * 1e6:.1f}], {2 * N**3 / m.seconds / 1e9:.1f} GFLOP/s")
    # Without an energy sensor joules is None, and why says what is missing.
    print(f"energy: {m.joules:.3g} J" if m.joules is not None else f"no energy: {m.why}")


if __name__ == "__main__":
    main()
