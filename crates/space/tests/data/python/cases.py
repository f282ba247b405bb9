"""Writes cases.json: filters, and the points that Python keeps, by their numbers in itertools.product; null where Python
raises an error at a point. Python 3.11: python3 cases.py > cases.json"""

import itertools
import json
import math

BIG = 2**53
STRINGS = dict(l=["row", "col", "blocked"])
TWO = dict(x=["abc", "ab"], y=[1, 2, 3])
THREE = dict(a=[1, 2, 3], b=[1, 2, 3], c=[1, 2, 3])
PAIRS = dict(a=[(1, 2), (2, 1), (4, 4)], b=[1, 2, 4])
INTS = dict(x=[0, 1, 2, 3, 8, 16, 17])

CASES = [
    # Strings are no lists of one.
    (STRINGS, "'o' in l", "len(l) == 3", "l in 'rowing'", "l not in ('row',)", "l[0] == 'r'", "l[-1] == 'd'", "l in ('row')",
     "'' in l", "l in ''", "max(l) == 'w'", "min(l) == 'b'", "sorted(l)[0] == 'b'", "len(sorted(l)) == 3", "list(l)[1] == 'o'",
     "set(l) == set('wor')", "len(set(l)) == 7", "any(c == 'k' for c in l)", "all(c in 'rowcl' for c in l)", "sum(l) == 3",
     "len([c for c in l if c == 'o']) == 1", "l + 's' == 'rows'", "l * 2 == 'rowrow'", "2 * l == 'rowrow'", "l < 'c'", "l < 3",
     "3 in l", "l in 3", "None in l", "l is None", "l == 3", "l[5] == 'e'", "len(l) > 5 and l[5] == 'e'", "str(l) == 'row'",
     "int(l) == 3", "bool(l)", "not l", "-l", "l - 'r'", "l % 2", "abs(l) == 1", "float(l) > 1", "max(l, 'd') == 'd'",
     "('row' if l == 'col' else l) == 'row'", "(l or 1) == 'row'", "(l and 1) == 1"),
    (TWO, "len(x) == y", "len(x) < y", "x[y - 1] == 'b'", "x * y == 'abab'", "x == y", "x != y", "x in ('ab', y)", "x < y",
     "str(y) in x", "(x, y) == ('ab', 2)", "(x, y) in [('ab', 2), ('abc', 3)]", "y in x", "x in y", "x[y] == 'c'",
     "y < len(x) and x[y] == 'c'", "[x, y] == ['ab', 1]", "(x, y) < ('abc', 0)", "x + str(y) == 'ab2'", "max(x) == x",
     "(x if y > 1 else 'abc') == 'abc'"),
    (dict(x=["f32", "f64", "i32"], y=["f", "32", "i3"]), "y in x", "not (y in x)", "x in y", "y not in x", "x[0] == y",
     "y == 'f' and y in x", "max(x, y) == x", "min(x, y) == y", "x + y == 'f32f'", "x > y", "{x, y} == {'f32', 'f'}"),
    (dict(x=["1", "2", "32"]), "x == 1", "int(x) == 1", "float(x) > 1.5", "int(x) in (1, 32)", "int(x) + 1 == 3", "x in '32'"),
    (dict(x=["a", "", "bc"], y=[0, 1, 2]), "len(x) == y", "x", "x and y", "not x or y > 1", "bool(x) == bool(y)"),
    # Numbers are no lists.
    (dict(x=[1, 2, 5]), "x in 5", "x in (5)", "sum(x) == 5", "len(x) == 1", "max(x) == 5", "min(x) == 5", "any(x)", "all(x)",
     "x == 1 or x in 5", "x > 0 or x in 5", "x in (5,)", "[k for k in x]", "x[0] == 1", "list(x) == [1]", "sum([x, 1]) == 3"),
    (dict(x=[1, "a", None]), "x in 'abc'", "x == 1 or x in 'abc'", "x == 1 or x is None or x in 'abc'", "len(x) == 1", "x == 'a'", "x is None",
     "x in (1, None)", "x > 0", "x == 'a' or x is None or x > 0", "x is not None and x != 'a' and x + 1 == 2", "str(x) == 'None'"),
    # Sets hold what is equal once.
    (THREE, "len({a, b, c}) == 3", "len(set([a, b, c])) == 3", "3 == len({a, b, c})", "len({a, b, c}) == 2", "len({a, b, c}) <= 2",
     "sum({a, b}) == 2", "sum({a, b, c}) == 3", "{a, b} == {2, 1}", "{a, b} != {c}", "a in {b, c}", "max({a, b}) == 3",
     "len({a, b + 1, c * 2}) == 3", "len({a % 2, b % 2}) == 1", "sum({x % 2 for x in (a, b, c)}) == 1", "len({a, b, 1.0, True}) == 2",
     "sum(set((a, b, c))) == sum((a, b, c))", "len({a, b, 6 // (c - 1)}) == 3", "any({a > 1, b > 1})"),
    (dict(a=[1, 2, 3], b=[1.0, 2.0, 2.5]), "len({a, b}) == 2", "sum({a, b}) == 1", "sum({a, b}) == 2", "len({a, b}) == 1", "a in {b}", "a in (b, 3)"),
    # Lists, tuples and generators of expressions.
    (THREE, "[a, b] == [1, 2]", "(a, b) in [(1, 2), (2, 3)]", "(a, b) not in [(1, 2), (2, 3)]", "(a, b) < (2, 2)", "(a, b, c) >= (2, 1, 3)",
     "(a, b) <= (2, 2, 0)", "(a, b) != (b, a)", "(a, (b, c)) == (1, (2, 3))", "(a, b) == 1", "[a, b, c][1] == 2", "(a, b, c)[a - 1] == a",
     "(a, b)[c - 1] == 1", "(a, b)[-c] == 1", "c < 3 and (a, b)[c - 1] == 1", "any([a == 1, b == 1])", "all((a < 3, b < 3))",
     "any(a % k == 0 for k in (2, 3))", "all(a % k for k in range(2, 4))", "any(k == a for k in (b, c))", "sum(k * k for k in (a, b, c)) == 14",
     "sum([k for k in (a, b, c) if k > 1]) == 5", "len([k for k in (a, b, c) if k > 1]) == 2", "max(k % 3 for k in (a, b, c)) == 1",
     "min([k - 1 for k in (a, b)]) == 1", "a in [k + 1 for k in (b, c)]", "a in [k for k in (b, c) if k > 2]", "all(k > 1 for k in (a, b) if k != c)",
     "any(6 // (k - 1) > 2 for k in (a, b))", "any([6 // (k - 1) > 2 for k in (a, b)])", "any(x == a for x in [b + k for k in (0, 1)])",
     "a in (3, 1 // (b - 3))", "a in range(b, c)", "a in range(1, 10, 2)", "sum(range(a)) == 1", "len(range(a)) == 2", "any(())", "all([])",
     "sum([]) == 0", "max([]) == 0", "a == 1 or max([]) == 0", "sum((a, b)) == sum([b, c])", "[a] + [b] == [1, 2]", "[a] * 2 == [1, 1]",
     "(a,) + (b,) == (1, 2)", "len([a] * b) == 2", "1 < a in (2, 3)", "a in (1, 2) in ((1, 2),)", "a in (1, 2) == True", "a in (b, 2) != c",
     "a == b == 2 or a != b != 1 > 0", "a < b is not None", "(a < b) == (b > 1)", "a < b == (b > 1)", "a - b and a"),
    (PAIRS, "b in a", "a[0] == b and a[1] != b", "a == (b, b)", "a > (b,)", "len(a) == b", "sum(a) > b + 3", "max(a) == b", "a[b] == 1",
     "b < 2 and a[b] == 2", "a[2] == 1", "a + (b,) == (1, 2, 4)", "len(a * 2) == b", "a in ((1, b), (b, b))", "a in [(2, 1)]", "any(k == b for k in a)",
     "all(k < b for k in a)", "sum(k * b for k in a) == 6", "[k for k in a if k > b] == [4]", "a == b", "a < b", "a[0] * a[1] == b", "a and b == 1", "-a",
     "a is None", "str(a) == '(1, 2)'", "sorted(a)[0] == b", "(a, b) == ((1, 2), 1)", "tuple([b, b]) == a"),
    (dict(a=[(1, 2), (3,), ()], b=[1, 3]), "b in a", "len(a) == b", "a and a[0] == b", "sum(a) == b", "max(a) == b", "a == () or max(a) == 3"),
    (dict(a=[1, 2, "auto", None], b=[1, 2]), "a == 'auto' or a is None or a * b == 4", "a in ('auto', None, b)", "a not in (None, 'auto') and a <= b",
     "a == b", "(a or b) == 1", "a in ('auto',) or a == b", "{a, b} == {1}", "len({a, b}) == 2", "(a, b) == ('auto', 2)"),
    # Functions.
    (dict(x=[1.25, 2.35, 2.5, -2.5, 0.5, 1.005]), "round(x, 1) == 2.4", "round(x) == 2", "round(x, 2) == 1.0", "round(x, 0) == 2.0", "round(x * 10, -1) == 20",
     "int(x) == -2", "floor(x) == -3", "ceil(x) == 3", "str(x) == '2.5'", "x // 2 == -2", "x % 2 == 1.5", "abs(x) == 2.5"),
    (INTS, "log(x + 1, 2) == 2", "log(x, 2) == 4", "pow(x, 2, 7) == 1", "pow(x, 2) == 9", "gcd(x, 4, 2) == 2", "gcd(x) == 8", "math.gcd(x, 4) == 4", "round(x, -1) == 20",
     "round(x, 2) == 3", "sqrt(x) == 4", "exp(x) > 100", "bool(x) == 1", "str(x) == '8'", "str(x) + '!' == '8!'", "min(x, 2) == max(1, 2.0)",
     "any([x % k == 0 for k in (3, 17)])", "all(x % k == 0 for k in (2, 4))", "x / 3 == 1", "int(x / 3) == 5", "x ** 0.5 == 4", "log(x, 1) > 0",
     "log(0, x) > 0", "pow(2, x) == 8", "pow(x, 2, 0) == 1", "int('32') == x + 16", "int('3x') == x", "float('1e1') > x", "len('abc') == x"),
    (dict(x=[-5, 5], y=[-3, 3]), "x // y == -2", "x % y == 1", "x % y == -1", "pow(x, 3, y) == 1", "pow(x, 3, y) == -1", "x / y > 1", "x ** y == 125", "x ** y == -0.008"),
    (dict(x=[2, 10], y=[-2, 0, 3]), "x ** y == 0.25", "x ** y == 1000", "x ** y == 1", "pow(x, y) > 5"),
    # Integers and floats are compared exactly, and divided with one rounding.
    (dict(x=[BIG + 1, BIG, BIG - 1, 3]), f"x == {float(BIG)!r}", f"x != {float(BIG)!r}", f"x > {float(BIG)!r}", f"x <= {float(BIG)!r}", "x / 1 == x",
     "x / 3 == 3002399751580331.0", "x / 3 == 3002399751580330.5", "x / 7 > 1286742750677284.6", "x in (9007199254740992.0, 3)", f"{float(BIG)!r} < x", "x == x * 1.0",
     "float(x) == x", "x < 1e300", "x > -1e300", "x >= 9007199254740990.5"),
    (dict(x=[BIG + 1, BIG + 2], y=[1.5, 9007199254740992.0, 9007199254740994.0]), "x == y", "x < y", "x <= y", "x > y", "y == x", "y < x", "y >= x", "x / 1 == y"),
    (dict(x=[3, 7, -7, 9223372036854775807], y=[3, 49, 9007199254740993, -9223372036854775807]), "x / y == 1.0", "x / y < 0.1", "x / y == 3.3306690738754696e-16",
     "x / y > 1023", "x / y == 188232082384791.0", "y / x == 3002399751580331.0"),
    # Faults of floats.
    (dict(x=[2.0, 1.0]), "x ** 2000 > 1", "x ** 1000 > 1", "x == 1 or x ** 2000 > 1", "x < 2 and x ** 2000 == 1", "(x - 1) ** -1 > 0", "exp(x * 500) > 0", "x * 1e308 * 10 > 1e308",
     "x ** 0.5 > 1.2"),
    (dict(x=[-5.0, 5.0, 7.5]), "x // (1e308 * 10) == -1.0", "x // -2 == -3", "x % -3 == -0.5", "x // 0.1 == 74", "x % 0.1 < 0.05"),
    # `is` compares types too.
    (dict(a=[True, False], b=[0, 1, 2]), "a is b", "a is not b", "a is b or a + b == 2", "a == b", "(b > 0) is a", "a is True", "a is (b == 1)", "(a & (b > 1)) is True", "a + b is b",
     "(a or b) is True"),
    (dict(a=[True, 2, "x", None]), "a is True", "a is None", "a is not None", "a == 1"),
    (dict(a=[1, 2], b=[1.0, 2]), "a is b", "a == b"),
    # What Python does not read, and what follows `in`.
    (dict(x=[5, 6]), "x == 05", "x == 0_5", "x == 5__0", "x <> 5", "x == 00 or x == 5", "x == 5_0 / 1_0", "x == 0x_5", "x = 5", "x ==", "x == 5.", "x == 5_"),
]

functions = {k: getattr(math, k) for k in ["floor", "ceil", "sqrt", "log2", "log", "exp", "gcd"]} | {"math": math}


def kept(parameters, text):
    out = []
    try:
        code = compile(text, "", "eval")
        for i, point in enumerate(itertools.product(*parameters.values())):
            if eval(code, dict(functions, **dict(zip(parameters, point)))):
                out.append(i)
    except Exception:
        return None
    return out


rows = []
for parameters, *texts in CASES:
    rows.append({"parameters": parameters, "filters": {t: kept(parameters, t) for t in texts}})
print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]")
