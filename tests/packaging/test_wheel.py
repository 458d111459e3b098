"""The wheel and the sdist, really built and the wheel really installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import textwrap
import venv
import zipfile
from pathlib import Path

import pytest

from grader.client_wheel import client_wheel

ROOT = Path(__file__).resolve().parents[2]


def build(source: Path, out: Path, *what: str, platform: str = "any", flags: str = "") -> Path:
    """Build with this environment's hatchling, without an index. ``platform``: such as linux-x86_64; a wheel
    for any has no engine of the emulated GPU, which takes long to compile. ``flags``: more of the engine's
    compiler.
    """
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(out), str(source)]
    environment = os.environ | {"_PYTHON_HOST_PLATFORM": platform, "CFLAGS": flags}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("sdist"), "--sdist")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "--wheel")


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the wheel and our third-party packages."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    inside = folder / "bin" / "python"
    site = Path(_run(inside, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    install(inside, wheel)
    # Appended, so that the wheel's modules are found first. A .pth in that folder (our own checkout) is not
    # read.
    (site / "third_party.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return inside


def install(python: Path, wheel: Path | str) -> None:
    """``wheel``: its file, or its address."""
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    ran = subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", str(wheel)],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def _run(python: Path, *arguments: str) -> str:
    ran = subprocess.run(
        [str(python), "-I", *arguments], cwd="/", capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_holds_one_package_with_the_folders_that_the_links_point_to(wheel: Path) -> None:
    names = _names(wheel)
    assert {name.split("/")[0] for name in names} == {"grader", "kernel_grader-0.1.0.dist-info"}
    for path in (
        "sandbox/box.py",
        "sandbox/runner/main.py",
        "web/app.py",
        "records/migrations/env.py",
        "py.typed",
    ):
        assert f"grader/{path}" in names
    assert any(name.startswith("grader/web/templates/") and name.endswith(".html") for name in names)
    assert any(name.startswith("grader/web/static/") for name in names)


def test_wheel_has_the_catalogue_without_staff_files(wheel: Path) -> None:
    names = _names(wheel)
    assert "grader/catalogue/challenges/vector_add/challenge.toml" in names
    assert "grader/catalogue/reference/vector_add/reference.py" in names
    forbidden = ("staff", "hidden_cases", "solution", "mutants", "answers")
    assert [
        name
        for name in names
        if any(word in name.split("/catalogue/")[-1] for word in forbidden) and "/catalogue/" in name
    ] == []


def test_wheel_has_no_litter(wheel: Path) -> None:
    assert [
        name for name in _names(wheel) if "__pycache__" in name or name.endswith((".pyc", ".sqlite3"))
    ] == []


def test_the_editor_travels_as_it_was_built_and_without_its_sources(wheel: Path) -> None:
    """git ignores Node's output, and users have no Node."""
    names = {name.removeprefix("grader/web/") for name in _names(wheel)}
    built = ROOT / "web" / "static" / "built" / "editor.js"
    assert ("static/built/editor.js" in names) == built.exists()
    assert [name for name in names if name.startswith("client/") or "node_modules" in name] == []


def test_the_client_that_a_server_offers_holds_what_the_wheel_holds(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "ours.whl").write_bytes(client_wheel().content)
    built, ours = _names(wheel), _names(tmp_path / "ours.whl")
    left_out = ("grader/catalogue/", "grader/manual/docs/", "grader/web/static/built/")
    lacking = {name for name in built - ours if "/licenses/" not in name}
    assert {name for name in lacking if not name.startswith(left_out)} == set()
    assert ours - built == set()


