"""Whether copies, and nothing else, are found among independent work, and how fast.

``benchmarks/homework`` holds 100 sources of one assignment, each written independently: a course's usual case, with
the starter and the staff's solution as background. The staff's solutions of all challenges are the other set. In
each, 20 copies are disguised: renamed, lines and functions in another order, other lines mixed in, or all of these.

Usage: python benchmarks/similarity.py [--json] [--shown N]
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep

from grader.languages import Language
from grader.similarity.comparison import LEAST_SHARE, Comparison, Pair, Source, least_bits
from grader.similarity.statements import own_names, statements

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS, HOMEWORK = ROOT / "reference", ROOT / "benchmarks" / "homework"
COPIES = 20
# The size of a large course, for the time that it takes.
COURSE = 500
SEED = 20
# More draws of originals, because twenty are too few to tell how often a copy is missed.
MORE_DRAWS = 9

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


@dataclass
class Group:
    """Sources to compare. ``planted``: the copy and its disguise by the original's id."""

    honest: list[Source]
    background: list[Source] = field(default_factory=list)
    starter: str = ""
    planted: dict[str, tuple[Source, str]] = field(default_factory=dict)


def homework() -> list[Group]:
    """By challenge and language, as a platform compares an assignment."""
    groups = []
    for folder in sorted(path for path in HOMEWORK.iterdir() if path.is_dir()):
        for language in Language:
            texts = sorted(folder.glob(f"*{language.suffix}"))
            honest = [
                Source(f"{folder.name}/{path.name}", path.stem, path.read_text(), language) for path in texts
            ]
            staff = SOLUTIONS / folder.name / "staff" / f"solution{language.suffix}"
            solution = Source(f"{folder.name}, staff", "staff", staff.read_text(), language, reported=False)
            starter = ROOT / "challenges" / folder.name / f"starter{language.suffix}"
            groups.append(Group(honest, [solution], starter.read_text()))
    return groups


def solutions() -> list[Group]:
    """Solutions of every challenge by language, each as another author's."""
    return [
        Group(
            [
                Source(f"{path.parts[-3]}{path.suffix}", path.parts[-3], path.read_text(), language)
                for path in sorted(SOLUTIONS.glob(f"*/staff/solution{language.suffix}"))
            ]
        )
        for language in Language
    ]


def plant(groups: list[Group], dice: random.Random) -> None:
    """Copies of this many originals, each disguise equally often."""
    all_honest = [(group, source) for group in groups for source in group.honest]
    for number, (group, original) in enumerate(dice.sample(all_honest, COPIES)):
        name = list(DISGUISES)[number % len(DISGUISES)]
        text = original.text
        for disguise in DISGUISES[name]:
            text = disguise(text, original.language, dice)
        copy = Source(f"copy of {original.id}", f"copier {number}", text, original.language)
        group.planted[original.id] = (copy, name)


@dataclass
class Found:
    """Rows of planted pairs, and of independent pairs, most alike first."""

    copies: list[dict[str, Any]] = field(default_factory=list)
    innocent: list[dict[str, Any]] = field(default_factory=list)

    @property
    def hits(self) -> int:
        return sum(row["found"] for row in self.copies)

    @property
    def falsely(self) -> list[dict[str, Any]]:
        return [row for row in self.innocent if row["found"]]

    def separation(self) -> dict[str, Any]:
        """How far copies and independent work differ. ``bits_of_least``: a pair must share 1."""
        enough = [row["share"] for row in self.innocent if row["bits_of_least"] >= 1]
        return {
            "least_share": LEAST_SHARE,
            "lowest_planted_share": min(row["share"] for row in self.copies),
            "highest_honest_share": max(row["share"] for row in self.innocent),
            "highest_honest_share_with_bits_enough": max(enough, default=0.0),
            "lowest_planted_bits_of_least": min(row["bits_of_least"] for row in self.copies),
        }


