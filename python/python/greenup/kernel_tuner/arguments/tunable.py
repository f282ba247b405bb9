"""Arguments and answers that depend on the config."""


def is_tunable(value):
    """Whether something is a `accuracy.Tunable`, or selects as one does."""
    return hasattr(value, "select_for_configuration")


def chosen(values, params):
    """The values for a config."""
    return [v.select_for_configuration(params) if is_tunable(v) else v for v in values]
