#!/usr/bin/env python3
"""Checks that relative links, images and their anchors in all Markdown files of the guide exist.

Usage: docs/check_links.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def anchors(text):
    found = set()
    for line in text.splitlines():
        heading = re.match(r"#+\s+(.*)", line)
        if heading:
            words = re.sub(r"[^\w\- ]", "", heading[1].replace("`", "").lower())
            found.add(words.strip().replace(" ", "-"))
    return found


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def main():
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "fuzz/README.md", "sweeps/README.md")]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    faults = []
    for page in (page for page in pages if page.exists()):
        for target in LINK.findall(without_code(page.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                faults.append(f"{page.relative_to(ROOT)}: {target}: no such file")
            elif anchor and anchor not in anchors(file.read_text()):
                faults.append(f"{page.relative_to(ROOT)}: {target}: no such heading")
    listed = (ROOT / "docs/SUMMARY.md").read_text()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        if name != "SUMMARY.md" and not name.startswith("results/data/") and f"({name})" not in listed:
            faults.append(f"docs/SUMMARY.md: {name} is not listed")
    print("\n".join(faults) or "links: all found")
    return 1 if faults else 0


sys.exit(main())
