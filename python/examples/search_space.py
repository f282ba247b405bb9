"""A space from a dict, with filters as expressions and as Python functions, and a search for its cheapest point."""

import numpy as np

import greenup

CACHE_BYTES = 32768


def fits(rows: int, columns: int) -> bool:
    """Two tiles of doubles stay in the cache."""
    return 2 * 8 * rows * columns <= CACHE_BYTES


def cost(point: dict[str, int]) -> float:
    """Lines of 64 bytes that the tiles of a 1024 x 1024 matrix touch, with a penalty for each tile."""
    rows, columns = point["rows"], point["columns"]
    tiles = np.ceil(1024 / rows) * np.ceil(1024 / columns)
    lines = tiles * (rows * np.ceil(columns / 8) + columns * np.ceil(rows / 8))
    return float(lines + 40 * tiles)


def main() -> None:
    space = greenup.Space(
        {"rows": range(4, 129, 4), "columns": np.array([8, 16, 32, 64, 128]), "unroll": [1, 2, 4]},
        filters=["rows % unroll == 0", fits, lambda p: p["rows"] != p["columns"]],
    )
    for row in space.funnel():
        print(f"{row['filter']:10} {row['before']} -> {row['after']} points")
    result = greenup.tune(space, cost, trials=60)
    assert result.best is not None
    print("best:", result.best.config, "costs", result.best.value)


if __name__ == "__main__":
    main()
