"""`grader doctor --security`: is this host safe for other people's code?"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from grader.cli.checks import Finding, Level, bad, check, checks, examine, ok, warn

if TYPE_CHECKING:
    from grader.sandbox.docker_engine import EngineFacts
    from grader.settings import Settings

ENGINE, KERNEL, GPU, PLATFORM = "engine", "kernel", "gpu", "platform"


def security_findings() -> list[Finding]:
    return examine(
        [
            engine_socket,
            engine_network,
            engine_features,
            kernel_settings,
            user_namespaces,
            core_pattern,
            container_toolkit,
            clock_governor,
            gpus,
            platform,
        ]
    )


# Older engines answer clone3 wrongly, so threads of newer C libraries fail.
OLDEST_ENGINE = (20, 10, 10)
DEFAULT_HOST = "unix:///var/run/docker.sock"
# Without and with TLS.
PLAIN_PORT, TLS_PORT = 2375, 2376
_LISTEN = "0A"


@check("socket", ENGINE)
def engine_socket(host: str | None = None) -> Finding:
    """Anyone who reaches the engine is root on its host. ``host``: as in DOCKER_HOST."""
    kind, _, name = (host or os.environ.get("DOCKER_HOST") or DEFAULT_HOST).partition("://")
    if kind not in ("unix", "http+unix"):
        return bad(
            f"DOCKER_HOST is {kind}://...: anyone who reaches an engine on a network port is root",
            "Let the engine listen only on its unix socket (no -H tcp:// in dockerd's options).",
        )
    path = Path(name)
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return warn(f"{path}: {error.strerror}", "Check that the engine is running.")
    if stat.S_IMODE(mode) & 0o006:
        return bad(
            f"{path} is open to every user of this host, which makes each of them root",
            f"chmod o-rw {path}",
        )
    return ok(f"{path} is closed to other users")


@check("network", ENGINE)
def engine_network(net: Path = Path("/proc/net")) -> Finding:
    """Finds any engine's port, wherever ours is."""
    ports = {port for table in ("tcp", "tcp6") for port in _listening(net / table)}
    if PLAIN_PORT in ports:
        return bad(
            f"port {PLAIN_PORT} is open: anyone who reaches an engine without TLS is root",
            "Remove -H tcp:// from dockerd's options.",
        )
    if TLS_PORT in ports:
        return warn(
            f"port {TLS_PORT} is open: an engine listens on the network",
            "Check that it asks for certificates (--tlsverify), or remove -H tcp:// from dockerd's options.",
        )
    return ok("no engine listens on the network")


def _listening(table: Path) -> list[int]:
    """``table``: such as ``/proc/net/tcp``."""
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return []
    return [int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == _LISTEN]


@checks(
    "answers",
    ENGINE,
    failed=Level.WARN,
    hint="Start a Docker engine: without one there are bubblewrap boxes, or 'local' boxes for your own code.",
)
def engine_features() -> Iterator[Finding]:
    from grader.sandbox.docker_engine import engine
    from grader.settings import Settings

    yield from engine_findings(engine().facts(), Settings().runtime)


@checks("answers", ENGINE)
def engine_findings(facts: EngineFacts, runtime: str) -> Iterator[Finding]:
    if numbers(facts.version) >= OLDEST_ENGINE:
        yield ok(facts.version, "version")
    else:
        yield bad(
            facts.version or "unknown",
            f"Upgrade to {_dotted(OLDEST_ENGINE)} or newer: threads fail under our system call filter.",
            "version",
        )
    if "seccomp" in facts.options:
        yield ok("filters system calls; boxes bring their own filter", "seccomp")
    else:
        yield bad(
            "not available", "Use a kernel and an engine with seccomp: no box starts without it.", "seccomp"
        )
    confined_by = next((name for name in ("apparmor", "selinux") if name in facts.options), "")
    if confined_by:
        yield ok(confined_by, "confinement")
    else:
        yield warn(
            "neither AppArmor nor SELinux",
            "Enable AppArmor or SELinux, as a second barrier.",
            "confinement",
        )
    if facts.remaps_users:
        yield ok("users in a box are ordinary users on the host", "users")
    else:
        yield warn(
            "root in a container is root on the host",
            'Add "userns-remap": "default" to /etc/docker/daemon.json and restart the engine.',
            "users",
        )
    yield _control_groups(facts)
    if runtime in facts.runtimes:
        yield ok(runtime, "runtime")
    else:
        yield bad(
            f"the engine has no {runtime}",
            f"Set GRADER_RUNTIME to one of: {', '.join(facts.runtimes)}",
            "runtime",
        )


