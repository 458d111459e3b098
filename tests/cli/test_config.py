"""The client's settings: precedence, and the file's place and contents."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import platformdirs
import pytest
from platformdirs import windows
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from grader import errors
from grader.cli import config, login, names
from tests.cli.conftest import Cli
from tests.cli.stub import Stub


def _write(text: str) -> Path:
    path = Path(config.path())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _shown(cli: Cli) -> dict[str, tuple[object, str]]:
    told = json.loads(cli("config", "--json").out)["settings"]
    return {each["name"]: (each["value"], each["source"]) for each in told}


def test_precedence_is_login_file_environment_flag(
    cli: Cli, server: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRADER_SERVER")
    assert _shown(cli)["server"] == (login.DEFAULT_SERVER, "default")
    login.keep("http://login.example", "ada", "grd_x")
    assert _shown(cli)["server"] == ("http://login.example", "login")
    assert cli("config", "set", "server", "http://file.example").code == 0
    assert _shown(cli)["server"] == ("http://file.example", "file")
    monkeypatch.setenv("GRADER_SERVER", "http://environment.example")
    assert _shown(cli)["server"] == ("http://environment.example", "environment")
    assert login.server() == "http://environment.example"
    server.answer("GET /submissions", {"submissions": [], "total": 0})
    assert cli("history", "--server", server.url).code == 0, "the flag is the strongest"
    assert len(server.asked) == 1
    assert "Authorization" not in server.asked[0].headers, "the token is another server's"
    assert cli("config").code == 0
    assert _shown(cli)["server"] == ("http://environment.example", "environment"), (
        "flags last for one command"
    )


def test_a_flag_overrides_the_device_of_the_file(cli: Cli, server: Stub) -> None:
    _write('device = "h200"\n')
    server.answer("GET /leaderboards/x", {})
    cli("leaderboard", "x")
    cli("leaderboard", "x", "--device", "cpu")
    boards = [asked.path.partition("?")[2] for asked in server.asked if "/leaderboards/" in asked.path]
    assert boards == ["device=h200", "device=cpu"]


def test_config_shows_the_source_of_each_setting(cli: Cli) -> None:
    path = _write('language = "cuda"\n')
    ran = cli("config")
    assert ran.code == 0
    told = " ".join(ran.out.split())
    assert "language cuda file" in told
    assert "browser true default" in told
    assert str(path) in ran.err
    assert "Not signed in to that server" in ran.err
    login.keep(login.DEFAULT_SERVER, "ada", "grd_secret")
    ran = cli("config")
    assert f"Signed in as ada; the token is in {login.path()}" in " ".join(ran.err.split("\n"))
    assert "grd_secret" not in ran.out + ran.err + cli("config", "--json").out


def test_set_changes_one_line_or_removes_it(cli: Cli) -> None:
    path = _write('# mine\nserver = "http://a"  # old\n\nbrowser = true\n')
    assert cli("config", "set", "server", 'http://b/"x').code == 0
    assert path.read_text() == '# mine\nserver = "http://b/\\"x"\n\nbrowser = true\n'
    assert config.value("server") == 'http://b/"x'
    assert cli("config", "set", "language", "triton").code == 0
    assert cli("config", "set", "server").code == 0
    assert path.read_text() == '# mine\n\nbrowser = true\nlanguage = "triton"\n'
    assert "does not set" in cli("config", "set", "server").err


def test_set_warns_if_a_stronger_source_overrides_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SERVER", "http://environment.example")
    ran = cli("config", "set", "server", "http://file.example")
    assert "GRADER_SERVER overrides it: http://environment.example" in ran.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["set", "sever", "x"], "Did you mean 'server'?"),
        (["set", "zzz"], "The settings are: server"),
        (["set", "language", "fortran"], "language: 'fortran' cannot be used."),
        (["set", "browser", "maybe"], "neither true nor false"),
    ],
)
def test_set_refuses_bad_settings(cli: Cli, args: list[str], words: str) -> None:
    ran = cli("config", *args)
    assert ran.code == errors.EXIT_USAGE
    assert words in ran.err
    assert not Path(config.path()).exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('device = "x"\nsever = "y"\n', ["line 2, sever", "Did you mean 'server'?"]),
        ("\n\nserver = 7\n", ["line 3, server: it must be text"]),
        ('browser = "yes"\n', ["line 1, browser: it must be true or false"]),
        ('\nlanguage = "fortran"\n', ["line 2, language: 'fortran' cannot be used", "cuda, triton"]),
        ("server = http://x\n", ["line 1"]),
        ("[server]\nurl = 1\n", ["line 1, server"]),
    ],
)
def test_a_bad_config_file_is_reported_with_line_and_key(cli: Cli, text: str, words: list[str]) -> None:
    path = _write(text)
    for command in (["history"], ["config"]):
        ran = cli(*command)
        assert ran.code == errors.EXIT_USAGE
        assert str(path) in ran.err
        assert all(word in ran.err for word in words), ran.err


def test_a_bad_environment_variable_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_BROWSER", "perhaps")
    ran = cli("config")
    assert ran.code == errors.EXIT_USAGE
    assert "GRADER_BROWSER: 'perhaps'" in ran.err


@pytest.mark.parametrize(
    ("system", "environment", "folder", "cache"),
    [
        ("linux", {}, "/home/ada/.config/grader", "/home/ada/.cache/grader"),
        ("linux", {"XDG_CONFIG_HOME": "/x", "XDG_CACHE_HOME": "/y"}, "/x/grader", "/y/grader"),
        ("darwin", {"XDG_CONFIG_HOME": "/x", "XDG_CACHE_HOME": "/y"}, "/x/grader", "/y/grader"),
        (
            "darwin",
            {},
            "/home/ada/Library/Application Support/grader",
            "/home/ada/Library/Caches/grader",
        ),
        (
            "win32",
            {"APPDATA": "/home/ada/AppData/Roaming", "LOCALAPPDATA": "/home/ada/AppData/Local"},
            "/home/ada/AppData/Roaming/grader",
            "/home/ada/AppData/Local/grader/Cache",
        ),
    ],
)
def test_folders_follow_each_systems_conventions(
    monkeypatch: pytest.MonkeyPatch, system: str, environment: dict[str, str], folder: str, cache: str
) -> None:
    classes = {"linux": Unix, "darwin": MacOS, "win32": windows.Windows}
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platformdirs, "PlatformDirs", classes[system])
    # Windows has its own call; here its variables answer.
    monkeypatch.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
    assert config.folder() == folder
    assert Path(login.path()).parent == Path(config.path()).parent == Path(folder)
    assert config.cache_folder() == str(names.folder()) == cache


def test_linux_folders_match_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert config.folder() == Unix("grader", appauthor=False).user_config_dir
    assert config.cache_folder() == Unix("grader", appauthor=False).user_cache_dir


def test_client_and_platform_share_no_variable() -> None:
    from grader.settings import Settings

    platform = {f"GRADER_{name.upper()}" for name in Settings.model_fields}
    assert not platform & {config.variable(name) for name in config.KEYS}


def test_a_server_address_is_checked_at_its_source(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = cli("config", "set", "server", "ftp://grader.example")
    assert (ran.code, "is not a server address" in ran.err) == (2, True)
    monkeypatch.setenv("GRADER_SERVER", "grader.example")
    ran = cli("history")
    assert (ran.code, "GRADER_SERVER: 'grader.example'" in ran.err) == (2, True)


def test_a_token_that_no_header_can_hold_is_refused(
    cli: Cli, server: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_TOKEN", "t\u00f6k\nen")
    ran = cli("history")
    assert (ran.code, server.asked) == (2, [])
    assert "GRADER_TOKEN" in ran.err
