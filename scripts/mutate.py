"""Mutation tests of the modules whose errors cost most.

make mutate                          # every target
    make mutate ARGS="compare rule"      # those whose path contains a word
    make mutate ARGS=--json              # and keep the scores in benchmarks/results/mutation.json

Makes cosmic-ray's changes in a copy of the tree. Fails if a target kills less than 90 % of its mutants, a
survivor has no answer in tests/mutation/answered.toml, or an answer answers nothing.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import importlib.abc
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
ANSWERS = Path("tests/mutation/answered.toml")
KEPT = ROOT / "benchmarks/results/mutation.json"
LEAST_KILLED = 0.9

# The tests that notice most, and fast, come first.
TARGETS = {
    "grader/judge/compare.py": ("tests/judge/test_compare.py",),
    "grader/judge/rule.py": ("tests/judge/test_rule.py",),
    "grader/scoring.py": ("tests/test_scoring.py",),
    "grader/records/claims.py": ("tests/records/test_claims.py",),
    "grader/service/submissions/submit.py": (
        "tests/service/submissions/test_submit.py",
        "tests/service/queues/test_reuse.py",
        "tests/service/submissions/test_run.py",
    ),
    "web/access.py": ("tests/web/security/test_declarations.py",),
    "web/auth/csrf.py": ("tests/web/security/test_guards.py",),
    "web/auth/devices.py": ("tests/web/security/test_known_devices.py",),
    "web/auth/identity.py": ("tests/web/security/test_guards.py", "tests/web/security/test_access.py"),
    "web/auth/redirects.py": ("tests/web/test_sign_in.py",),
    "web/auth/scopes.py": ("tests/web/security/test_access.py",),
    "web/auth/sessions.py": ("tests/web/test_sign_in.py",),
}
# Without replacements that break at once: opposites and moved boundaries are the hard ones.
_BINARY = {
    "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Div", "Mod_FloorDiv", "Pow_Mul",
    "LShift_RShift", "RShift_LShift", "BitOr_BitAnd", "BitAnd_BitOr", "BitXor_BitAnd",
}  # fmt: skip
_COMPARISON = {
    "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is",
    "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt",
}  # fmt: skip
# A mutant may loop for ever, or the machine be busy.
TIMEOUT_FACTOR = 5
TIMEOUT_LEAST_S = 10.0
# These cost time.
_NO_PLUGINS = ("xdist", "schemathesis", "cacheprovider")


@dataclass(frozen=True)
class Mutant:
    """``was`` and ``becomes``: the changed lines, stripped."""

    path: str
    source: str
    line: int
    was: str
    becomes: str
    diff: str


@dataclass(frozen=True)
class Answer:
    """Why it may survive: it does the same, or differs in nothing that is promised."""

    path: str
    was: str
    becomes: str
    why: str

    def of(self, mutant: Mutant) -> bool:
        return (self.path, self.was, self.becomes) == (mutant.path, mutant.was, mutant.becomes)


@dataclass(frozen=True)
class Score:
    path: str
    total: int
    survivors: Sequence[Mutant]
    seconds: float

    @property
    def killed(self) -> int:
        return self.total - len(self.survivors)

    @property
    def share(self) -> float:
        return self.killed / self.total if self.total else 1.0


def mutants(path: str, source: str) -> list[Mutant]:
    """But those that equal it, or another, except for annotations."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    seen = {_meaning(source)}
    found = []
    for operator in (get_operator(name) for name in operator_names() if _is_used(name)):
        occurrence = 0
        while (changed := mutate_code(source, operator(), occurrence)) is not None:
            occurrence += 1
            if (meaning := _meaning(changed)) not in seen:
                seen.add(meaning)
                found.append(_mutant(path, source, changed))
    return sorted(found, key=lambda mutant: mutant.line)


def _is_used(name: str) -> bool:
    kind, _, what = name.rpartition("/")[2].partition("Operator_")
    if kind == "ReplaceBinary":
        return what in _BINARY
    if kind == "ReplaceComparison":
        return what in _COMPARISON
    if kind == "ReplaceUnary":
        return what.startswith("Delete_")
    # These need a variable.
    return kind not in ("VariableReplacer", "VariableInserter")


