"""Writes statements.json, as scripts.py does for scripts.json: what changes in place, loops over what changes, texts in texts, the ends of
the integers, NaN, dictionaries and sums of lists. Python 3.11: python3 statements.py > statements.json"""

import sys

from scripts import write


def changed_sets(n):
    a = b = {1, 2, 3, n}
    c = {2, n, 9}
    a |= c
    r = [sorted(b), a is b]
    a &= {1, 2, 9}
    r.append(sorted(b))
    b -= {1}
    r.append(sorted(a))
    a ^= {2, 77}
    r.append(sorted(b))
    a ^= a
    return r + [sorted(b), a is b, len(c)]


def changed_lists(n):
    a = b = [1, n]
    a *= 2
    r = [b[:], a is b]
    b *= 0
    r.append(a[:])
    a += (1, 2)
    a += "xy"
    a += {5: 1}
    a += range(2)
    a += a
    return r + [b]


def change(l, s):
    l *= 2
    s |= {len(l)}
    l += [0]
    return None


def seen_by_the_caller(n):
    l = [n]
    s = {n}
    change(l, s)
    t = [l, s]
    t[0] *= 2
    t[1] -= {n}
    return [l, sorted(s), t[0] is l]


def rebinds(n):
    a = b = (1,)
    a += (n,)
    s = t = "x"
    s += "y"
    s *= 2
    x = y = 3
    x *= n
    l = [1]
    m = 2
    m *= l
    return [a, b, s, t, x, y, m, l]


def set_and_list(n):
    s = {1}
    s |= [2]
    return [1]


def list_times_float(n):
    s = [1]
    s *= 1.5
    return s


def changed_elements(n):
    d = {"a": [1], "b": {1}}
    x = d["a"]
    y = d["b"]
    d["a"] *= 3
    d["b"] |= {4}
    return [x, sorted(y), d["a"] is x, d["b"] is y]


def order_of_updates(n):
    l = [0, 0]
    i = 0
    l[i] += n
    i, l[i] = 1, 7
    return [l, i]


def loop_dict_add(n):
    d = {1: 2}
    for k in d:
        d[k + 1] = 0
    return [1]


def loop_dict_pop(n):
    d = {1: 2, 3: 4}
    for k in d:
        d.pop(k)
    return [1]


def loop_dict_break(n):
    d = {1: 2, 3: 4}
    for k in d:
        d[9] = k
        break
    return list(d.items())


def loop_dict_values(n):
    d = {1: 2, 3: 4}
    for k in d:
        d[k] += n
    return list(d.values())


def loop_set_add(n):
    s = {1, 2}
    for x in s:
        s.add(x + 10)
    return [1]


def loop_set_same(n):
    s = {1, 2}
    for x in s:
        s |= {1, 2}
        s.add(x)
    return sorted(s)


def loop_in_a_list(n):
    d = {1: 2, 3: 4}
    return [d.pop(k) for k in d]


def texts_in_texts(s):
    return [str([s]), str((s, "it's")), str({s: s}), str(["a\nb", "t\tq\r", "\\", '"', "'", "'\"", "\x00\x1f\x7f", "é", "\xa0", "\u200b", "\x85"])]


def containers(n):
    return [str([1.0, 1e22, 1e-7, 1e16, 123456789012345680.0, 0.0001, 0.00001, -0.0, 1e100, 5e-324]),
            str({1: [2, (3,)], "a": {}}), str(()), str([None, True, [False]]), str({}), str([[]]), str((1,)), str(set())]


def in_ranges(n):
    r = range(10)
    return [3.0 in r, 3.5 in r, True in r, "a" in r, None in r, 10.0 in r, 1e300 in r, -0.0 in r, 9.0 in range(0, 10, 3),
            8.0 in range(0, 10, 3), 4.0 in range(10, 0, -2), [1] in r]


def keys_of_floats(n):
    d = {2 ** 60: 1, -2 ** 62: 2, 9223372036854775807: 3}
    d[float(2 ** 60)] = 5
    d[-float(2 ** 62)] = 6
    d[9.3e18] = 7
    d[9223372036854775808.0] = 8
    return [list(d.items()), 2.0 ** 62 in {2 ** 62}, 1.5 in {1.5}, (1, 2.0) in {(1.0, 2)}, True in {1.0}, {1, 1.0, True} == {1}]


