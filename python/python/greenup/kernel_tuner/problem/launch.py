"""Threads, blocks and shared memory of a config, from problem size and grid divisors."""

import math

import numpy as np

from ..space.expressions import translate
from ..util import evaluate


def block(params, names):
    """Threads of a block in x, y and z."""
    return tuple(int(params.get(name, default)) for name, default in zip(names, (256, 1, 1)))


def _divisor(divisor, default, params):
    if divisor is None:
        return params.get(default, 1)
    if isinstance(divisor, (int, np.integer)):
        return divisor
    if callable(divisor):
        return divisor(params)
    if isinstance(divisor, str):
        return int(evaluate(divisor, params))
    if np.iterable(divisor):
        out = 1
        for part in divisor:
            out *= _divisor(part, 1, params)
        return out
    raise ValueError("Error: unrecognized type in grid divisor list, should be any of int, str, callable, or iterable")


def problem(problem_size, params):
    """Problem size in x, y and z."""
    if callable(problem_size):
        problem_size = problem_size(params)
    if isinstance(problem_size, (str, int, np.integer)):
        problem_size = (problem_size,)
    out = [1, 1, 1]
    for i, size in enumerate(problem_size):
        if isinstance(size, str):
            out[i] = int(evaluate(size, params))
        elif isinstance(size, (int, np.integer)):
            out[i] = int(size)
        else:
            raise TypeError("Error: problem_size should only contain strings or integers")
    return out


def grid(problem_size, divisors, params, names):
    """Blocks in x, y and z: the problem size over the product of the divisors, rounded up."""
    sizes = problem(problem_size, params)
    parts = [_divisor(d, name, params) for d, name in zip(divisors, names)]
    return tuple(int(math.ceil(float(s) / float(d))) for s, d in zip(sizes, parts))


def shared(smem_args, params):
    """Bytes of dynamic shared memory of a block."""
    size = (smem_args or {}).get("size", 0)
    if callable(size):
        size = size(params)
    elif isinstance(size, str):
        size = int(evaluate(size, params))
    return int(size)


def grid_expressions(problem_size, divisors, tune_params, names):
    """The grid as three expressions of a problem file; ``None`` if functions of Python decide it."""
    if callable(problem_size):
        return None
    if isinstance(problem_size, (str, int, np.integer)):
        problem_size = (problem_size,)
    sizes = [*problem_size, 1, 1][:3]
    out = []
    for size, divisor, name in zip(sizes, divisors, names):
        top = translate(size, tune_params) if isinstance(size, str) else str(int(size))
        if divisor is None:
            divisor = [name] if name in tune_params else []
        if isinstance(divisor, (str, int, np.integer)) or callable(divisor):
            divisor = [divisor]
        parts = []
        for d in divisor:
            if isinstance(d, str):
                text = translate(d, tune_params)
                # A divisor that is an expression is cut to an integer before it divides.
                text = None if text is None else f"int({text})"
            else:
                text = str(int(d)) if isinstance(d, (int, np.integer)) else None
            if text is None:
                return None
            parts.append(text)
        if top is None:
            return None
        top = f"int({top})"
        out.append(f"int(ceil(float({top}) / float({' * '.join(parts)})))" if parts else top)
    return out


def shared_expression(smem_args, tune_params):
    """Dynamic shared memory as an expression of a problem file; ``None`` if a function of Python decides it."""
    size = (smem_args or {}).get("size", 0)
    if isinstance(size, str):
        text = translate(size, tune_params)
        return None if text is None else f"int({text})"
    return None if callable(size) else str(int(size))
