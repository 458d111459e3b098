"""`grader doctor --security`: every check on a host where it fails and one where it passes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from grader.cli import security_checks as security
from grader.cli.checks import Finding, Level
from grader.sandbox.docker_engine import EngineFacts
from grader.settings import Settings
from tests.cli.conftest import Cli

GOOD = EngineFacts(("runc",), 2, frozenset({"seccomp", "apparmor", "userns"}), "27.1.0")


def levels(checks: list[Finding]) -> dict[str, Level]:
    return {check.name: check.level for check in checks}


def test_every_finding_has_a_fix(cli: Cli) -> None:
    began = time.monotonic()
    ran = cli("doctor", "--security", "--json")
    assert time.monotonic() - began < 10
    assert ran.code == 0
    checks = json.loads(ran.out)["checks"]
    assert {check["area"] for check in checks} == {"engine", "kernel", "gpu", "platform"}
    assert all(
        set(check) == {"code", "area", "name", "level", "mark", "text", "hint", "for_what"}
        for check in checks
    )
    assert all(check["hint"] or check["level"] == "ok" for check in checks)
    assert all(check["text"] for check in checks)


def test_the_table_lists_every_area(cli: Cli) -> None:
    ran = cli("doctor", "--security")
    assert ran.code == 0
    for words in (
        "engine: socket",
        "kernel: kernel.core_pattern",
        "gpu: container toolkit",
        "platform: redis",
    ):
        assert words in ran.out


def test_an_engine_on_the_network_is_bad(tmp_path: Path) -> None:
    assert security.engine_socket("tcp://127.0.0.1:2375").level is Level.BAD
    head = "sl local_address rem_address st\n"
    row = "0: 00000000:{port:04X} 00000000:0000 {state} 0\n"
    for port, state, level in ((2375, "0A", Level.BAD), (2376, "0A", Level.WARN), (2375, "01", Level.OK)):
        (tmp_path / "tcp").write_text(head + row.format(port=port, state=state))
        assert security.engine_network(tmp_path).level is level


@pytest.mark.parametrize(("mode", "level"), [(0o666, Level.BAD), (0o662, Level.BAD), (0o660, Level.OK)])
def test_a_socket_for_everyone_is_bad(tmp_path: Path, mode: int, level: Level) -> None:
    path = tmp_path / "docker.sock"
    path.touch()
    path.chmod(mode)
    assert security.engine_socket(f"unix://{path}").level is level


def test_a_good_engine_passes() -> None:
    assert set(levels(security.engine_findings(GOOD, "runc")).values()) == {Level.OK}


@pytest.mark.parametrize(
    ("facts", "name", "level"),
    [
        (EngineFacts(("runc",), 1, GOOD.options, "20.10.9"), "version", Level.BAD),
        (EngineFacts(("runc",), 1, GOOD.options, "20.10.24+dfsg1"), "version", Level.OK),
        (EngineFacts(("runc",), 1, GOOD.options, ""), "version", Level.BAD),
        (EngineFacts(("runc",), 1, GOOD.options - {"seccomp"}, "27.0"), "seccomp", Level.BAD),
        (EngineFacts(("runc",), 1, GOOD.options - {"apparmor"}, "27.0"), "confinement", Level.WARN),
        (EngineFacts(("runc",), 1, GOOD.options - {"userns"}, "27.0"), "users", Level.WARN),
        (EngineFacts(("runc",), 1, GOOD.options, "27.0", ("swap",)), "control groups", Level.WARN),
        (EngineFacts(("runc",), 1, GOOD.options, "27.0", ("memory", "swap")), "control groups", Level.BAD),
        (EngineFacts(("crun",), 1, GOOD.options, "27.0"), "runtime", Level.BAD),
    ],
)
def test_missing_engine_features_are_reported(facts: EngineFacts, name: str, level: Level) -> None:
    assert levels(security.engine_findings(facts, "runc"))[name] is level


def test_control_groups_are_reported() -> None:
    told = {check.name: check.message for check in security.engine_findings(GOOD, "runc")}
    assert told["control groups"] == "version 2, and every limit of a box holds"


def test_without_an_engine_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.sandbox import docker_engine

    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.setattr(docker_engine, "_engine", None)
    found = levels([security.engine_socket(), *security.engine_features()])
    assert found["answers"] is Level.WARN
    assert found["socket"] is Level.WARN


def kernel_of(root: Path, **changed: str) -> dict[str, Level]:
    """The checks on a host with good settings except ``changed``, with ``__`` for the dot."""
    good = {setting.name: str(setting.least) for setting in security.KERNEL_SETTINGS}
    good |= {"user.max_user_namespaces": "0", "kernel.core_pattern": "core"}
    for name, value in (good | {name.replace("__", "."): value for name, value in changed.items()}).items():
        path = root / name.replace(".", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value + "\n")
    return levels(
        [*security.kernel_settings(root), security.user_namespaces(root), security.core_pattern(root)]
    )


def test_a_good_kernel_passes(tmp_path: Path) -> None:
    found = kernel_of(tmp_path)
    assert set(found.values()) == {Level.OK}
    assert len(found) == len(security.KERNEL_SETTINGS) + 2


@pytest.mark.parametrize("setting", security.KERNEL_SETTINGS, ids=lambda setting: setting.name)
def test_a_weak_kernel_setting_is_reported(tmp_path: Path, setting: security.KernelSetting) -> None:
    found = kernel_of(tmp_path, **{setting.name: str(setting.least - 1)})
    assert {name for name, level in found.items() if level is not Level.OK} == {setting.name}


def test_user_namespaces_and_piped_cores_are_reported(tmp_path: Path) -> None:
    changed = {"user__max_user_namespaces": "100", "kernel__core_pattern": "|/usr/share/apport/apport %p"}
    found = kernel_of(tmp_path, **changed)
    assert found["user namespaces"] is Level.WARN
    assert found["kernel.core_pattern"] is Level.WARN
    assert (
        kernel_of(tmp_path, kernel__unprivileged_userns_clone="0", **changed)["user namespaces"] is Level.OK
    )


@pytest.mark.parametrize(
    ("said", "level", "words"),
    [
        (None, Level.OK, "not installed"),
        ("NVIDIA Container Toolkit CLI version 1.16.1\ncommit: x", Level.BAD, "CVE-2024-0132"),
        ("NVIDIA Container Toolkit CLI version 1.16.2", Level.BAD, "CVE-2025-23359"),
        ("NVIDIA Container Toolkit CLI version 1.17.7", Level.BAD, "(CVE-2025-23266)"),
        ("NVIDIA Container Toolkit CLI version 1.17.8", Level.OK, "1.17.8"),
        ("cli-version: 1.18.0", Level.OK, "1.18.0"),
        ("", Level.WARN, "unknown"),
    ],
)
def test_a_toolkit_with_a_known_escape_is_bad(said: str | None, level: Level, words: str) -> None:
    found = security.toolkit_finding(said)
    assert found.level is level
    assert words in found.message


def answers(**changed: str) -> dict[str, str]:
    usual = dict.fromkeys(security.GPU_FIELDS, "1755") | {
        "index": "3",
        "driver_version": "580.65.06",
        "compute_mode": "Default",
    }
    usual |= {"persistence_mode": "Enabled", "ecc.mode.current": "Enabled", "mig.mode.current": "Disabled"}
    return usual | {name.replace("__", "."): value for name, value in changed.items()}


@pytest.mark.parametrize(
    ("changed", "weak"),
    [
        ({}, set()),
        ({"ecc__mode__current": "[N/A]", "mig__mode__current": "[N/A]"}, set()),
        ({"clocks__applications__graphics": "[N/A]"}, set()),
        ({"persistence_mode": "Disabled"}, {"3, persistence"}),
        ({"ecc__mode__current": "Disabled"}, {"3, ECC"}),
        ({"mig__mode__current": "Enabled"}, {"3, MIG"}),
        ({"clocks__applications__graphics": "1200"}, {"3, clocks"}),
    ],
)
def test_gpu_settings_that_spoil_timings_are_reported(changed: dict[str, str], weak: set[str]) -> None:
    found = security.gpu_findings(answers(**changed))
    assert {check.name for check in found if check.level is not Level.OK} == weak
    assert any("580.65.06" in check.message for check in found)


@pytest.mark.parametrize(
    ("value", "level"), [("performance", Level.OK), ("powersave", Level.WARN), (None, Level.OK)]
)
def test_the_governor_is_reported(tmp_path: Path, value: str | None, level: Level) -> None:
    if value:
        folder = tmp_path / "cpu0" / "cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(value)
    assert security.clock_governor(tmp_path).level is level


def test_files_open_to_others_are_bad(tmp_path: Path) -> None:
    data = tmp_path / "shut"
    settings = Settings(data_dir=data)
    assert levels(security.files(data)) == {"data folder": Level.OK}, "not made yet"
    settings.secret("session")
    data.chmod(0o700)
    assert set(levels(security.files(data)).values()) == {Level.OK}
    (data / "secrets" / "session").chmod(0o640)
    data.chmod(0o755)
    (data / "grader.sqlite3").touch(0o644)
    open_ = {"data folder": Level.BAD, "database": Level.BAD, "secrets": Level.BAD}
    assert levels(security.files(data)) == open_
    assert f"chmod 600 {data}/secrets/session" in [check.hint for check in security.files(data)]


@pytest.mark.parametrize(
    ("box", "sign_up", "level"),
    [("local", "open", Level.BAD), ("local", "closed", Level.WARN), ("docker", "open", Level.OK)],
)
def test_plain_processes_for_strangers_are_bad(box: str, sign_up: str, level: Level) -> None:
    assert security.boxes(Settings(box=box, sign_up=sign_up)).level is level


@pytest.mark.parametrize(("lacking", "level"), [("", Level.OK), ("no control group", Level.WARN)])
def test_bubblewrap_boxes_are_good_if_control_groups_bound_them(lacking: str, level: Level) -> None:
    found = security.bubblewrap(lacking)
    assert found.level is level
    assert lacking in found.message


@pytest.mark.parametrize(
    ("host", "proxies", "level"),
    [("127.0.0.1", 0, Level.OK), ("0.0.0.0", 0, Level.BAD), ("0.0.0.0", 1, Level.WARN), ("::1", 0, Level.OK)],
)
def test_cookies_without_tls_are_bad(host: str, proxies: int, level: Level) -> None:
    assert security.transport(Settings(host=host, proxies=proxies)).level is level


def test_a_named_proxy_is_better_than_a_counted_one() -> None:
    assert security.transport(Settings(host="0.0.0.0", trusted_proxies="10.0.0.0/8")).level is Level.OK


@pytest.mark.parametrize(
    ("url", "level"),
    [
        ("", Level.OK),
        ("unix:///run/redis.sock", Level.OK),
        ("redis://127.0.0.1:6379/0", Level.OK),
        ("redis://queue:6379/0", Level.BAD),
        ("redis://:secret@queue:6379/0", Level.WARN),
        ("rediss://:secret@queue:6379/0", Level.OK),
    ],
)
def test_a_queue_for_everyone_is_bad(url: str, level: Level) -> None:
    assert security.redis(url).level is level


def test_running_as_root_is_reported() -> None:
    assert security.user(0).level is Level.WARN
    assert security.user(1000).level is Level.OK


@pytest.mark.parametrize(
    ("version", "parts"),
    [("20.10.24+dfsg1", (20, 10, 24)), ("v1.17.8", (1, 17, 8)), ("27", (27,)), ("", ()), ("x.1", ())],
)
def test_versions_are_compared_as_numbers(version: str, parts: tuple[int, ...]) -> None:
    assert security.numbers(version) == parts