def _meaning(source: str) -> str:
    """Without annotations and what only a type checker sees."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None:
                setattr(node, name, ast.Constant(None))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.test, node.body = ast.Constant(False), [ast.Pass()]
    return ast.dump(tree)


def _mutant(path: str, source: str, changed: str) -> Mutant:
    before, after = source.splitlines(), changed.splitlines()
    codes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    first, last, new_first, new_last = next(code[1:] for code in codes if code[0] != "equal")
    return Mutant(
        path,
        changed,
        first + 1,
        " ".join(line.strip() for line in before[first:last]),
        " ".join(line.strip() for line in after[new_first:new_last]),
        "\n".join(difflib.unified_diff(before, after, path, path, f"line {first + 1}", n=1, lineterm="")),
    )


class _Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """``source`` runs in place of the module's file; without one, the import fails."""

    def __init__(self, name: str, path: Path, source: str | None) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        if self.source is None:
            raise ImportError(f"{fullname} is left for later")
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        assert self.source is not None
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)  # noqa: S102 - our own code, changed


class Tests:
    """One target's tests, each forked from a process with slow imports done."""

    def __init__(self, tree: Path, path: str) -> None:
        self.tree, self.path = tree, tree / path
        in_package = path if path.startswith("grader/") else f"grader/{path}"
        self.module = in_package.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        self.files = TARGETS[path]
        self.limit_s = 600.0

    def warm_up(self) -> None:
        """Run them once, then import what they imported unless it imports the target.

        Raises SystemExit if they fail.
        """
        listed = self.tree / "modules.json"
        self._check(self.start(self.path.read_text(), listed))
        blocked = _Instead(self.module, self.path, None)
        sys.meta_path.insert(0, blocked)
        for name in json.loads(listed.read_text()):
            if not name.startswith(("tests", "conftest", "_pytest", "__")):
                with suppress(ImportError):
                    importlib.import_module(name)
        sys.meta_path.remove(blocked)
        began = time.monotonic()
        self._check(self.start(self.path.read_text()))
        self.limit_s = max(TIMEOUT_LEAST_S, TIMEOUT_FACTOR * (time.monotonic() - began))

    def _check(self, child: _Child) -> None:
        if not child.passed():
            sys.exit(f"The tests of {self.path.name} fail as it is:\n{child.output()}")

    def start(self, source: str, list_modules: Path | None = None) -> _Child:
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self.tree.parent))
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.setsid()
                self._redirect(folder / "output")
                sys.meta_path.insert(0, _Instead(self.module, self.path, source))
                code = self._run(folder)
                if list_modules is not None:
                    list_modules.write_text(json.dumps(list(sys.modules)))
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        return _Child(pid, folder, time.monotonic() + self.limit_s)

    def _run(self, folder: Path) -> int:
        import pytest

        unused = [word for name in _NO_PLUGINS for word in ("-p", f"no:{name}")]
        # pytest cannot rewrite imported modules, and its warning is an error.
        quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        options = ["-x", "-q", "--hypothesis-seed=0", f"--basetemp={folder / 'tmp'}", *quiet, *unused]
        return int(pytest.main([*options, *self.files]))

    @staticmethod
    def _redirect(path: Path) -> None:
        with path.open("wb") as output, Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)


@dataclass
class _Child:
    """pytest as a session leader, so what it starts ends with it."""

    pid: int
    folder: Path
    deadline: float
    status: int | None = None

    def ended(self) -> bool:
        if self.status is not None:
            return True
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.status = status
        elif time.monotonic() > self.deadline:
            os.killpg(self.pid, signal.SIGKILL)
            self.status = os.waitpid(self.pid, 0)[1]
        return self.status is not None

    def passed(self) -> bool:
        while not self.ended():
            time.sleep(0.01)
        return self.status == 0

    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")[-4000:]


def judge(tree: Path, path: str, jobs: int) -> Score:
    """``jobs`` at a time."""
    began = time.monotonic()
    tests = Tests(tree, path)
    tests.warm_up()
    waiting = mutants(path, tests.path.read_text())[::-1]
    total, done = len(waiting), 0
    running: list[tuple[Mutant, _Child]] = []
    survivors: list[Mutant] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running.append((mutant, tests.start(mutant.source)))
        time.sleep(0.01)
        for mutant, child in [pair for pair in running if pair[1].ended()]:
            running.remove((mutant, child))
            if child.passed():
                survivors.append(mutant)
            shutil.rmtree(child.folder, ignore_errors=True)
            done += 1
            if done % 25 == 0 or done == total:
                took = time.monotonic() - began
                print(f"{path}: {done} of {total}, {len(survivors)} survive, {took:.0f} s", flush=True)
    survivors.sort(key=lambda survivor: survivor.line)
    return Score(path, total, survivors, time.monotonic() - began)


