"""Rows as a data frame where pandas is there."""


def frame(rows):
    """``pandas.DataFrame(rows)``, or the rows themselves (a list of dicts) without pandas."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
