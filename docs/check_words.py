#!/usr/bin/env python3
"""Checks that help texts and docs use the field's terms, and that sentences of README and guide are short.

Usage: docs/check_words.py [--docs-only] [BINARY ...]

Reads README.md, CONTRIBUTING.md, docs/**/*.md, and `--help` of every command and subcommand of greenup, gisaxs, hydro and fmm (with
the programs that `greenup NAME` starts): the binaries given, else those in target/release or target/debug. Fails on words that the project has replaced.

Fails too on sentences of more than 35 words in README.md, CONTRIBUTING.md and the guide (docs, without the records in docs/results).
A sentence ends with `.`, `!` or `?`, or with its paragraph, list item or cell of a table. A piece of code and the text of a link count as
they are read: code as one word. Code blocks, headings and comments are left out.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARIES = ("greenup", "gisaxs", "hydro", "fmm")

# (pattern, term to use). Patterns have word boundaries; `_` and digits belong to words, so names of recorded files
# such as one_board_h200 or race_cpu.txt do not match.
WORDS = [
    (r"--way\b", "--method"),
    (r"(?<!-)\bways?\b", "method"),
    (r"\b(sample|problem|input|experiment) pages?\b|\bpages? of (the|a) (sample|problem|experiment)\b|\bpath of the page\b", "input file; a page is an HTML page"),
    (r"--points (one|corrected|three|six)\b|\bpoints a triangle\b", "--quadrature, points per triangle"),
    (r"\bdamp(ing|ed)\b", "Im(q_z)"),
    (r"\bhalves\b|\bsplit halves\b", "f16x2"),
    (r"\bsums? of factors\b|\bsums factors\b", "sum factorisation"),
    (r"\bmatrix-free\b|--operator\b", "partial assembly, --assembly"),
    (r"\bplaces\b|\bplace\b", "position, coordinates"),
    (r"\bslopes?\b", "gradient"),
    (r"\bCourant\b", "CFL number"),
    (r"--q\b|-q\b", "--ncrit"),
    (r"\bmost points\b|\bpoints of a box\b|\bpoints a box\b|\bboxes of \d+\b", "max points per leaf (ncrit)"),
    (r"--edge\b|\bpoints on an? edge\b|\bpoints an edge\b", "surface order p, --order"),
    (r"\btransforms: (forward|back)\b|\bup, down\b", "P2M+M2M, M2L, P2L+L2L, L2P+M2P, P2P"),
    (r"\bplanned\b|\bsaid\b|\bspent\b|\bended\b", "setup_times, messages, timings, termination"),
    (r"--real\b", "--precision"),
    (r"\bchoices?\b", "tuning parameters"),
    (r"\brac(e|es|ed|ing)\b", "interleaved comparison; race-to-halt"),
    (r"\b(takes?|taking|in|their) turns?\b", "interleaved"),
    (r"--races\b", "--race-to-halt"),
    (r"\brivals?\b", "baseline"),
    (r"\bgreen(est|er)\b", "lowest-energy"),
    (r"\b(one|another|four|other) boards?\b", "one GPU"),
    (r"\bof peak\b", "fraction of peak"),
    (r"\btime to least\b", "T / T_min"),
    (r"\broof then\b", "roof re-measured"),
    (r"\bby the machine\b(?! model)", "predicted (machine model)"),
    (r"\bthat is none\b|\bis none\b|\bare none\b|\bthere are some\b", "invalid X, missing"),
    (r"\bis no [a-z]", "invalid X: …"),
    (r"\bmend(ed|s|ing)?\b|\bcur(e|es|ed)\b", "fix, suggestion"),
    (r"\brooms?\b|\bhouses?\b", "crate, module"),
    (r"--gpu\b", "--device cuda:N"),
    (r"\bsisters?\b", "siblings"),
    (r"\bbeside\b", "next to, compared with"),
    (r"\b(any|every|no)body\b|\bwhoever\b", "any, every user"),
    (r"\bas many as\b|\bso many\b|\bas much as\b", "the number"),
    (r"\bagain for more\b|; repeat\b", "repeatable"),
    (r"\bPoints? a triangle\b|\bHow many$", "points per triangle, number of points"),
]

# Legitimate uses, removed before the search: (pattern, reason).
ALLOWED = [
    (r"[Rr]ace-to-halt", "the field's term"),
    (r"refine` halves|`--refine` halves", "the verb"),
    (r"\bedges\b", "edges of a mesh"),
    (r"data races|not show races", "races of threads"),
    (r"--q q\.csv|--q <Q\.csv>|form-factor --q`", "the file of q vectors of gisaxs"),
    (r"costs? as much as", "plain English"),
    (r"places machines|Place the machines|place them on", "the verb"),
    (r"halves (that|the) error", "the verb"),
    (r"\d %( … \d+ %)? of peak", "a number of per cent"),
    (r"in place\b|in-place|of first place|share the first place|first place", "idioms"),
    (r"left out in turn", "one after the other"),
    (r"is no FFT|was no |is no network|There is no|there is no|is no difference|is no longer", "plain negations"),
    (r"board power|`hwmon[^|]*\| board sensors", "board power is the field's term"),
    (r"(fraction|share) of peak", "the term"),
    (r"choice between methods|at your choice", "a decision, not a tuning parameter"),
    (r"Compiling the loop nest to machine code was planned", "history of a decision"),
    (r"-v/-q|(`?-q`?, `?)?--quiet", "verbosity"),
    (r"nvidia-smi -[a-z]|cargo install -q|pip install -q", "flags of other tools"),
]


def spaced(pattern):
    """The pattern, with each space also matching a line break and its indentation."""
    return re.compile(pattern.replace(" ", r"\s+"), flags=re.M | re.I)


FORBIDDEN = [(spaced(pattern), term) for pattern, term in WORDS]
PERMITTED = [spaced(pattern) for pattern, _reason in ALLOWED]


def blank(match):
    """The same number of characters and lines, without words."""
    return re.sub(r"[^\n]", "·", match[0])


def faults_of(text, name):
    shown = re.sub(r"\]\([^)]*\)|<!--.*?-->", blank, text)  # targets of links are file names
    for pattern in PERMITTED:
        shown = pattern.sub(blank, shown)
    lines, faults = text.splitlines(), []
    for pattern, term in FORBIDDEN:
        for found in pattern.finditer(shown):
            number = shown.count("\n", 0, found.start()) + 1
            what = " ".join(found[0].split())
            faults.append((number, f"{name}:{number}: “{what}” → {term}\n    {lines[number - 1].strip()[:150]}"))
    return [fault for _number, fault in sorted(faults)]


MOST_WORDS = 35
ENDS = re.compile(r"[.!?][)\"”’*_]*$")
ABBREVIATIONS = re.compile(r"(^|\W)(e\.g|i\.e|al|vs|cf|etc|eqs?|[Ff]igs?)\.$")


def sentences(text):
    """(line, words) of each sentence of a page."""
    def lines_only(match):
        return "\n" * match[0].count("\n")

    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", lines_only, text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", lines_only, text, flags=re.S)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(`+)[^`](?:[^`]|\n(?!\n))*?\1", lambda match: "code" + lines_only(match), text)
    blocks, open_block = [], None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("|"):
            blocks += [[(number, word) for word in cell.split()] for cell in re.split(r"(?<!\\)\|", line)]
            open_block = None
        elif not line or line.startswith("#"):
            open_block = None
        else:
            item = re.match(r"([-*+>]|\d+\.)\s+", line)
            if open_block is None or item:
                open_block = []
                blocks.append(open_block)
            open_block += [(number, word) for word in line[item.end() if item else 0 :].split()]
    for block in blocks:
        sentence = []
        for number, word in block:
            sentence.append((number, word))
            if ENDS.search(word) and not ABBREVIATIONS.search(word):
                yield sentence[0][0], [word for _number, word in sentence]
                sentence = []
        if sentence:
            yield sentence[0][0], [word for _number, word in sentence]


def long_sentences(text, name):
    for number, words in sentences(text):
        count = sum(1 for word in words if re.search(r"\w", word))
        if count > MOST_WORDS:
            yield f"{name}:{number}: a sentence of {count} words, at most {MOST_WORDS}\n    {' '.join(words)[:150]}"


def helps(binary, path=()):
    """All help texts of a binary: (command, text)."""
    done = subprocess.run([binary, *path, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode != 0:
        raise SystemExit(f"{binary} {' '.join(path)} --help: exit code {done.returncode}: {done.stderr.strip()[:200]}")
    yield " ".join((pathlib.Path(binary).name, *path)), done.stdout
    # In one group or in several, before the options.
    for command in re.findall(r"^  ([a-z][\w-]*)", done.stdout.split("\nOptions:")[0], flags=re.M):
        if command not in ("help", *BINARIES):
            yield from helps(binary, (*path, command))


def find_binaries():
    for folder in ("release", "debug"):
        found = [ROOT / "target" / folder / name for name in BINARIES]
        if all(path.exists() for path in found):
            return [str(path) for path in found]
    raise SystemExit("no binaries in target/release or target/debug: build them, name them, or use --docs-only")


def main(arguments):
    docs_only = "--docs-only" in arguments
    binaries = [a for a in arguments if not a.startswith("--")]
    faults, texts = [], 0
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        text, name = page.read_text(), page.relative_to(ROOT).as_posix()
        faults += faults_of(text, name)
        if not name.startswith("docs/results/"):
            faults += long_sentences(text, name)
        texts += 1
    if not docs_only:
        for binary in binaries or find_binaries():
            for command, text in helps(binary):
                faults += faults_of(text, f"{command} --help")
                texts += 1
    print("\n".join(faults) if faults else f"words: {texts} texts, no replaced words, no sentences of more than {MOST_WORDS} words")
    return 1 if faults else 0


sys.exit(main(sys.argv[1:]))
