"""A Sedov blast wave in two dimensions: where its front is, and the drift of the total energy."""

import numpy as np

from greenup import hydro


def main() -> None:
    run = hydro.Run(problem=1, mesh="square01_quad", refine=2)
    for t in (0.1, 0.2, 0.4):
        run.run(t)
        with run.view("x") as x, run.view("v") as v:
            front = np.hypot(*x)[np.argmax(np.hypot(*v))]
        print(f"t = {run.t:.2f}: {run.steps} steps, front at radius {front:.3f}")
    internal, kinetic = run.energies()
    print(f"internal {internal:.4f}, kinetic {kinetic:.4f}, drift {run.report()['energy_drift']:.1e}")


if __name__ == "__main__":
    main()