def searched(groups: list[Group]) -> Found:
    found = Found()
    for group in groups:
        copies = {copy.id: (original, name) for original, (copy, name) in group.planted.items()}
        sources = [*group.honest, *group.background, *(copy for copy, _ in group.planted.values())]
        comparison = Comparison(sources, group.honest[0].language, group.starter)
        reported = {(pair.left, pair.right) for pair in comparison.pairs()}
        unseen = dict(copies)
        for pair in comparison.all_pairs():
            row = figures(pair, comparison.authors) | {"found": (pair.left, pair.right) in reported}
            copied = next((name for name in (pair.left, pair.right) if name in copies), None)
            if copied and copies[copied][0] in (pair.left, pair.right):
                unseen.pop(copied)
                found.copies.append({"disguise": copies[copied][1], **row})
            else:
                # So is a copy with all but its original.
                found.innocent.append(row)
        for copied, (original, name) in unseen.items():
            nothing = dict.fromkeys(("share", "left_share", "right_share", "bits", "bits_of_least"), 0.0)
            row = {"disguise": name, "left": original, "right": copied, **nothing, "found": False}
            found.copies.append(row)
    found.innocent.sort(key=lambda row: -row["share"])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="keep the figures in benchmarks/results")
    parser.add_argument("--shown", type=int, default=5, help="pairs of independent work to print")
    options = parser.parse_args()
    kept: dict[str, Any] = {}
    for name, groups in (("homework", homework()), ("solutions", solutions())):
        plant(groups, random.Random(SEED))
        found = searched(groups)
        honest = sum(len(group.honest) for group in groups)
        print(f"{name}, {honest} sources:")
        for row in found.copies:
            print(f"  {'found' if row['found'] else 'MISSED':7} {row['disguise']:12} {shown(row)}")
        print("  independent work, most alike:")
        for row in found.innocent[: options.shown]:
            print(f"  {'FALSELY' if row['found'] else '':20} {shown(row)}")
        print(f"  found {found.hits} of {COPIES}; falsely {len(found.falsely)}; {found.separation()}\n")
        kept[name] = {
            "honest": honest,
            "found": found.hits,
            "falsely": len(found.falsely),
            "separation": found.separation(),
            "copies": found.copies,
            "most_alike_honest": found.innocent[:12],
        }
    kept["homework"]["more_draws"] = more = _more_draws()
    print(f"in {MORE_DRAWS} more draws from the homework: {more}")
    wall, processor = _seconds(random.Random(SEED))
    print(f"{COURSE} sources in {wall:.1f} s, {processor:.1f} s of one core")
    if options.json:
        took = {"sources": COURSE, "seconds": round(wall, 2), "core_seconds": round(processor, 2)}
        keep("similarity", {**kept, "course": took})
    homework_kept = kept["homework"]
    return int(any(row["found"] < COPIES for row in kept.values()) or homework_kept["falsely"] > 0)


def _more_draws() -> dict[str, Any]:
    found = []
    for seed in range(SEED + 1, SEED + 1 + MORE_DRAWS):
        groups = homework()
        plant(groups, random.Random(seed))
        found.append(searched(groups))
    missed = [row for each in found for row in each.copies if not row["found"]]
    return {
        "copies": MORE_DRAWS * COPIES,
        "found": sum(each.hits for each in found),
        "falsely": sum(len(each.falsely) for each in found),
        "lowest_planted_share": min(each.separation()["lowest_planted_share"] for each in found),
        "highest_honest_share": max(each.separation()["highest_honest_share"] for each in found),
        "missed": [
            {key: row[key] for key in ("left", "disguise", "share", "bits", "bits_of_least")}
            for row in missed
        ],
    }


def figures(pair: Pair, authors: int) -> dict[str, Any]:
    """``bits_of_least``: the shared bits over those that a pair among this many authors must share."""
    return {
        "left": pair.left,
        "right": pair.right,
        "share": round(pair.share, 3),
        "left_share": round(pair.left_share, 3),
        "right_share": round(pair.right_share, 3),
        "bits": round(pair.bits, 1),
        "bits_of_least": round(pair.bits / least_bits(authors), 2),
    }


def shown(row: dict[str, Any]) -> str:
    return f"{row['left_share']:.2f} {row['right_share']:.2f} {row['bits']:7.1f} bits  {row['left']}  {row['right']}"


def _seconds(dice: random.Random) -> tuple[float, float]:
    """For a course's worth of sources of one language, the homework's and the staff's, disguised: by the wall's clock,
    and of one core."""
    texts = [honest.text for group in homework() + solutions() for honest in group.honest]
    texts = [text for text in texts if "__global__" in text]
    many = [
        Source(str(number), str(number), renamed(dice.choice(texts), Language.CUDA, dice), Language.CUDA)
        for number in range(COURSE)
    ]
    wall, processor = time.perf_counter(), time.process_time()
    Comparison(many, Language.CUDA).pairs()
    return time.perf_counter() - wall, time.process_time() - processor


if __name__ == "__main__":
    raise SystemExit(main())
