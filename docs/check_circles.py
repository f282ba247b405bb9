#!/usr/bin/env python3
"""Checks that no source files of a crate import each other in a circle.

Usage: docs/check_circles.py [FOLDER]

Reads the modules that `lib.rs` and `main.rs` of every crate declare; code under `#[cfg(test)]` is left out. File A imports file B if A names
an item that B defines: in a `use`, or by a path in its code (`crate::a::Item`, `super::Item`, `child::function`). Re-exports and glob
imports are followed to the definition, so a `mod.rs` imports nothing by declaring or re-exporting its children. A path that ends at a module
is no import. Only names count: methods are not followed. A circle is a strongly connected component of files; a module and one of its own
children may import each other if that is the whole component. Prints the circles, each with its shortest round of imports; fails on any.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent).resolve()
# Comments, strings and characters (not lifetimes).
TEXT = re.compile(r"""//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|\bb?"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^\\'])'""", re.S)
ITEM = re.compile(
    r"(?P<test>#\[cfg\((?:test|all\(test)[^\]]*\])|(?P<brace>[{}])|\bmod\s+(?P<mod>\w+)\s*(?P<inline>[;{])"
    r"|(?P<public>\bpub(?:\([^)]*\))?\s+)?\buse\s+(?P<use>[^;]+);"
    r"|\b(?:fn|struct|enum|union|trait|type|const|static(?:\s+mut)?|macro_rules!)\s+(?P<item>\w+)")
PATH = re.compile(r"(?<![\w:.$])\$?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")
BRANCH = re.compile(r"(?:[^,{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})+")


def spaces(text):
    return re.sub(r"[^\n]", " ", text)


def closing(code, start):
    """The place behind the `;` or the `{ … }` that ends the item at `start`."""
    depth = 0
    for found in re.compile(r"[\[({})\];]").finditer(code, start):
        depth += (found[0] in "[({") - (found[0] in "})]")
        if depth == 0 and found[0] in ";}":
            return found.end()
    return len(code)


class Module:
    """What a module has: children, items that it defines, names that it imports, and the paths in its code."""

    def __init__(self, file, folder, parent=None, code=None):
        code = code or TEXT.sub(lambda found: spaces(found[0]), file.read_text())
        self.file, self.parent, self.root = file, parent, parent.root if parent else self
        self.children, self.items, self.names, self.globs, self.paths = {}, set(), {}, [], []
        here, left, depth, rest = 0, 0, 0, []
        while found := ITEM.search(code, here):
            here, name = found.end(), found["mod"]
            if found["brace"]:
                depth += 1 if found["brace"] == "{" else -1
                continue
            if found["item"]:
                self.items |= {found["item"]} if depth == 0 else set()
                continue
            if found["test"]:
                here = closing(code, here)
            elif found["use"]:
                self.read_use([], found["use"], found.start("use"), bool(found["public"]))
            elif found["inline"] == "{":
                start, here = here, closing(code, here - 1)
                self.children[name] = Module(file, folder / name, self, spaces(code[:start]) + code[start:here - 1])
            else:
                path = next(path for path in (folder / f"{name}.rs", folder / name / "mod.rs") if path.exists())
                self.children[name] = Module(path, folder / name, self)
            rest += [code[left:found.start()], spaces(code[found.start():here])]
            left = here
        for found in PATH.finditer("".join(rest) + code[left:]):
            self.paths.append(([part.lstrip("$") for part in re.split(r"\s*::\s*", found[0])], found.start()))

    def read_use(self, before, tree, place, public):
        head, brace, rest = tree.partition("{")
        name, *alias = re.split(r"\s+as\s+", head.strip())
        path = before + [part.strip() for part in name.split("::") if part.strip()]
        if brace:
            for branch in BRANCH.finditer(rest.rpartition("}")[0]):
                if text := branch[0].lstrip():
                    self.read_use(path, text, place + len(head) + 1 + branch.end() - len(text), public)
        elif path[-1] == "*":
            self.globs.append(path[:-1])
        else:
            path = path[:-1] if path[-1] == "self" and len(path) > 1 else path
            self.names[alias[0] if alias else path[-1]] = path
            self.paths += [] if public else [(path, place)]

    def find(self, path, seen=frozenset()):
        """The module that a path leads to, or the file that defines its item; nothing in other crates."""
        if (self, tuple(path)) in seen:
            return None
        seen, first, rest = seen | {(self, tuple(path))}, path[0], path[1:]
        if start := {"crate": self.root, "self": self, "super": self.parent}.get(first):
            return start.find(rest, seen) if rest else start
        if first in self.children and rest:
            return self.children[first].find(rest, seen) or self.children[first].file
        if first in self.items:
            return self.file
        if first in self.names and (target := self.find(self.names[first], seen)):
            return target.find(rest, seen) or target.file if rest and isinstance(target, Module) else target
        if first in self.children:
            return self.children[first]
        starts = (start for glob in self.globs if isinstance(start := self.find(glob, seen), Module))
        return next((target for start in starts if (target := start.find(path, seen))), None)

    def all(self):
        yield self
        for child in self.children.values():
            yield from child.all()


def reached(edges, start, allowed):
    """The shortest list of files from `start` to each file that it imports, directly or not."""
    routes, ends = {}, [[start]]
    for route in ends:
        for file in edges[route[-1]]:
            if file in allowed and file not in routes:
                routes[file] = route + [file]
                ends.append(routes[file])
    return routes


def main():
    folders = [folder for top in ("crates/*/src", "apps/*/src", "python/src") for folder in sorted(ROOT.glob(top))]
    roots = [path for folder in folders for path in (folder / "lib.rs", folder / "main.rs") if path.exists()]
    edges, pairs, circles = {}, [], []
    for module in [module for root in roots for module in Module(root, root.parent).all()]:
        code, found = module.file.read_text(), edges.setdefault(module.file, {})
        pairs.append({module.file, module.parent.file if module.parent else None})
        for path, place in module.paths:
            if (target := module.find(path)) not in (None, module.file) and not isinstance(target, Module):
                found.setdefault(target, code.count("\n", 0, place) + 1)
    backwards = {file: [other for other in edges if file in edges[other]] for file in edges}
    left = set(edges)
    while left:
        file = left.pop()
        circle = {file} | reached(edges, file, left).keys() & reached(backwards, file, left).keys()
        left -= circle
        circles += [sorted(circle)] if len(circle) > 1 and circle not in pairs else []
    for circle in sorted(circles):
        print(f"circle of {len(circle)} files:", *(file.relative_to(ROOT) for file in circle))
        route = min((reached(edges, file, set(circle))[file] for file in circle), key=len)
        for a, b in zip(route, route[1:]):
            print(f"  {a.relative_to(ROOT)}:{edges[a][b]} imports {b.relative_to(ROOT)}")
    print(f"imports: {len(edges)} files, {len(circles)} circles")
    return 1 if circles else 0


sys.exit(main())
