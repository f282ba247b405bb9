"""Writes scripts.json: functions, and the lists that Python returns for some arguments; null where it raises an error.
Python 3.11: python3 scripts.py > scripts.json"""

import inspect
import json
import sys


def fibonacci(limit):
    a, b = 1, 2
    out = []
    while a <= limit:
        out.append(a)
        a, b = b, a + b
    return out


def factors(n):
    found = []
    p = 2
    while p * p <= n:
        while n % p == 0:
            found.append(p)
            n //= p
        p += 1
    return found + [n]


def primes(n):
    sieve = [True] * (n + 1)
    for i in range(2, n + 1):
        if sieve[i]:
            for j in range(i * i, n + 1, i):
                sieve[j] = False
    return [i for i in range(2, n + 1) if sieve[i]]


def factorisations(n, least=2):
    """All ways to write n as a product."""
    out = [[n]]
    p = least
    while p * p <= n:
        if n % p == 0:
            for rest in factorisations(n // p, p):
                out.append([p] + rest)
        p += 1
    return out


def hanoi(n, a="a", b="b", c="c"):
    if n == 0:
        return []
    return hanoi(n - 1, a, c, b) + [a + c] + hanoi(n - 1, b, a, c)


def collatz(n):
    while True:
        yield n
        if n == 1:
            return
        n = n // 2 if n % 2 == 0 else 3 * n + 1


def evens(n):
    for i in range(n):
        if i % 2:
            continue
        if i > 10:
            break
        yield i


def division(a, b):
    return [a / b, a // b, a % b, -a // b, -a % b, a // -b, a % -b]


def powers(a, b):
    return [a ** b, -a ** b, (-a) ** b, 2 ** -1]


def bits(a, b):
    return [a & b, a | b, a ^ b, ~a, a << b, a >> b, -a >> 1]


def overflow(a):
    return [a * a]


def numbers(x):
    return [abs(-x), round(x), round(x / 3, 2), int(x / 2), float(x), str(x), bool(x), min(x, 2), max(x, 2.5)]


def chains(a):
    return [1 < a < 5, 1 < a > 2, a == a == 3, a != 3, not a > 2, 0 < a and a < 9, a or 7, a and 7, None is None]


def branches(n):
    if n < 0:
        return ["negative"]
    elif n == 0:
        return ["zero"]
    elif n < 10: return ["small"]
    else:
        pass
    return ["large"]


def slices(l):
    return [l[1:], l[:2], l[-2:], l[::2], l[::-1], l[3:0:-1], l[5:9], l[:-1], l[-9:2], l[1:4:2], l[-1:-4:-1], l[9::-2]]


def elements(l):
    l[0] = l[-1] + 1
    l[-1] *= 2
    l[1], l[2] = l[2], l[1]
    return l


def missing(l, i):
    return [l[i]]


def methods(l):
    l.append(5)
    l.extend([7, 1])
    l.insert(1, 9)
    l.insert(-1, 8)
    l.insert(99, 4)
    a = l.pop()
    b = l.pop(0)
    l.remove(9)
    c = l.index(5)
    d = l.count(1)
    l.sort()
    l.reverse()
    copy = l.copy()
    l.clear()
    return [a, b, c, d, copy, l, len(copy)]


def aliases(n):
    a = b = []
    a.append(n)
    b += [n + 1]
    c = a + []
    c.append(0)
    return [a, b, c, a is b, a is c, a == b]


def change(l):
    l.append(1)


def by_reference(n):
    l = [n]
    change(l)
    change(l)
    return l


def texts(s):
    return [s.upper(), s.lower(), s[0], s[-2:], s * 2, s + "!", len(s), s.split(","), ",".join(["x", s]), s.replace("a", "bb"),
            s.startswith("a"), s.endswith("c"), s.find("z"), s.find(","), s.count(","), "a" in s, "z" not in s, s[::-1]]


def stripped(s):
    return [s.strip(), s.split(), s.strip(" a"), "".join(c for c in s if c != " "), s < "b", sorted(s)]


def letters(s):
    out = []
    for c in s:
        out.append(c + "x")
    return out


def dictionaries(n):
    d = {"a": n, 2: "two"}
    d["b"] = n + 1
    d["a"] += 5
    d[(1, 2)] = 0
    d[2.0] = "again"
    e = dict([("x", 1), ("y", 2)])
    return [list(d), list(d.values()), list(d.items()), len(d), d.get("z"), d.get("z", 3), "a" in d, 3 in d, d.pop("b"), d.setdefault("q", 8),
            e["x"], list(e.keys()), d == {"a": 1}, {1: 2} == {1.0: 2}, {} == {}]


def counted(s):
    count = {}
    for c in s:
        count[c] = count.get(c, 0) + 1
    return [(k, v) for k, v in count.items()]


def no_key(n):
    return [{1: 2}[n]]


def sets(n):
    s = {1, 2, n}
    s.add(7)
    s.add(1)
    s.discard(99)
    s.remove(2)
    t = set([n, 7, 8])
    return [sorted(s), len(s), 7 in s, sorted(s | t), sorted(s & t), sorted(s - t), sorted(s ^ t), s == {7, 1, n}, len({x % 3 for x in range(9)})]


def tuples(n):
    a, (b, c) = n, (n + 1, n + 2)
    [d, e] = [a, b]
    t = a, b, c
    (f,) = (c,)
    return [t, t + (1,), t * 2, t[1], t[-1], len(t), (1, 2) < (1, 3), (1,) < (1, 0), d, e, f, t == (a, b, c), t.index(c), t.count(9)]


def unpacked(n):
    a, b = [n] * n
    return [a, b]


def lists(n):
    return [[i * j for i in range(n) for j in range(i)], [i for i in range(n) if i % 2 if i > 2], [(i, c) for i, c in enumerate("abc")],
            [x + y for x, y in zip([1, 2, 3], range(9))], [[i] * 2 for i in range(2)], [k for k in {"p": 1, "q": 2}]]


def own_names(i):
    a = [i for i in range(3)]
    return [i, a]


def functions(l):
    return [sum(l), min(l), max(l), sorted(l), list(reversed(l)), any(l), all(l), len(l), sum(x * x for x in l), max(x % 5 for x in l),
            list(enumerate(l, 1)), list(zip(l, "ab")), list(range(5, 0, -2)), tuple(l), bool([]), str([1, "a", (2,)]) == "[1, 'a', (2,)]", all([]), any([])]


def nothing(l):
    return [min(l)]


def lazily(n):
    return [any(1 // (n - i) > 0 for i in range(n + 1)), all(i < 2 for i in range(n))]


def ranges(n):
    r = range(1, n, 3)
    return [len(r), r[1], r[-1], 4 in r, 5 in r, list(r[::-1]), sum(r), r == range(1, n, 3), list(range(0)), bool(range(0))]


def growing(n):
    l = [1]
    for x in l:
        if len(l) < n:
            l.append(x * 2)
    return l


def nested(n):
    table = []
    for i in range(n):
        row = []
        for j in range(n):
            if j > i: break
            row.append(i * j)
        table.append(row)
    table[-1][0] = 100
    return table


def target(n):
    l = [0, 0, 0]
    for l[n] in range(5): pass
    return l


def late(n):
    if n > 0:
        x = 1
    return [x]


def unequal(n):
    return [[1] == (1,), [1] == [1.0], 1 == True, "1" == 1, None == 0, [1, [2]] == [1, [2]], (1, "a") != (1, "b"), [] == ()]


def mixed(a, b):
    return [a + b]


def ordered(a, b):
    return [a < b, a <= b, a > b, a >= b]


def even(n):
    return [True] if n == 0 else odd(n - 1)


def odd(n):
    return [False] if n == 0 else even(n - 1)


def ackermann(m, n):
    return [value(m, n)]


def value(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return value(m - 1, 1)
    return value(m - 1, value(m, n - 1))


def permutations(l):
    if len(l) < 2:
        return [l]
    return [[l[i]] + rest for i in range(len(l)) for rest in permutations(l[:i] + l[i + 1:])]


def gcds(a, b):
    while b:
        a, b = b, a % b
    return [a]


def binary(n):
    out = ""
    while n > 0:
        out = str(n % 2) + out
        n >>= 1
    return [out or "0"]


def binomials(n):
    row = [1]
    for k in range(n):
        row = [1] + [row[i] + row[i + 1] for i in range(k)] + [1]
    return row


def queens(n):
    count = [0]
    place(n, 0, [], count)
    return count


def place(n, row, columns, count):
    if row == n:
        count[0] += 1
        return
    for c in range(n):
        if all(c != columns[r] and abs(c - columns[r]) != row - r for r in range(row)):
            place(n, row + 1, columns + [c], count)


def bubble(l):
    for i in range(len(l)):
        for j in range(len(l) - 1 - i):
            if l[j] > l[j + 1]:
                l[j], l[j + 1] = l[j + 1], l[j]
    return l


def halves(n):
    x = n
    x -= 1
    x *= 3
    x /= 4
    x **= 2
    x //= 1
    x %= 7
    return [x]


def conditional(n):
    return ["a" if n > 0 else "b" if n < 0 else "c", [1, 2][n > 0], -n if n else +n]


def continued(n):
    total = (n +
             1  # a comment (
             + 2)

    # a comment that is indented otherwise
    return [
        total,
    ]


def conversions(s):
    return [int(s), float(s), int(float(s) * 2.7), str(1e20), str(0.1), str(True), str(None), str(-0.0), round(2.5), round(-3.5)]


CALLS = [
    (fibonacci, (1,), (50,)), (factors, (12,), (360,), (97,)), (primes, (50,)), (factorisations, (24,), (64,)), (hanoi, (3,)),
    (collatz, (6,)), (evens, (7,), (30,)), (division, (7, 2), (-7, 2), (7.5, 2), (1, 0)), (powers, (2, 5), (3, 2), (2.5, 2)),
    (bits, (12, 3), (7, 1), (1, -1)), (overflow, (3,)), (numbers, (3,), (2.5,), (0,)), (chains, (3,), (0,)),
    (branches, (-1,), (0,), (5,), (50,)), (slices, ([1, 2, 3, 4, 5],), ("abcdef",), ([],)), (elements, ([1, 2, 3, 4],)),
    (missing, ([1, 2], 1), ([1, 2], -2), ([1, 2], 2), ([1, 2], -3), ("ab", 5), (3, 0), ([1], "a"), ([1], 0.0)), (methods, ([3, 1, 2],)),
    (aliases, (1,)), (by_reference, (4,)), (texts, ("abc,dec",), ("x,z",)), (stripped, (" a b ",)), (letters, ("",), ("pqr",)),
    (dictionaries, (1,)), (counted, ("abracadabra",)), (no_key, (1,), (2,)), (sets, (5,)), (tuples, (1,)), (unpacked, (2,), (3,)),
    (lists, (5,)), (own_names, (9,)), (functions, ([3, 1, 2],), ([0, 4],), ([],)), (nothing, ([],), (["b", "a"],), ([1, "a"],), ([[2], [1, 5]],)),
    (lazily, (3,)), (ranges, (12,)), (growing, (8,)), (nested, (4,)), (target, (1,)), (late, (1,), (0,)), (unequal, (0,)),
    (mixed, (1, 2.5), ("a", "b"), ("a", 1), ([1], [2]), ([1], (2,)), (None, 1), (True, True)),
    (ordered, (1, 2), ("a", "b"), ([1, 2], [1, 3]), ([1], ["a"]), ((1, 2), (1,)), (None, None), (1, "a"), ([[1], 2], [[1], 1])),
    (even, (10,), (7,)), (ackermann, (2, 3)), (permutations, ([1, 2, 3],)), (gcds, (84, 36)), (binary, (0,), (37,)), (binomials, (6,)),
    (queens, (5,)), (bubble, ([5, 1, 4, 2, 3],)), (halves, (9,)), (conditional, (1,), (0,), (-1,)), (continued, (1,)), (conversions, ("3",), ("3.5",), ("x",)),
]
HELPERS = {"by_reference": [change], "even": [odd], "ackermann": [value], "queens": [place]}


def write(functions, helpers):
    out = []
    for function, *calls in functions:
        script = "\n".join(inspect.getsource(f) for f in [function] + helpers.get(function.__name__, []))
        rows = []
        for args in calls:
            call = f"{function.__name__}({', '.join(map(repr, args))})"
            try:
                rows.append([call, repr(list(function(*args)))])
            except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError, UnboundLocalError):
                rows.append([call, None])
        out.append({"script": script, "calls": rows})
    print("[\n" + ",\n".join(json.dumps(row) for row in out) + "\n]")


if __name__ == "__main__":
    sys.exit(write(CALLS, HELPERS))
