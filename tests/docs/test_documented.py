"""The docs name every route, setting, command, word of reports and queues, exit code and metric.

Each test reads the names from the code and looks for them, as code, in the page that should have them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import pytest
import typer
from flask import Flask
from flask.testing import FlaskClient
from flask_openapi3.openapi import OpenAPI

from grader import errors
from grader.cli import config
from grader.cli.command import load
from grader.cli.output import EXIT_INTERRUPTED
from grader.cli.registry import COMMANDS
from grader.manual.pages import Manual
from grader.oidc_settings import OidcProvider
from grader.schemas.report import CaseVerdict, Flag, Verdict
from grader.schemas.submission import JudgingReason, State, WaitReason
from grader.schemas.token import Scope
from grader.settings import Settings
from grader.web.pages.api_reference import manual

ROOT = Path(__file__).resolve().parents[2]


def section(docs: Manual, page: str, anchor: str) -> str:
    (found,) = [each.text for each in docs.page(page).sections if each.anchor == anchor]
    return found


def rows(text: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines()]
    return {row[0].strip("`"): row[1:] for row in cells if len(row) > 1 and set(row[0]) - set("- ")}


def test_the_reference_documents_each_call_and_model(app: Flask, docs: Manual) -> None:
    with app.app_context():
        page = manual().page("api")
    titles = {section.title for section in page.sections}
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/api/") and rule.endpoint != "openapi_document":
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
            for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
                assert f"{method} {path}" in titles
    assert set(cast(OpenAPI, app).api_doc["components"]["schemas"]) <= titles
    assert page.text.startswith(docs.page("api").text.rstrip()), "what is written by hand comes first"
    for noise in ("object at 0x", "<function", "`None`", "PydanticUndefined"):
        assert noise not in page.text


def test_the_reference_of_the_api_is_served_and_found(client: FlaskClient) -> None:
    html = client.get("/docs/api").text
    assert 'id="post-apiv1submissions"' in html
    assert 'href="#submitbody"' in html
    assert 'href="/docs/api#post-apiv1submissions"' in client.get("/docs/search?q=/api/v1/submissions").text
    missing = client.get("/docs/reference/api")
    assert missing.status_code == 404
    assert 'href="/docs/api"' in missing.text.split("Did you mean")[1], "its address until 0.1.0"


def test_the_reference_documents_each_page(app: Flask, docs: Manual) -> None:
    found = re.findall(r"^\| `([^`]+)` \| (\w+) \| (.+) \|$", docs.page("reference/pages").text, re.MULTILINE)
    told = {(path, method): about for path, method, about in found}
    wanted = {
        (rule.rule, method)
        for rule in app.url_map.iter_rules()
        if not rule.rule.startswith("/api/")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert set(told) == wanted


def test_the_reference_documents_each_setting(docs: Manual) -> None:
    told = rows(docs.page("reference/settings").text)
    parts = [f"oidc__name__{part}" for part in OidcProvider.model_fields]
    for name in (*(field for field in Settings.model_fields if field != "oidc"), *parts):
        *_, meaning = told[f"GRADER_{name.upper()}"]
        assert meaning, f"{name} has no description"


def commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(f"{path} {name}", each)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_documents_each_command_and_option(docs: Manual, name: str) -> None:
    group: Any = typer.main.get_command(load(name))
    for path, command in commands(f"grader {name}", group.commands[name]):
        if command.hidden:
            continue
        told = section(docs, "reference/cli", path.replace(" ", "-"))
        for parameter in command.params:
            if getattr(parameter, "hidden", False) or parameter.name == "help":
                continue
            assert parameter.help, f"{path} {parameter.name} has no help"
            for option in (*parameter.opts, *parameter.secondary_opts):
                if option.startswith("-"):
                    assert f"`{option}`" in told, f"{path} {option}"
            if parameter.param_type_name == "argument":
                assert str(parameter.metavar or parameter.name).strip("[].").upper() in told.upper(), path


@pytest.mark.parametrize(
    ("words", "anchor"),
    [
        (Verdict, "verdicts"),
        (CaseVerdict, "how-one-case-ended"),
        (Flag, "flags"),
        (State, "states"),
        (WaitReason, "what-it-waits-for"),
        (JudgingReason, "kinds-of-judgement"),
    ],
)
def test_the_docs_explain_each_word_of_reports_and_queues(
    docs: Manual, words: type[StrEnum], anchor: str
) -> None:
    told = section(docs, "verdicts", anchor)
    assert [word.value for word in words if f"`{word.value}`" not in told] == []


@pytest.mark.parametrize(("words", "anchor"), [(Verdict, "verdicts"), (Flag, "flags")])
def test_each_verdict_and_flag_has_a_cause_and_a_remedy(
    docs: Manual, words: type[StrEnum], anchor: str
) -> None:
    told = rows(section(docs, "verdicts", anchor))
    assert set(told) - {"verdict", "flag"} == {word.value for word in words}
    assert all(cell for cells in told.values() for cell in cells)


def test_the_judging_page_explains_each_flag(docs: Manual) -> None:
    told = docs.page("judging").text
    raised = set(Flag) - {Flag.SIMILAR}  # by staff, not by the judge
    assert [flag.value for flag in raised if f"| `{flag.value}` |" not in told] == []


def test_the_docs_explain_each_kind_of_mismatch(docs: Manual) -> None:
    from grader.schemas.report import Mismatch

    kinds = (Mismatch.model_fields["kind"].description or "").split(", ")
    told = rows(section(docs, "verdicts", "kinds-of-mismatch"))
    assert set(told) - {"kind"} == set(kinds)


def exit_codes() -> set[str]:
    known = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    return {str(code) for code in known | {EXIT_INTERRUPTED}}


def test_the_docs_list_each_exit_code(docs: Manual) -> None:
    told = rows(section(docs, "command-line", "exit-codes"))
    assert set(told) - {"code"} == exit_codes()


def test_the_reference_documents_each_error(docs: Manual) -> None:
    told = rows(docs.page("reference/errors").text)

    def below(kind: type[errors.GraderError]) -> Iterator[type[errors.GraderError]]:
        for each in kind.__subclasses__():
            yield each
            yield from below(each)

    for kind in below(errors.GraderError):
        if kind.__module__ == "grader.errors":
            status, code, meaning = told[kind.code]
            assert (status, code) == (str(kind.status), str(kind.exit_code))
            assert meaning, f"{kind.__name__} has no docstring"


def test_the_docs_list_each_client_setting(docs: Manual) -> None:
    told = rows(section(docs, "command-line", "settings-of-the-client"))
    assert {name: cells[0].strip("`") for name, cells in told.items() if name != "key"} == {
        name: config.variable(name) for name in config.KEYS
    }


def test_the_docs_explain_each_token_scope(docs: Manual) -> None:
    told = rows(section(docs, "accounts", "tokens"))
    assert set(told) - {"scope"} == {scope.value for scope in Scope}


def figures() -> set[str]:
    """Names of metrics, read from the calls that make them."""
    found = set()
    for path in sorted((ROOT / "grader").rglob("*.py")):
        source = path.read_text()
        if "prometheus_client" in source:
            calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
            names = [node.args[0].value for node in calls if isinstance(node.args[0], ast.Constant)]
            found |= {name for name in names if re.fullmatch(r"grader_[a-z_]+", str(name))}
    return found


def test_the_docs_list_each_metric(docs: Manual) -> None:
    told = section(docs, "operating", "what-to-watch")
    assert len(figures()) >= 10
    missing = [
        name for name in sorted(figures()) if not re.search(rf"`{name}(_total)?(\{{[a-z,]+\}})?`", told)
    ]
    assert missing == []
