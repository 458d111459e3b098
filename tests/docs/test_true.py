"""Numbers and commands in the docs are right."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from grader import limits
from grader.cli.command import load
from grader.cli.registry import COMMANDS
from grader.judge.arena import ALIGNMENT
from grader.manual.pages import Manual
from grader.oidc_settings import OidcProvider
from grader.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
# Variables that are not settings of a platform.
OTHERS = {
    "GRADER_SERVER",
    "GRADER_TOKEN",
    "GRADER_DEBUG",
    "GRADER_BROWSER",
    "GRADER_PROVE",
    "GRADER_REQUIRE",
    "GRADER_TEST_SEED",
    "GRADER_COMMIT",
}
OTHERS |= {"GRADER_CLIENT_DEVICE", "GRADER_CLIENT_LANGUAGE"}
LIMITS = {
    "a source": f"{limits.SOURCE_BYTES // limits.KIB} KiB",
    "submissions of yours for one challenge": f"{limits.QUOTA} in {limits.QUOTA_HOURS:g} hours",
    "submissions of yours that wait or run at once": f"{limits.WAITING_PER_USER} ",
    "submits in a minute": f"{limits.SUBMIT_PER_MINUTE}, and as many runs",
    "runs of yours": f"{limits.RUNS_PER_HOUR} in an hour",
    "runs of yours that wait or run at once": f"{limits.RUNS_AT_ONCE} ",
    "a [batch](api.md#batches) of yours": f"{limits.BATCH_ENTRIES:,} lines and {limits.BATCH_BYTES // limits.MIB} MiB; "
    f"{limits.BATCHES_AT_ONCE} that have not ended",
    "compiling": f"{limits.COMPILE_SECONDS:g} s of processor time, {limits.COMPILE_MEMORY_BYTES // limits.GIB} GiB",
    "compiling Triton's kernels on a GPU": f"{limits.KERNELS_OF_CALL_SECONDS:g} s in one call and "
    f"{limits.KERNELS_OF_SUBMISSION_SECONDS:g} s in all of a submission",
    "loading a module": f"{limits.LOAD_SECONDS:g} s of processor time",
    "one call of one case on a GPU": f"{limits.CASE_SECONDS:g} s by the clock",
    "one call of one case without one": f"{limits.CASE_CPU_SECONDS:g} s of processor time",
    "memory of the process without a GPU": f"{limits.BOX_MEMORY_BYTES // limits.GIB} GiB",
    "files in `/tmp`": f"{limits.BOX_TMP_BYTES // limits.MIB} MiB",
    "processes and threads": f"{limits.BOX_PIDS}",
    "what it prints": f"{limits.OUTPUT_BYTES // limits.MIB} MiB in all; {limits.OUTPUT_KEPT_BYTES // limits.KIB} KiB",
    "judging as a whole": f"{limits.BOX_WALL_SECONDS:g} s",
}


@pytest.mark.parametrize("what", LIMITS)
def test_each_limit_matches_the_rules_page(docs: Manual, what: str) -> None:
    (told,) = re.findall(rf"^\| {re.escape(what)} \| (.+) \|$", docs.page("rules").text, re.MULTILINE)
    assert told.startswith(LIMITS[what])


def test_runs_are_limited_by_the_minute_as_submits_are() -> None:
    assert limits.RUN_PER_MINUTE == limits.SUBMIT_PER_MINUTE


def test_the_documented_memory_of_a_gpu_host_is_right() -> None:
    assert limits.GPU_BOX_MEMORY_BYTES == 24 * limits.GIB


def test_the_documented_alignment_is_right(docs: Manual) -> None:
    assert f"Every array begins at a multiple of {ALIGNMENT} bytes" in docs.page("interface").text


def test_the_compiler_flags_match_the_interface_page(docs: Manual) -> None:
    source = (ROOT / "sandbox" / "runner" / "compile.py").read_text()
    (body,) = re.findall(r"^    return \[\n(        \"-shared\".+?)^    \]", source, re.MULTILINE | re.DOTALL)
    said = re.findall(r'"(-[^"{]+|-fPIC)"', body.partition("*([")[0])
    (told,) = re.findall(r"^nvcc (.+)$", docs.page("interface").text, re.MULTILINE)
    assert told.split()[: len(said)] == said


def mentioned(text: str) -> list[list[str]]:
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    found = [re.search(r"(?:^|/|&& |\$ )grader ([a-z].*)", line.strip()) for line in lines]
    return [match[1].partition(" #")[0].split() for match in found if match]


def test_the_scanner_finds_command_lines() -> None:
    text = "See `grader show SLUG`.\n\n```sh\n.venv/bin/grader up   # all\nGRADER_X=1 cmd && grader user add ada\n```\n"
    assert mentioned(text) == [["up"], ["user", "add", "ada"], ["show", "SLUG"]]


def test_each_documented_command_exists(docs: Manual) -> None:
    wrong = []
    for page in docs.pages:
        for words in mentioned(page.text):
            if not known(words):
                wrong.append(f"{page.name}: grader {' '.join(words)}")
    assert wrong == []


def known(words: list[str]) -> bool:
    if words[0] not in COMMANDS:
        return False
    group: Any = typer.main.get_command(load(words[0]))
    command, rest = group.commands[words[0]], words[1:]
    while hasattr(command, "commands") and rest and re.fullmatch(r"[a-z-]+", rest[0]):
        if rest[0] not in command.commands:
            return False
        command, rest = command.commands[rest[0]], rest[1:]
    names = {name for each in getattr(command, "params", ()) for name in (*each.opts, *each.secondary_opts)}
    options = [word.partition("=")[0] for word in rest if word.startswith("--")]
    return hasattr(command, "commands") or set(options) <= names | {"--help"}


def test_each_documented_setting_exists(docs: Manual) -> None:
    known = {f"GRADER_{name.upper()}" for name in Settings.model_fields} | OTHERS
    known |= {f"GRADER_OIDC__NAME__{name.upper()}" for name in OidcProvider.model_fields}
    for page in docs.pages:
        named = set(re.findall(r"\bGRADER_[A-Z0-9_]*[A-Z0-9]\b", page.text))
        # The operator chooses the provider's name in the middle.
        named = {re.sub(r"^(GRADER_OIDC__)[A-Z0-9]+__", r"\1NAME__", name) for name in named}
        assert named - known == set(), page.name
