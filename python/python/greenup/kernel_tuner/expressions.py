"""Python expressions of parameters as expressions of a problem file, which follow Python but know less of it."""

import ast

_FUNCTIONS = {"min", "max", "abs", "int", "float", "round", "pow", "len", "sum"}
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


class _Lists(ast.NodeTransformer):
    """Tuples are written as lists."""

    def visit_Tuple(self, node):
        self.generic_visit(node)
        return ast.List(elts=node.elts, ctx=node.ctx)


def choice(values, index="kt_config"):
    """An expression with ``values[i]`` for i = ``index``: a binary search, short where neighbours are equal."""
    runs = []
    for i, value in enumerate(values):
        text = literal(value)
        if not runs or runs[-1][1] != text:
            runs.append((i, text))

    def part(low, high):
        if high - low == 1:
            return runs[low][1]
        middle = (low + high) // 2
        return f"({part(low, middle)} if {index} < {runs[middle][0]} else {part(middle, high)})"

    return part(0, len(runs))


def literal(value):
    """A value as an expression."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
