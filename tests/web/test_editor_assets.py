"""The part of the editor that Node builds: sources, build script, and pages without it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.web import assets
from tests.components import need
from tests.web.conftest import Visit

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "web" / "client"
PAGE = "/challenges/vector_add"


@pytest.fixture(autouse=True)
def _fresh_digests() -> Iterator[None]:
    assets._digest.cache_clear()
    yield
    assets._digest.cache_clear()


@pytest.fixture
def database() -> str:
    """One is enough: it does not affect the served files."""
    return ""


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "static"
    shutil.copytree(ROOT / "web" / "static", copy, ignore=shutil.ignore_patterns("built"))
    monkeypatch.setattr(assets, "_STATIC", copy)
    return copy


def scripts(page: str) -> list[str]:
    return re.findall(r'<script src="/static/([^"?]+)\?', page)


def test_without_the_built_file_the_page_does_not_ask_for_it(static: Path, visit: Visit) -> None:
    page = visit(None).get(PAGE).text
    assert "editor.js" in scripts(page)
    assert "built/editor.js" not in scripts(page)
    assert "Vim keys" not in page


def test_the_page_loads_the_built_file_last_by_its_hash(static: Path, visit: Visit) -> None:
    (static / "built").mkdir()
    (static / "built" / "editor.js").write_text("// made by Node")
    page = visit(None).get(PAGE).text
    assert scripts(page)[-1] == "built/editor.js"
    assert re.search(r'built/editor\.js\?v=[0-9a-f]{12}" defer', page)
    assert "Vim keys" in page
    assert "built/editor.js" not in scripts(visit(None).get("/").text)


def test_each_answer_has_a_fresh_style_nonce(visit: Visit) -> None:
    client, seen = visit(None), set()
    for _ in range(2):
        answer = client.get(PAGE)
        nonce = re.search(r'data-style-nonce="([\w-]{20,})"', answer.text)
        assert nonce
        policy = answer.headers["Content-Security-Policy"]
        assert f"style-src 'self' 'nonce-{nonce[1]}';" in policy
        assert "script-src 'self';" in policy
        seen.add(nonce[1])
    assert len(seen) == 2
    assert "nonce" not in client.get("/").headers["Content-Security-Policy"]


def test_packages_are_pinned_without_an_index() -> None:
    wanted = json.loads((CLIENT / "package.json").read_text())["dependencies"]
    lock = (CLIENT / "package-lock.json").read_text()
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    assert "http" not in lock
    assert '"resolved"' not in lock
    packages = {name: entry for name, entry in json.loads(lock)["packages"].items() if name}
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())


def test_the_javascript_unit_tests_pass() -> None:
    need("node")
    tests = sorted(str(path) for path in (CLIENT / "test").glob("*.test.js"))
    assert len(tests) >= 3
    done = subprocess.run(
        ["node", "--test", *tests], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout


def build(root: Path, path: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": path, "HOME": str(root)}
    return subprocess.run(
        ["/bin/sh", str(root / "scripts" / "build_client")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("node_modules")
    shutil.copytree(CLIENT, root / "web" / "client", ignore=ignored)
    (root / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "build_client", root / "scripts")
    return root


def programs(folder: Path, *names: str, **scripts: str) -> str:
    """A PATH with those system programs, and those scripts instead of others."""
    folder.mkdir()
    for name in ("sh", "cat", "cksum", "tr", "head", "sed", "mktemp", "rm", "tail", "dirname", *names):
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_a_machine_without_node_gets_a_message_and_set_up_goes_on(checkout: Path, tmp_path: Path) -> None:
    done = build(checkout, programs(tmp_path / "bin"))
    assert done.returncode == 0, done.stderr
    assert "plain text area" in done.stdout
    assert not (checkout / "web" / "static").exists()


def test_neither_an_absent_network_nor_a_failed_build_stops_set_up(checkout: Path, tmp_path: Path) -> None:
    away = programs(tmp_path / "a", node="exit 0", npm="echo nobody answers; exit 1")
    done = build(checkout, away)
    assert done.returncode == 0
    assert "nobody answers" in done.stdout
    assert "could not be fetched" in done.stdout
    broken = programs(
        tmp_path / "b", node='[ "$1" = build.js ] && { echo broken; exit 1; }; exit 0', npm="exit 0"
    )
    done = build(checkout, broken)
    assert done.returncode == 0
    assert "could not be built" in done.stdout


def test_the_editor_is_rebuilt_only_if_its_sources_changed(checkout: Path, tmp_path: Path) -> None:
    # Replaces Node: writes the real one's first line, and counts.
    node = """[ "$1" = build.js ] || exit 0
echo "/* sources $2; a bundle" > ../static/built/editor.js
echo built >> ../static/built/count"""
    path = programs(tmp_path / "bin", node=node, npm="exit 0")
    built = checkout / "web" / "static" / "built"
    built.mkdir(parents=True)
    for _ in range(2):
        assert build(checkout, path).returncode == 0
    assert (built / "count").read_text() == "built\n"
    with (checkout / "web" / "client" / "src" / "main.js").open("a") as source:
        source.write("// changed\n")
    build(checkout, path)
    assert (built / "count").read_text() == "built\nbuilt\n"


def test_the_built_editor_is_complete() -> None:
    """If it was built: it has its stamp, its licences, and nothing that the policy would refuse."""
    need("node")
    built = ROOT / "web" / "static" / "built"
    if not (built / "editor.js").exists():
        if os.environ.get("GRADER_REQUIRE"):
            pytest.fail("make setup built no editor")
        pytest.skip("nothing was built")
    text = (built / "editor.js").read_text()
    assert text.startswith("/* sources ")
    assert "eval(" not in text
    assert "new Function" not in text
    licences = (built / "licences.txt").read_text()
    for name in ("@codemirror/view", "@replit/codemirror-vim", "@lezer/highlight", "style-mod"):
        assert name in licences
    assert licences.count("MIT") >= 10