def _control_groups(facts: EngineFacts) -> Finding:
    name = "control groups"
    if not facts.unbounded:
        return ok(f"version {facts.cgroup}, and every limit of a box holds", name)
    message = f"version {facts.cgroup}; a box can use all {', '.join(facts.unbounded)} of this host"
    if facts.unbounded == ("swap",):
        return warn(message, "Boot with swapaccount=1, or run without swap.", name)
    return bad(
        message,
        "Enable the controllers memory, pids and cpu for the engine (rootless: delegate them to its user).",
        name,
    )


# Every box shares the host's kernel.

PROC_SYS = Path("/proc/sys")


@dataclass(frozen=True)
class KernelSetting:
    """``least``: the smallest safe number; ``otherwise``: the risk below."""

    name: str
    least: int
    otherwise: str

    @property
    def path(self) -> str:
        return self.name.replace(".", "/")


KERNEL_SETTINGS = (
    KernelSetting("kernel.dmesg_restrict", 1, "any user can read the kernel's log, which shows addresses"),
    KernelSetting("kernel.kptr_restrict", 1, "any user can read the kernel's addresses"),
    KernelSetting(
        "kernel.yama.ptrace_scope", 1, "a process can read the memory of the user's other processes"
    ),
    KernelSetting("kernel.perf_event_paranoid", 2, "any user can observe the kernel with its counters"),
    KernelSetting("kernel.unprivileged_bpf_disabled", 1, "any user can load programs into the kernel"),
    KernelSetting("vm.mmap_min_addr", 4096, "any user can map memory at the kernel's null pointers"),
    KernelSetting("fs.protected_symlinks", 1, "links in /tmp can misdirect a privileged program"),
    KernelSetting("fs.protected_hardlinks", 1, "any user can make hard links to the files of others"),
)


@checks("settings", KERNEL)
def kernel_settings(root: Path = PROC_SYS) -> Iterator[Finding]:
    """Skips settings that this kernel lacks."""
    for setting in KERNEL_SETTINGS:
        value = _read(root / setting.path)
        if value is None or not value.lstrip("-").isdigit():
            continue
        if int(value) >= setting.least:
            yield ok(value, setting.name)
        else:
            yield warn(
                f"{value}: {setting.otherwise}",
                f"sysctl -w {setting.name}={setting.least}, and keep it in /etc/sysctl.d",
                setting.name,
            )


@check("user namespaces", KERNEL)
def user_namespaces(root: Path = PROC_SYS) -> Finding:
    """Most kernel exploits of recent years begin in a user namespace."""
    refuses: dict[str, Callable[[str], bool]] = {
        "kernel.unprivileged_userns_clone": lambda value: value == "0",
        "kernel.apparmor_restrict_unprivileged_userns": lambda value: value == "1",
        "user.max_user_namespaces": lambda value: value == "0",
    }
    for name, refused in refuses.items():
        value = _read(root / name.replace(".", "/"))
        if value is not None and refused(value):
            return ok(f"{name} is {value}")
    return warn(
        "any user can create one; Docker boxes prevent it, local boxes do not",
        "sysctl -w user.max_user_namespaces=0, unless the engine runs rootless or remaps users.",
    )


@check("kernel.core_pattern", KERNEL)
def core_pattern(root: Path = PROC_SYS) -> Finding:
    pattern = _read(root / "kernel/core_pattern") or ""
    if not pattern.startswith("|"):
        return ok(pattern or "unknown")
    program = pattern[1:].split(" ")[0]
    return warn(
        f"every crash starts {program} as root; Docker boxes prevent it, local boxes do not",
        "sysctl -w kernel.core_pattern=core on a host that only grades.",
    )


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


_PROGRAM_SECONDS = 20.0
GPU_FIELDS = (
    "index",
    "driver_version",
    "persistence_mode",
    "ecc.mode.current",
    "mig.mode.current",
    "compute_mode",
    "clocks.applications.graphics",
    "clocks.default_applications.graphics",
    "clocks.max.graphics",
)
GOVERNORS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Escape:
    """A vulnerability of NVIDIA's toolkit that lets a container reach its host."""

    name: str
    fixed_in: tuple[int, ...]


ESCAPES = (
    Escape("CVE-2024-0132", (1, 16, 2)),
    Escape("CVE-2025-23359", (1, 17, 4)),
    Escape("CVE-2025-23266", (1, 17, 8)),
)


