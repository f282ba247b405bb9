#!/usr/bin/env python3
"""Checks that no source files of a crate import each other in a circle.

Usage: docs/check_circles.py [FOLDER]

Reads the modules that `lib.rs` and `main.rs` of every crate declare; code under `#[cfg(test)]` is left out. File A imports file B if A names
an item that B defines: in a `use`, or by a path in its code (`crate::a::Item`, `super::Item`, `child::function`). Re-exports and
glob imports are followed to the definition, so a `mod.rs` imports nothing by declaring or re-exporting its children. A path that ends at a
module is no import. Methods are not followed: only names count.

A circle is a strongly connected component of files; a module and one of its own children may import each other if that is the whole
component. Prints each circle with one round of its imports, and fails if there is any.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent).resolve()
# Comments, strings and characters (not lifetimes).
TEXT = re.compile(r"""//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|\bb?"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^\\'])'""", re.S)
ITEM = re.compile(
    r"(?P<test>#\[cfg\((?:test|all\(test)[^\]]*\])|(?P<brace>[{}])|\buse\s+(?P<use>[^;]+);|\bmod\s+(?P<mod>\w+)\s*(?P<inline>[;{])"
    r"|\b(?:fn|struct|enum|union|trait|type|const|static(?:\s+mut)?|macro_rules!)\s+(?P<item>\w+)")
PATH = re.compile(r"(?<![\w:.$])\$?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")


def spaces(text):
    return re.sub(r"[^\n]", " ", text)


def closing(code, start):
    """The place behind the `;` or the bracketed `{ … }` that ends the item at `start`."""
    depth = 0
    for found in re.compile(r"[\[({})\];]").finditer(code, start):
        depth += (found[0] in "[({") - (found[0] in "})]")
        if depth == 0 and found[0] in ";}":
            return found.end()
    return len(code)


class Module:
    """What a module has: children, items that it defines, and names that it imports."""

    def __init__(self, file, folder, code, parent=None):
        self.file, self.parent, self.root = file, parent, parent.root if parent else self
        self.children, self.items, self.names, self.globs, self.paths = {}, set(), {}, [], []
        here, start, depth, rest = 0, 0, 0, []
        while found := ITEM.search(code, here):
            here = found.end()
            if found["test"]:
                here = closing(code, here)
            elif found["brace"]:
                depth += 1 if found["brace"] == "{" else -1
                continue
            elif found["use"]:
                self.read_use([], found["use"], found.start("use"))
            elif found["item"]:
                if depth == 0:
                    self.items.add(found["item"])
                continue
            elif found["inline"] == "{":
                end = closing(code, here - 1)
                inner = spaces(code[:here]) + code[here:end - 1]
                self.children[found["mod"]] = Module(file, folder / found["mod"], inner, self)
                here = end
            else:
                name = found["mod"]
                path = next(path for path in (folder / f"{name}.rs", folder / name / "mod.rs") if path.exists())
                self.children[name] = Module(path, folder / name, source(path), self)
            rest += [code[start:found.start()], spaces(code[found.start():here])]
            start = here
        for found in PATH.finditer("".join(rest) + code[start:]):
            self.paths.append(([part.lstrip("$") for part in re.split(r"\s*::\s*", found[0])], found.start()))

    def read_use(self, before, tree, place):
        head, brace, rest = tree.partition("{")
        alias = re.split(r"\s+as\s+", head.strip())
        path = before + [part.strip() for part in alias[0].split("::") if part.strip()]
        if brace:
            for branch in re.finditer(r"(?:[^,{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})+", rest.rpartition("}")[0]):
                if branch[0].strip():
                    self.read_use(path, branch[0], place + len(head) + 1 + branch.start() + len(branch[0]) - len(branch[0].lstrip()))
        elif path[-1] == "*":
            self.globs.append(path[:-1])
        else:
            path = path[:-1] if path[-1] == "self" and len(path) > 1 else path
            self.names[alias[-1] if len(alias) > 1 else path[-1]] = path
            self.paths.append((path, place))

    def find(self, path, seen=frozenset()):
        """The module that the path leads to, or the file that defines its item; nothing for other crates."""
        if (self, tuple(path)) in seen:
            return None
        seen, first, rest = seen | {(self, tuple(path))}, path[0], path[1:]
        start = {"crate": self.root, "self": self, "super": self.parent}.get(first)
        if start:
            return start.find(rest, seen) if rest else start
        if first in self.children and (rest or first not in self.items | self.names.keys()):
            return self.children[first].find(rest, seen) or self.children[first].file if rest else self.children[first]
        if first in self.items:
            return self.file
        if first in self.names and (target := self.find(self.names[first], seen)):
            return target if not rest or not isinstance(target, Module) else target.find(rest, seen) or target.file
        return next((target for glob in self.globs if (start := self.find(glob, seen)) and isinstance(start, Module)
                     and (target := start.find(path, seen))), None)


def source(path):
    return TEXT.sub(lambda found: spaces(found[0]), path.read_text())


def modules(module):
    yield module
    for child in module.children.values():
        yield from modules(child)


def reached(edges, start, allowed):
    """The shortest list of files from `start` to each file that it imports, directly or not."""
    routes, open_routes = {}, [[start]]
    for route in open_routes:
        for file in edges[route[-1]]:
            if file in allowed and file not in routes:
                routes[file] = route + [file]
                open_routes.append(routes[file])
    return routes


def main():
    roots = [path for top in ("crates/*/src", "apps/*/src", "python/src") for path in ROOT.glob(f"{top}/*.rs") if path.name in ("lib.rs", "main.rs")]
    edges, parents, circles = {}, set(), []
    for module in [module for root in sorted(roots) for module in modules(Module(root, root.parent, source(root)))]:
        code = module.file.read_text()
        parents.add((module.parent.file if module.parent else None, module.file))
        found = edges.setdefault(module.file, {})
        for path, place in module.paths:
            target = module.find(path)
            if target and not isinstance(target, Module) and target != module.file:
                found.setdefault(target, code.count("\n", 0, place) + 1)
    backwards = {file: [other for other in edges if file in edges[other]] for file in edges}
    left = set(edges)
    while left:
        file = left.pop()
        circle = {file} | reached(edges, file, left).keys() & reached(backwards, file, left).keys()
        left -= circle
        if len(circle) > 2 or len(circle) == 2 and not {tuple(circle), tuple(circle)[::-1]} & parents:
            circles.append(sorted(circle))
    for circle in sorted(circles):
        print(f"circle of {len(circle)} files:", *(file.relative_to(ROOT) for file in circle))
        route = min((reached(edges, file, set(circle))[file] for file in circle), key=len)
        for a, b in zip(route, route[1:]):
            print(f"  {a.relative_to(ROOT)}:{edges[a][b]} imports {b.relative_to(ROOT)}")
    print(f"imports: {len(edges)} files, {len(circles)} circles")
    return 1 if circles else 0


sys.exit(main())
