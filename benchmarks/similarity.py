"""Whether copies are found among independent work, and nothing else, and in what time.

The staff's solutions stand for independent work; some of them share parts, so the pairs most alike are printed with
their shares. Of 20 solutions a copy is made and disguised: renamed, its lines and functions in another order, other
lines mixed in, or all of it.

Usage: python benchmarks/similarity.py [--json] [--shown N]
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep

from grader.languages import Language
from grader.similarity.comparison import Comparison, Pair, Source
from grader.similarity.statements import own_names, statements

SOLUTIONS = Path(__file__).resolve().parents[1] / "reference"
COPIES = 20
# The size of a large course, for the time that it takes.
COURSE = 500
SEED = 20

Disguise = Callable[[str, Language, random.Random], str]


def renamed(text: str, language: Language, dice: random.Random) -> str:
    """Every name of the source's own is another, every number another of its kind, no comment is left."""
    comment = r"//[^\n]*|/\*.*?\*/" if language is Language.CUDA else r"#[^\n]*"
    text = re.sub(comment, "", text, flags=re.DOTALL if language is Language.CUDA else 0)
    for name in sorted(own_names(text, language)):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}\b", f"q{dice.randrange(10**6)}", text)
    return re.sub(r"\b(32|64|128|256|512|1024)\b", lambda _: str(2 ** dice.randrange(5, 11)), text)


def reordered(text: str, language: Language, dice: random.Random) -> str:
    """Functions in another order, and neighbouring lines exchanged where neither needs the other."""
    functions = _functions(text, language)
    dice.shuffle(functions)
    lines = "".join(functions).splitlines()
    by_line = {each.line: each for each in statements("\n".join(lines), language)}
    own = own_names(text, language)
    at = 0
    while at + 1 < len(lines):
        if at + 1 in by_line and at + 2 in by_line and _independent(lines[at], lines[at + 1], own, language):
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
            at += 1
        at += 1
    return "\n".join(lines) + "\n"


def interleaved(text: str, language: Language, dice: random.Random) -> str:
    """After two lines of three within functions one that does nothing."""
    found: list[str] = []
    for line in text.splitlines():
        found.append(line)
        indent = re.match(r" *", line).group() if line.strip() else ""  # type: ignore[union-attr]
        plain = (
            line.rstrip().endswith(";")
            if language is Language.CUDA
            else re.match(r" +\w+ = .*[\w)\]]$", line)
        )
        if indent and plain and dice.random() < 0.67:
            name, number = f"extra{dice.randrange(10**6)}", dice.randrange(2, 999)
            found.append(dice.choice(_IDLE[language]).format(indent=indent, name=name, number=number))
    return "\n".join(found) + "\n"


_IDLE = {
    Language.CUDA: [
        "{indent}int {name} = threadIdx.x * {number} + 3;",
        "{indent}float {name} = {number}.0f; {name} += 1.0f;",
        "{indent}if ({number} < 0) return;",
        "{indent}const unsigned {name} = blockIdx.x ^ {number}u; (void){name};",
    ],
    Language.TRITON: [
        "{indent}{name} = {number}",
        "{indent}{name} = ({number} + 1) * 3",
        "{indent}{name} = min({number}, 77)",
    ],
}
DISGUISES: dict[str, list[Disguise]] = {
    "renamed": [renamed],
    "reordered": [renamed, reordered],
    "interleaved": [renamed, interleaved],
    "all": [reordered, interleaved, renamed],
}


def _functions(text: str, language: Language) -> list[str]:
    """The text in pieces that begin where a function does; what comes before the first is part of it."""
    start = (
        r"^(?=(?:template|__global__|static|extern|__device__)\b)"
        if language is Language.CUDA
        else r"^(?=@|def )"
    )
    pieces = re.split(start, text, flags=re.MULTILINE)
    joined: list[str] = []
    for piece in pieces:
        opened = joined and re.match(r"@|template", joined[-1]) and "\n    " not in joined[-1]
        if opened:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def _independent(first: str, second: str, own: frozenset[str], language: Language) -> bool:
    """Both assign, at one depth, different names that the other does not use."""
    if len(first) - len(first.lstrip()) != len(second) - len(second.lstrip()):
        return False
    end = r";$" if language is Language.CUDA else r"[\w)\]]$"
    form = rf"\s+(?:[\w:]+ )*?(\w+) = [^{{}}]*{end}"
    one, other = re.match(form, first), re.match(form, second)
    if one is None or other is None or _open(first) or _open(second):
        return False
    names = [set(re.findall(r"\w+", line)) & own for line in (first, second)]
    return one.group(1) not in names[1] and other.group(1) not in names[0]


