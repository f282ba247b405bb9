"""Python expressions of parameters as expressions of a problem file, which follow Python but know less of it."""

import ast

_FUNCTIONS = {
    "min", "max", "abs", "int", "float", "round", "pow", "len", "sum", "ceil", "floor", "sqrt", "log2", "log", "exp", "gcd", "bool",
}  # fmt: skip
_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
    ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd,
)  # fmt: skip
_NODES = (
    ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Name, ast.Constant,
    ast.List, ast.Tuple, ast.Call, ast.Load,
)  # fmt: skip


def translate(text, names):
    """The expression as a problem file takes it, or ``None`` if it uses anything that only Python knows."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return None
    tree = ast.fix_missing_locations(_Functions().visit(tree))
    for node in ast.walk(tree):
        if not _known(node, names):
            return None
    return ast.unparse(_Lists().visit(tree))


def _known(node, names):
    if isinstance(node, ast.Name):
        return node.id in names or node.id in _FUNCTIONS
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (bool, int, float, str))
    return isinstance(node, _NODES + _OPERATORS)


def divides_safely(text, tune_params):
    """Whether nothing that an expression divides by can be 0: there Python's restrictions hold, and those of a problem file do not."""
    tree = ast.parse(text.strip(), mode="eval")
    divisions = (n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Div, ast.FloorDiv, ast.Mod)))
    return all(_never_zero(n.right, tune_params) for n in divisions)


def _never_zero(node, tune_params):
    if isinstance(node, ast.Constant):
        return node.value != 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _never_zero(node.left, tune_params) and _never_zero(node.right, tune_params)
    return isinstance(node, ast.Name) and node.id in tune_params and all(v != 0 for v in tune_params[node.id])


class _Functions(ast.NodeTransformer):
    """``math.ceil`` is ``ceil``, and so are those of NumPy."""

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in ("math", "np", "numpy") and node.attr in ("ceil", "floor", "sqrt", "gcd"):
            return ast.Name(node.attr, ast.Load())
        return node


class _Lists(ast.NodeTransformer):
    """Tuples are written as lists."""

    def visit_Tuple(self, node):
        self.generic_visit(node)
        return ast.List(elts=node.elts, ctx=node.ctx)


def choice(values, index="kt_config", write=None):
    """An expression with ``values[i]`` for i = ``index``: a binary search, short where neighbours are equal. ``write`` makes a value an expression."""
    write = write or literal
    runs = []
    for i, value in enumerate(values):
        text = write(value)
        if not runs or runs[-1][1] != text:
            runs.append((i, text))

    def part(low, high):
        if high - low == 1:
            return runs[low][1]
        middle = (low + high) // 2
        return f"({part(low, middle)} if {index} < {runs[middle][0]} else {part(middle, high)})"

    return part(0, len(runs))


def named_choices(name, values, index="kt_config", most=1000, write=None):
    """Names and expressions: the last, ``name``, has ``values[i]`` for i = ``index``. Many values come in parts, as the tuner refuses long texts."""
    starts = range(0, len(values), most)
    if len(starts) <= 1:
        return [(name, choice(values, index, write))]
    # A part that is not chosen gives one of its values, too.
    parts = [(f"{name}_{len(values)}_{k}", choice(values[i : i + most], f"({index} - {i})", write)) for k, i in enumerate(starts)]
    return [*parts, *named_choices(name, [n for n, _ in parts], f"({index} // {most})", most, str)]


def literal(value):
    """A value as an expression."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