def tuple_keys(n):
    d = {}
    d[1, 2] = 3
    d[(1.0, 2)] += 1
    d[()] = n
    d[((1,), "a")] = 0
    return list(d.items())


def limits(n):
    x = -9223372036854775808
    y = 9223372036854775807
    return [x, -1 << 63, x + y, x // 2, x % 10, x % -1, -(x + 1), x >> 63, y >> 70, x & y, x | 1, x ^ y, ~x, ~y, x // y, y // x,
            x % y, y % x, x / y, x // 3, abs(x + 1), x == -0x8000000000000000, x < y, float(x), int(-9.223372036854775808e18),
            x * 1, x // 1, min(x, y), int("-9223372036854775808"), 3 - -9223372036854775808 if n < 0 else 0]


def shifts(n):
    return [1 << 62, -1 << 62, 0 << 100, 5 >> 100, -5 >> 100, -1 << 0, 3 << 61 if n < 0 else 3 << 60, True << 3]


def remainders(a, b):
    return [a % b, a // b, -a % b, -a // b, a % -b, a // -b, -a % -b, -a // -b]


def rounding(n):
    return [round(0.5), round(1.5), round(2.5), round(-0.5), round(2.675, 2), round(0.125, 2), round(0.375, 2), round(1234.5, -2),
            round(1250, -2), round(1350, -2), round(-1250, -2), round(5, -1), round(15, -1), round(1e20, 2), round(2.5, 0),
            round(3, 2), round(0.25, 1), round(0.35, 1), round(1e-10, 5), round(-0.4), round(-2.5, 0), round(True)]


def conversions(n):
    return [int(3.99), int(-3.99), int(" 12 "), int("+5"), int("1_000"), float(" 1.5 "), float("1e3"), float("inf"),
            float("-inf"), float("nan"), float("1_0.5"), int(True), float(True), bool("False"), bool(""), bool([]), bool([0]),
            bool(0.0), bool(None), int(9.1e18), float("5."), float(".5")]


def int_of_text(s):
    return [int(s)]


def float_of_text(s):
    return [float(s)]


def nans(n):
    x = float("nan")
    return [x == x, x != x, x < 1, x > 1, x <= x, not x, bool(x), x + 1, max(1, x), max(x, 1), min(x, 1), str([x]), 1 < x < 2,
            abs(x), x * 0, x // 1, x % 1, [1, x][0]]


def infs(n):
    i = float("inf")
    return [i > 10 ** 18, -i < n, i == i, i - 1, 1 / i, -1 / i, 5 % i, -5 % i, 5 // i, -5 // i, i * 2, str(i), int(1e18),
            max(i, 1), i in [i], i in {i}]


def whole(x):
    return [int(x)]


def scopes(n):
    x = [1, 2]
    y = [x for x in x]
    z = [[j for j in range(i)] for i in range(4)]
    w = [j for i in z for j in i if j]
    v = [(a, b) for a in "ab" for b in range(2) if b if a != "b"]
    return [y, z, w, v, {a % 2 for a in range(5)} == {0, 1}]


def dict_comprehensions(n):
    d = {k: v for k, v in zip("abc", range(n))}
    e = {x: x * x for x in range(4) if x % 2}
    f = {(i, j): i * j for i in range(2) for j in range(2)}
    g = {x % 2: x for x in range(5)}
    h = {v: k for k, v in d.items()}
    return [d, e, f, g, h, {k: {j: k for j in range(k)} for k in range(3)}, len({x: 1 for x in []})]


def dict_comprehension_of_lists(n):
    return [{[1]: x for x in [1]}]


def sum_of_lists(l):
    return [sum(l, []), l]


def sums_from(n):
    a = [0]
    b = sum([[1], [2, 3], [4]], a)
    c = sum([], a)
    return [a, b, c is a, sum([1, 2], 10), sum([0.5, 0.25], 1), sum([(1,), (2, 3)], ()), sum(x for x in range(4)),
            sum([True, True]), sum([], 0.5), sum([[1]] * 3, [])]


def sum_of_texts(n):
    return [sum(["a", "b"], "")]


def sum_of_kinds(n):
    return [sum([[1], (2,)], [])]


def defaults(a, b=(1, 2), c="x", d=None, e=-1.5, f=True, g=(), h=((1, "a"), (None,))):
    return [a, b, c, d, e, f, g, h, b + (a,), len(b)]


def generators(n):
    return [list(down(n)), sum(down(n)), max(down(n)), [x * 2 for x in down(n)], sorted(down(n)), tuple(down(2)), 2 in down(n)]


def down(n):
    while n:
        yield n
        n -= 1


def ended(n):
    for i in range(n):
        if i == 3: return
        yield i
        yield [i]


def strings(s):
    return [s.find("b"), s.index("a"), s.count("a"), s.replace("a", ""), s.replace("", "-"), s.count(""), s.split("a"),
            s.strip("a"), s.upper().lower(), s[::-1], s[1:-1], s[-1], s * 0, s * -1, s + s, s < "b", s in "xx" + s, "" in s,
            list(s), tuple(s), sorted(s), max(s), min(s), "-".join(s), s == s[:], s.startswith(""), s.endswith(s)]


def escapes(n):
    return ["a\tb\nc\\d\'e\"f\r\x41\u0042\U00000043", len("\x00\n"), "\x00" < "\x01", "'\"'", '\'', "\""]


def sort_mixed(l):
    return sorted(l)


def sort_stable(n):
    return [sorted([(1, "b"), (0, "z"), (1, "a")]), sorted([1.0, 1, True, 0, False]), sorted("hello"), sorted({3: 1, 1: 2}),
            sorted([[2, 1], [1, 9], [1]]), sorted([1.5, 1, 2])]


def precedence(n):
    return [-2 ** 2, 2 ** 3 ** 2, 2 * 3 % 4, 7 // 2 * 2, 1 + 2 << 1, 1 | 2 & 3 ^ 1, not 1 == 2, -3 // 2, -(3 // 2), ~n & 0xF,
            5 - -3, 2 ** -1, -2 ** -2, 3 if n else 4 if 0 else 5, 1 if 0 else 2 if 0 else 3, 6 // 4 / 2, 10 - 4 - 3, 0b101 | 0o17,
            1_000, 1e3, .5, 5.]


def bools(n):
    return [True + True, True * 3, -True, ~True, True & False, True ^ True, True | 2, True & 3, True / 2, True // 1,
            sum([True, False, True]), True == 1.0, str(True), [10, 20][True], True << 2, max(True, 0), abs(True), round(True),
            int(True), +True, True < 2, True is True, (1 < 2) is True, True % 2]


def dict_order(n):
    d = {}
    for i in range(50):
        d[i] = i
    for i in range(45):
        d.pop(i)
    d[3] = 1
    d[47] = 0
    return list(d.items())


def sieve(n):
    s = set(range(2, n))
    for i in range(2, n):
        if i in s:
            s -= set(range(i * i, n, i))
    return sorted(s)


def powers_set(l):
    out = [[]]
    for x in l:
        out += [s + [x] for s in out]
    return out


def modify_iter(n):
    out = []
    l = [1, 2, 3, 4]
    for x in l:
        if x == 2: l.remove(2)
        out.append(x)
    return [out, l]


def floats(n):
    return [0.1 * 3, 1e200 * 1e200, -1e200 * 1e200, 7.0 // 2, -7.0 // 2, 7.5 % 2, -7.5 % 2, 7.5 % -2, 4.0 % -2, -4.0 % 2,
            0.0 // -1, -0.0 // 2, 1e-20 // 1, -1e-20 // 1, 1e-20 % 1, -1e-20 % 1, 1.0 // 0.1, 1.0 % 0.1, 5 // 0.3, 2 ** 0.5]


def grown_by_enumerate(n):
    l = [1, 2]
    for i, x in enumerate(l, 5):
        if len(l) < n:
            l.append(i * x)
    return l


def shrunk_by_reversed(n):
    l = list(range(n))
    out = []
    for i, (x, y) in enumerate(zip(l, reversed(l))):
        out.append((i, x, y))
        l.pop()
    for x in reversed(l):
        out.append(x)
        l.clear()
    return out


def values_change(n):
    d = {1: 2, 3: 4}
    out = []
    for k, v in d.items():
        out.append((k, v))
        d[3] = n
    for v in d.values():
        d[3] = v
    for k in d.keys():
        d[k] += 1
    return [out, list(d.items()), [d[k] for k in list(d.keys())]]


def items_come(n):
    d = {1: 2}
    for k, v in d.items():
        d[k + n] = v
    return [1]


def common(n):
    return [list({1, 5} & {1.0, 7.5}), list({1, 5, 6} & {1.0}), list({1} & {1.0, 2.0}), sorted([{1: 2}]), round(-0.5, -1), round(0.4, -1), round(-14.5, -1)]


CALLS = [
    (changed_sets, (4,)), (changed_lists, (4,)), (seen_by_the_caller, (3,)), (rebinds, (2,)), (set_and_list, (1,)), (list_times_float, (1,)),
    (changed_elements, (1,)), (order_of_updates, (5,)), (loop_dict_add, (1,)), (loop_dict_pop, (1,)),
    (loop_dict_break, (1,)), (loop_dict_values, (1,)), (loop_set_add, (1,)), (loop_set_same, (1,)),
    (loop_in_a_list, (1,)),
    (texts_in_texts, ('ab',), ("it's",), ('say "x"',), ('both \' and "',), ('\n\r\t\\',), ('\x1b[0m',), ('\xe9\u0301\xad\u2028\ue000\U0001f600',)),
    (containers, (1,)), (in_ranges, (1,)), (keys_of_floats, (1,)), (tuple_keys, (1,)), (limits, (1,)), (shifts, (1,)),
    (remainders, (7, 3), (-7, 3), (7.5, 2), (6, 3), (6.0, 3), (0, 5), (0.0, 5.0), (5, 0), (5.0, 0), (10**18, 7),
     (-10**18, 7), (1e+300, 7.0), (5e-324, 3.0)),
    (rounding, (1,)), (conversions, (1,)),
    (int_of_text, ('x',), ('',), ('1.5',), ('1__0',), ('_1',), ('1_',), ('0x10',), ('- 1',), ('1 2',), ('9223372036854775807',)),
    (float_of_text, ('',), ('1_e5',), ('1e',), ('infinity',), ('NaN',), ('1__0',), ('1e400',), ('0x1',), ('--1',)), (nans, (1,)), (infs, (1,)),
    (whole, (1e+18,), (-9.3e+17,), ('7',), (None,), ([],)), (scopes, (1,)),
    (dict_comprehensions, (2,), (3,)), (dict_comprehension_of_lists, (1,)), (sum_of_lists, ([[1], [2, 3]],), ([],)), (sums_from, (1,)),
    (sum_of_texts, (1,)), (sum_of_kinds, (1,)), (defaults, (1,), (1, 5), (1, (3,), 'q')), (generators, (3,)), (ended, (2,), (9,)),
    (strings, ('banana',), ('ab',)), (escapes, (1,)),
    (sort_mixed, ([1, 'a'],), ([None, 1],), ([3, 1.5, 2],), ([[1], (1,)],), ([None],), ([None, None],), ([(1, 'a'), (1, 2)],)), (sort_stable, (1,)),
    (dict_order, (1,)), (precedence, (1,), (0,)), (bools, (1,)),
    (sieve, (50,)), (powers_set, ([1, 2, 3],)), (modify_iter, (1,)), (floats, (1,)),
    (grown_by_enumerate, (7,)), (shrunk_by_reversed, (5,)), (values_change, (9,)), (items_come, (0,), (1,)), (common, (1,)),
]
HELPERS = {"seen_by_the_caller": [change], "generators": [down]}

if __name__ == "__main__":
    sys.exit(write(CALLS, HELPERS))