def _open(line: str) -> bool:
    return line.count("(") != line.count(")")


def solutions() -> list[Source]:
    """Of every challenge, each by an author of its own."""
    return [
        Source(f"{path.parts[-3]}{path.suffix}", path.parts[-3], path.read_text(), language)
        for language in Language
        for path in sorted(SOLUTIONS.glob(f"*/staff/solution{language.suffix}"))
    ]


def copies(honest: list[Source], dice: random.Random) -> dict[str, tuple[Source, str]]:
    """``id`` -> (the copy, its disguise), of so many originals."""
    made = {}
    for number, original in enumerate(dice.sample(honest, COPIES)):
        name = list(DISGUISES)[number % len(DISGUISES)]
        text = original.text
        for disguise in DISGUISES[name]:
            text = disguise(text, original.language, dice)
        copy = Source(f"copy of {original.id}", f"copier {number}", text, original.language)
        made[original.id] = (copy, name)
    return made


def compared(sources: list[Source]) -> list[tuple[Pair, bool]]:
    """All pairs with whether they are reported, each language by itself."""
    found = []
    for language in Language:
        comparison = Comparison([each for each in sources if each.language is language], language)
        reported = {(pair.left, pair.right) for pair in comparison.pairs()}
        found += [(pair, (pair.left, pair.right) in reported) for pair in comparison.all_pairs()]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="keep the figures in benchmarks/results")
    parser.add_argument("--shown", type=int, default=5, help="pairs of independent work to print")
    options = parser.parse_args()
    dice = random.Random(SEED)
    honest = solutions()
    planted = copies(honest, dice)
    pairs = compared(honest + [copy for copy, _ in planted.values()])
    found: dict[str, dict[str, object]] = {}
    innocent: list[Pair] = []
    falsely: list[Pair] = []
    for pair, reported in pairs:
        ids = {pair.left, pair.right}
        original = next((id_ for id_ in ids if id_ in planted and planted[id_][0].id in ids), None)
        if original is not None:
            found[original] = {"disguise": planted[original][1], "found": reported, **figures(pair)}
        else:
            # So is a copy beside all but its original.
            innocent.append(pair)
            falsely += [pair] if reported else []
    for row in found.values():
        print(f"{'found' if row['found'] else 'MISSED':7} {row['disguise']:12} {shown(row)}")
    print(f"\nindependent work, {len(honest)} sources, most alike:")
    most = [figures(pair) for pair in innocent]
    for row in most[: options.shown]:
        print(f"  {shown(row)}")
    seconds = _seconds(honest, dice)
    hits = sum(bool(row["found"]) for row in found.values())
    print(f"\nfound {hits} of {COPIES}; falsely {len(falsely)}; {COURSE} sources in {seconds:.1f} s")
    if options.json:
        results = {
            "honest": len(honest),
            "copies": list(found.values()),
            "found": hits,
            "falsely": len(falsely),
        }
        time_taken = {"sources": COURSE, "seconds": round(seconds, 2)}
        keep("similarity", {**results, "most_alike_honest": most[:10], "course": time_taken})
    return int(hits < COPIES)


def figures(pair: Pair) -> dict[str, object]:
    shares = {"left_share": round(pair.left_share, 3), "right_share": round(pair.right_share, 3)}
    return {"left": pair.left, "right": pair.right, **shares, "bits": round(pair.bits, 1)}


def shown(row: dict[str, object]) -> str:
    return f"{row['left_share']:.2f} {row['right_share']:.2f} {row['bits']:7.1f} bits  {row['left']}  {row['right']}"


def _seconds(honest: list[Source], dice: random.Random) -> float:
    """For a course's worth of sources of one language, made of the solutions, disguised."""
    own = [each for each in honest if each.language is honest[0].language]
    many = [
        Source(
            str(number), str(number), renamed(dice.choice(own).text, own[0].language, dice), own[0].language
        )
        for number in range(COURSE)
    ]
    start = time.perf_counter()
    Comparison(many, own[0].language).pairs()
    return time.perf_counter() - start


if __name__ == "__main__":
    raise SystemExit(main())