@check("container toolkit", GPU)
def container_toolkit() -> Finding:
    return toolkit_finding(_toolkit_version())


@check("container toolkit", GPU)
def toolkit_finding(answer: str | None) -> Finding:
    """``answer``: to ``--version``; None without it."""
    if answer is None:
        return ok("not installed, and not needed")
    version = re.search(r"\d+\.\d+\.\d+", answer)
    if version is None:
        return warn(
            "installed, version unknown", f"Check that it is {_dotted(ESCAPES[-1].fixed_in)} or newer."
        )
    found = [escape for escape in ESCAPES if numbers(version[0]) < escape.fixed_in]
    if not found:
        return ok(f"{version[0]}; boxes do not use it")
    names = ", ".join(escape.name for escape in found)
    newest = _dotted(max(escape.fixed_in for escape in found))
    return bad(
        f"{version[0]} lets containers reach the host ({names}); boxes do not use it, but other containers here may",
        f"Upgrade to {newest} or newer, or remove it: grader does not use it.",
    )


@check("clock governor", GPU)
def clock_governor(root: Path = GOVERNORS) -> Finding:
    """The processor must not slow down between kernels."""
    found = set()
    for path in root.glob("cpu[0-9]*/cpufreq/scaling_governor"):
        try:
            found.add(path.read_text().strip())
        except OSError:
            continue
    if found <= {"performance"}:
        return ok("performance" if found else "this host cannot set the processor's clock")
    return warn(f"{', '.join(sorted(found))}: times vary", "cpupower frequency-set -g performance")