@pytest.mark.in_turn
def test_wheel_from_sdist_is_the_same(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    assert _names(build(source, tmp_path / "out", "--wheel")) == _names(wheel)


def _without_links(folder: Path, sdist: Path) -> Path:
    """A checkout as on Windows: a clone, or, without git, the sdist with files for links."""
    if (ROOT / ".git").exists():
        options = ["-c", f"safe.directory={ROOT}", "-c", "core.symlinks=false"]
        clone = folder / "clone"
        subprocess.run(
            ["git", *options, "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True
        )
        return clone
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    for name in ("sandbox", "web"):
        (source / "grader" / name).write_text(f"../{name}")
    return source


@pytest.mark.in_turn
def test_a_checkout_without_links_builds_and_runs(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    clone = _without_links(tmp_path, sdist)
    assert (clone / "grader" / "web").read_text() == "../web"
    built = _names(build(clone, tmp_path / "out", "--wheel"))
    assert built >= {"grader/sandbox/box.py", "grader/web/app.py", "grader/web/templates/base.html"}
    assert {name.split("/")[0] for name in built} == {name.split("/")[0] for name in _names(wheel)}
    code = "import grader.cli.main, grader.sandbox.box, grader.web.app; print(grader.web.app.__file__)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=clone,
        env=os.environ | {"PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert Path(ran.stdout.strip()) == clone / "web" / "app.py"


def test_sdist_holds_what_development_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        "Makefile",
        "LICENSE",
        "tests/components.py",
        "scripts/setup",
        "reference/vector_add/staff/solution.py",
    }
    assert wanted <= names


def test_installed_command_lists_itself(python: Path) -> None:
    command = python.parent / "grader"
    ran = subprocess.run(
        [str(command), "--help"], cwd="/", capture_output=True, text=True, check=True, timeout=60
    )
    assert "Usage: grader COMMAND" in ran.stdout


def test_catalogue_is_found_in_the_installation(python: Path) -> None:
    code = """
        from pathlib import Path
        import grader
        from grader.challenge.catalogue import find_catalogue
        catalogue = find_catalogue()
        assert catalogue.root == Path(grader.__file__).parent / "catalogue", catalogue.root
        for challenge in catalogue.all():
            assert challenge.cases and challenge.spec and not challenge.hidden_cases
        print(*catalogue.slugs())
    """
    assert "vector_add" in _run(python, "-c", textwrap.dedent(code)).split()


def test_docs_are_served_by_the_installation(python: Path, tmp_path: Path) -> None:
    code = f"""
        from pathlib import Path
        import grader
        from grader.manual.pages import manual
        from grader.service.platform import open_platform
        from grader.settings import Settings
        from grader.web.app import create_app
        assert manual().folder == Path(grader.__file__).parent / "manual" / "docs", manual().folder
        folder = {str(tmp_path)!r}
        platform = open_platform(Settings(data_dir=Path(folder), redis_url=f"unix://{{folder}}/nobody.sock"))
        client = create_app(platform).test_client()
        for page in manual().pages:
            address = "/docs" if page.name == "index" else f"/docs/{{page.name}}"
            assert client.get(address).status_code == 200, address
            print(page.name)
        platform.close()
    """
    pages = {str(path.relative_to(ROOT / "docs").with_suffix("")) for path in (ROOT / "docs").rglob("*.md")}
    assert set(_run(python, "-c", textwrap.dedent(code)).split()) == pages


@pytest.mark.parametrize("name", ["web", "sandbox", "challenges", "reference", "tests"])
def test_nothing_is_importable_by_a_bare_name(python: Path, name: str) -> None:
    code = f"""
        try:
            import {name}
        except ImportError:
            print("refused")
    """
    assert _run(python, "-c", textwrap.dedent(code)).strip() == "refused"


def test_importing_the_package_loads_nothing_heavy(python: Path) -> None:
    code = """
        import sys
        import grader, grader.cli.main
        heavy = {"flask", "docker", "redis", "torch", "typer", "rich", "pydantic", "sqlalchemy", "http"}
        print(*sorted(heavy & set(sys.modules)))
    """
    assert _run(python, "-c", textwrap.dedent(code)).strip() == ""


@pytest.mark.parametrize("name", ["web", "sandbox"])
def test_folders_of_the_checkout_refuse_their_bare_name(name: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", f"import {name}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode != 0
    assert f"import grader.{name}" in ran.stderr