def _judge_apart(tree: Path, path: str, jobs: int) -> Score:
    """In a new process, because imports would affect the next target."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reading)
            score = judge(tree, path, jobs)
            lines = [survivor.__dict__ for survivor in score.survivors]
            with os.fdopen(writing, "w") as out:
                json.dump({"total": score.total, "survivors": lines, "seconds": score.seconds}, out)
            code = 0
        except SystemExit as why:
            print(why, file=sys.stderr)
        finally:
            sys.stdout.flush()
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as found:
        text = found.read()
    if os.waitpid(pid, 0)[1]:
        sys.exit(f"{path} was not judged.")
    told = json.loads(text)
    return Score(path, told["total"], [Mutant(**survivor) for survivor in told["survivors"]], told["seconds"])


@contextmanager
def copied_tree() -> Iterator[Path]:
    """Git's files, tracked or not, and the pages' needs; this process and its children use it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="grader-mutate-") as folder:
        tree = Path(folder) / "tree"
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).exists():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
        if (ROOT / "web/static/built").exists():
            shutil.copytree(ROOT / "web/static/built", tree / "web/static/built")
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        os.environ["PYTHONPATH"] = str(tree)
        yield tree


def answers(tree: Path) -> list[Answer]:
    """Raises TypeError if one lacks a part."""
    return [Answer(**answer) for answer in tomllib.loads((tree / ANSWERS).read_text())["answer"]]


def report(scores: Sequence[Score], known: Sequence[Answer]) -> bool:
    """True without survivors or errors."""
    fine = True
    for score in scores:
        for mutant in score.survivors:
            answer = next((answer for answer in known if answer.of(mutant)), None)
            fine = fine and answer is not None
            print(f"\n{mutant.diff}\n{'Survives: ' + answer.why if answer else 'SURVIVES WITHOUT AN ANSWER'}")
    print()
    judged = {score.path for score in scores}
    survivors = [mutant for score in scores for mutant in score.survivors]
    for idle in [
        answer for answer in known if answer.path in judged and not any(answer.of(one) for one in survivors)
    ]:
        fine = False
        print(f"An answer that answers nothing: {idle.path}: {idle.was}  ->  {idle.becomes}")
    for score in scores:
        enough = score.share >= LEAST_KILLED
        fine = fine and enough
        few = "" if enough else f"  FEWER THAN {LEAST_KILLED:.0%}"
        print(f"{score.path:<27} {score.killed:4} of {score.total:4} killed {score.share:7.1%}{few}")
    return fine


def keep(scores: Sequence[Score], known: Sequence[Answer], seconds: float) -> None:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from importlib.metadata import version

    from results import commit, machine, today, versions

    rows = [
        {
            "module": score.path,
            "mutants": score.total,
            "killed": score.killed,
            "percent": round(100 * score.share, 1),
            "answered": sum(any(answer.of(one) for answer in known) for one in score.survivors),
        }
        for score in scores
    ]
    used = versions() | {name: version(name) for name in ("cosmic-ray", "pytest")}
    kept = {
        "benchmark": "mutation",
        "device": machine(),
        "measured": today(),
        "versions": used,
        "commit": commit(),
    }
    KEPT.write_text(
        json.dumps({**kept, "figures": {"seconds": round(seconds), "rows": rows}}, indent=2) + "\n"
    )


def main() -> int:
    options = _options()
    chosen = [
        target for target in TARGETS if not options.names or any(name in target for name in options.names)
    ]
    if not chosen:
        sys.exit(f"No target's path contains {' or '.join(options.names)}. Targets: {', '.join(TARGETS)}.")
    began = time.monotonic()
    with copied_tree() as tree:
        known = answers(tree)
        import torch  # noqa: F401 - all that is slow to import, once

        scores = [_judge_apart(tree, target, options.jobs) for target in chosen]
        os.chdir(ROOT)
    seconds = time.monotonic() - began
    fine = report(scores, known)
    print(f"{seconds:.0f} s")
    if options.json:
        keep(scores, known, seconds)
    return 0 if fine else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="WORD", help="parts of the targets' paths")
    parser.add_argument("--json", action="store_true", help=f"keep the scores in {KEPT.relative_to(ROOT)}")
    parser.add_argument("--jobs", type=int, default=2, help="mutants to test at a time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