@checks("gpus", GPU)
def gpus() -> Iterator[Finding]:
    answer = _output(["nvidia-smi", f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader,nounits"])
    for line in (answer or "").splitlines():
        row = [field.strip() for field in line.split(",")]
        if len(row) == len(GPU_FIELDS):
            yield from gpu_findings(dict(zip(GPU_FIELDS, row, strict=True)))


@checks("gpu", GPU)
def gpu_findings(fields: Mapping[str, str]) -> Iterator[Finding]:
    number = fields["index"]
    yield ok(f"{fields['driver_version']}; compare it with NVIDIA's security bulletins", f"{number}, driver")
    if fields["persistence_mode"] == "Enabled":
        yield ok("on", f"{number}, persistence")
    else:
        yield warn("off: an idle driver loses its settings", "nvidia-smi -pm 1", f"{number}, persistence")
    if fields["ecc.mode.current"] == "Disabled":
        yield warn(
            "off: a flipped bit gives a wrong answer",
            f"nvidia-smi -i {number} -e 1, then reboot",
            f"{number}, ECC",
        )
    else:
        yield ok(_switch(fields["ecc.mode.current"]), f"{number}, ECC")
    if fields["mig.mode.current"] == "Enabled":
        yield warn(
            "on: a slice shares memory bandwidth and clocks with other slices, so times are not comparable",
            f"nvidia-smi -i {number} -mig 0",
            f"{number}, MIG",
        )
    else:
        yield ok(_switch(fields["mig.mode.current"]), f"{number}, MIG")
    now, default = fields["clocks.applications.graphics"], fields["clocks.default_applications.graphics"]
    if now == default or not now.isdigit() or not default.isdigit():
        yield ok(f"set by the driver, at most {fields['clocks.max.graphics']} MHz", f"{number}, clocks")
    else:
        yield warn(
            f"{now} MHz instead of {default} MHz: times differ from other hosts of the same board",
            f"nvidia-smi -i {number} -rac",
            f"{number}, clocks",
        )


def _switch(state: str) -> str:
    return {"Enabled": "on", "Disabled": "off"}.get(state, "not available on this GPU")


def _toolkit_version() -> str | None:
    for program in ("nvidia-ctk", "nvidia-container-cli", "nvidia-container-runtime"):
        if shutil.which(program):
            return _output([program, "--version"]) or ""
    return None


def _output(command: list[str]) -> str | None:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_PROGRAM_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout if ran.returncode == 0 else None


_OTHER_USERS = 0o077


@checks("settings", PLATFORM, failed=Level.WARN, hint="Fix them first: the other checks depend on them.")
def platform() -> Iterator[Finding]:
    from grader.cli.config import load_settings

    settings = load_settings()
    yield from files(settings.data_dir)
    yield boxes(settings)
    yield transport(settings)
    yield redis(settings.redis_url)
    yield user(os.geteuid())


@checks("files", PLATFORM)
def files(folder: Path) -> Iterator[Finding]:
    """Only the owner may read data folder, database and secrets."""
    if not folder.exists():
        yield ok(f"{folder} does not exist yet", "data folder")
        return
    yield _closed("data folder", [folder], "700")
    if database := sorted(folder.glob("grader.sqlite3*")):
        yield _closed("database", database, "600")
    if secrets := sorted((folder / "secrets").glob("*")):
        yield _closed("secrets", secrets, "600")


def _closed(name: str, paths: list[Path], mode: str) -> Finding:
    if open_ := [str(path) for path in paths if _mode(path) & _OTHER_USERS]:
        return bad(
            f"{', '.join(open_)}: open to other users of this host", f"chmod {mode} {shlex.join(open_)}", name
        )
    return ok(f"{paths[0].parent if len(paths) > 1 else paths[0]}: open only to its owner", name)


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0


@check("boxes", PLATFORM)
def boxes(settings: Settings) -> Finding:
    """Plain processes are only for the operator's own code."""
    kind = _kind_of_boxes(settings.box)
    if kind == "docker":
        return ok("submissions run in Docker boxes")
    if kind == "bubblewrap":
        from grader.sandbox.choose import why_not_exposed

        return bubblewrap(why_not_exposed(kind))
    if settings.sign_up in ("open", "domain"):
        return bad(
            "anyone can sign up, and submissions run as plain processes of this host",
            "Set GRADER_BOX=docker, or GRADER_SIGN_UP=closed.",
        )
    return warn(
        "submissions run as plain processes of this host: for your own code only",
        "Set GRADER_BOX=docker if others submit.",
    )


@check("boxes", PLATFORM)
def bubblewrap(lacks: str) -> Finding:
    """``lacks``: why boxes are unsafe for other people's code, or ""."""
    if lacks:
        return warn(
            f"submissions run in bubblewrap boxes, and {lacks}",
            "Run workers as root, or in their own cgroup v2: see docs/boxes.md.",
        )
    return ok("submissions run in bubblewrap boxes, bounded by control groups")


def _kind_of_boxes(box: str) -> str:
    if box != "auto":
        return box
    try:
        from grader.sandbox.choose import best_kind
    except ModuleNotFoundError:
        return "local"
    return best_kind()[0]


@check("transport", PLATFORM)
def transport(settings: Settings) -> Finding:
    """Passwords and cookies need TLS beyond this machine."""
    from grader.service.operation.exposure import is_loopback

    if settings.trusted_proxies:
        return ok(f"behind {settings.trusted_proxies}, and no other address is trusted as a proxy")
    if settings.proxies and not is_loopback(settings.host):
        return warn(
            "a client that bypasses the proxy is trusted too: GRADER_PROXIES only counts hops",
            "Name the proxy: GRADER_TRUSTED_PROXIES=ADDRESS.",
        )
    if settings.proxies:
        return ok(f"behind {settings.proxies} proxies; cookies are Secure if they report TLS")
    if is_loopback(settings.host):
        return ok(f"the web server listens only on {settings.host}")
    return bad(
        f"the web server listens on {settings.host} without TLS: "
        "passwords, tokens and cookies can be read in transit",
        "Put a proxy with TLS in front, set GRADER_PROXIES=1, and listen on 127.0.0.1.",
    )


@check("redis", PLATFORM)
def redis(url: str) -> Finding:
    """Anyone who writes to Redis can stop the queue and reset counts of sign-in attempts."""
    from grader.service.operation.exposure import is_loopback

    parts = urlsplit(url)
    if not url or parts.scheme == "unix":
        return ok("a unix socket")
    if is_loopback(parts.hostname or ""):
        return ok("only on this machine")
    if not parts.password:
        return bad(
            "on the network without a password: anyone who reaches it can stop the queue and reset limits",
            "Set a password in Redis and in GRADER_REDIS_URL.",
        )
    if parts.scheme != "rediss":
        return warn(
            "on the network without TLS: its password can be read in transit",
            "Use rediss:// or a private network.",
        )
    return ok("on the network, with password and TLS")


@check("user", PLATFORM)
def user(uid: int) -> Finding:
    if uid:
        return ok(f"grader runs as user {uid}")
    return warn(
        "grader runs as root: a vulnerability in it exposes the host",
        "Run it as a separate user in the group docker.",
    )


def numbers(version: str) -> tuple[int, ...]:
    """``20.10.24+dfsg1`` is (20, 10, 24)."""
    found: list[int] = []
    for part in version.strip().removeprefix("v").split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
    return tuple(found)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
