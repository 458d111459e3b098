"""Reads a commit of an untrusted git repository: fetched into an empty bare repository, its files are data. No hook
or filter runs; submodules, LFS files and links are refused. git connects to the address that was checked: not
internal, unless the operator allows the host. Redirects are errors."""

from __future__ import annotations

import base64
import ipaddress
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit, urlunsplit

from grader import limits
from grader.challenge.bundle import PARTS
from grader.errors import BadRequest

FILE = "file"
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}")
_SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_HTTPS_PORT = 443
_POINTER = b"version https://git-lfs.github.com/spec/"
_LINK, _MODULE = "120000", "160000"
# IPv6 addresses that lead to IPv4.
_TRANSLATED = tuple(ipaddress.ip_network(each) for each in ("64:ff9b::/96", "2002::/16", "2001::/32"))
_SAID_CHARS = 300
_BOUNDS = (
    (resource.RLIMIT_AS, limits.GIT_MEMORY_BYTES),
    (resource.RLIMIT_CPU, int(limits.GIT_SECONDS)),
    (resource.RLIMIT_FSIZE, limits.GIT_FETCH_BYTES),
    (resource.RLIMIT_CORE, 0),
)


@dataclass(frozen=True)
class Remote:
    """``credential``: NAME:PASSWORD, or empty; not in ``url``."""

    url: str
    branch: str
    credential: str = ""

    @property
    def secrets(self) -> list[str]:
        """No message may contain these."""
        parts = [self.credential, self.credential.partition(":")[2], _basic(self.credential)]
        return sorted({part for part in parts if part}, key=len, reverse=True)


@dataclass(frozen=True)
class Commit:
    """Files below ``challenges`` and ``reference``, by path."""

    sha: str
    files: Mapping[str, bytes]


def parse_remote(url: str, branch: str, hosts: Collection[str]) -> Remote:
    """``hosts``: may be internal; "file": this machine. Raises BadRequest."""
    hint = "Write it like https://git.uni.edu/gpu/challenges.git."
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise BadRequest("This is not the address of a repository.", hint) from error
    if not _BRANCH.fullmatch(branch) or ".." in branch or branch.endswith((".lock", "/")):
        raise BadRequest(f"'{branch[:64]}' is not the name of a branch.", "The usual one is main.")
    if (
        re.search(r"[\s\x00-\x1f\x7f]", url.strip())
        or parts.query
        or parts.fragment
        or not parts.path.strip("/")
    ):
        raise BadRequest("This is not the address of a repository.", hint)
    if parts.scheme == FILE and FILE in hosts and not parts.netloc:
        return Remote(url.strip(), branch)
    if parts.scheme != "https" or not re.fullmatch(r"[A-Za-z0-9.:-]+", parts.hostname or ""):
        raise BadRequest("The address of a repository begins with https:// and a host.", hint)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    netloc = f"{host}:{port}" if port not in (None, _HTTPS_PORT) else f"{host}"
    name, password = unquote(parts.username or ""), unquote(parts.password or "")
    credential = f"{name}:{password}" if name or password else ""
    return Remote(urlunsplit(("https", netloc, parts.path, "", "")), branch, credential)


def read(remote: Remote, hosts: Collection[str]) -> Commit:
    """Raises BadRequest without credentials."""
    git = shutil.which("git")
    if git is None:
        raise BadRequest("This worker has no git.", "The operator installs git on the hosts of workers.")
    with tempfile.TemporaryDirectory(prefix="grader-git-") as folder:
        runner = _Git(git, Path(folder), remote)
        # git must not look it up again: the answer could change.
        pinned = _pinned(remote, hosts)
        runner.run(
            *("-c", f"protocol.{'file' if not pinned else 'https'}.allow=always", *pinned),
            *("clone", "--quiet", "--bare", "--depth=1", "--single-branch", "--no-tags", "--template="),
            *(f"--branch={remote.branch}", "--", remote.url, str(runner.repository)),
        )
        with runner.output("rev-parse", "HEAD") as said:
            sha = said.read(100).decode("ascii", "replace").strip()
        if not _SHA.fullmatch(sha):
            raise BadRequest("git gave no commit.")
        return Commit(sha, _files(runner))


def _pinned(remote: Remote, hosts: Collection[str]) -> list[str]:
    """Make git connect to the checked address. Raises BadRequest (internal)."""
    parts = urlsplit(remote.url)
    if parts.scheme == FILE:
        return []
    host, port = parts.hostname or "", parts.port or _HTTPS_PORT
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise BadRequest(f"The host {host} has no address.", "Check the spelling.") from error
    addresses = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]
    if host not in hosts and not all(map(is_public, addresses)):
        raise BadRequest(
            f"The host {host} has an internal address.",
            "Only repositories on public addresses are fetched; the operator can allow a host by GRADER_GIT_HOSTS.",
        )
    address = f"[{addresses[0]}]" if addresses[0].version == 6 else str(addresses[0])
    return ["-c", f"http.curloptResolve={host}:{port}:{address}"]


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if any(address in network for network in _TRANSLATED):
            return False
    return address.is_global and not address.is_multicast


class _Git:
    """Without this process's environment and configuration; bounded in time, memory and file size."""

    def __init__(self, program: str, folder: Path, remote: Remote) -> None:
        self._program, self._folder, self._remote = program, folder, remote
        self.repository = folder / "repository"
        self._environment = {
            "PATH": os.defpath,
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "false",
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_NO_LAZY_FETCH": "1",
            **_header(remote),
        }

    def run(self, *arguments: str) -> None:
        with self.output(*arguments):
            pass

    @contextmanager
    def output(self, *arguments: str, text: bytes = b"") -> Iterator[IO[bytes]]:
        """Raises BadRequest."""
        command = [
            *(
                self._program,
                "-c",
                "protocol.allow=never",
                "-c",
                "core.symlinks=false",
                "-c",
                "core.hooksPath=/dev/null",
            ),
            *(
                "-c",
                "http.followRedirects=false",
                "-c",
                "http.lowSpeedLimit=1000",
                "-c",
                "http.lowSpeedTime=20",
            ),
            *("-c", "core.bigFileThreshold=1m", "-c", "pack.threads=1", "-c", "gc.auto=0"),
            *(("--git-dir", str(self.repository)) if "clone" not in arguments else ()),
            *arguments,
        ]
        # The kernel bounds the size of files, not of pipes.
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(text)
            given.seek(0)
            process = subprocess.Popen(
                command,
                stdin=given,
                stdout=out,
                stderr=err,
                env=self._environment,
                cwd=self._folder,
                start_new_session=True,
            )
            try:
                for kind, most in _BOUNDS:
                    resource.prlimit(process.pid, kind, (most, most))
                process.wait(limits.GIT_SECONDS)
            except ProcessLookupError:
                process.wait()
            except subprocess.TimeoutExpired:
                raise BadRequest(
                    f"Fetching took longer than {limits.GIT_SECONDS:g} s.", "Is the repository very large?"
                ) from None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if process.returncode != 0:
                err.seek(0)
                raise self._failure(err.read(20_000).decode("utf-8", "replace"))
            out.seek(0)
            yield out

    def _failure(self, said: str) -> BadRequest:
        for secret in self._remote.secrets:
            said = said.replace(secret, "***")
        lines = [
            line.partition(": ")[2] for line in said.splitlines() if line.startswith(("fatal: ", "error: "))
        ]
        why = lines[0][:_SAID_CHARS].rstrip(".") if lines else "git ended without a reason"
        if any(words in said for words in ("could not read Username", "Authentication failed", "403")):
            return BadRequest(
                "The server wants a name and a password, or refuses those given.",
                "Give the address as https://NAME:TOKEN@host/path, with a token that may only read.",
            )
        if "Remote branch" in said:
            return BadRequest(f"The repository has no branch {self._remote.branch}.", "Change the branch.")
        if "File size limit" in said or "Out of memory" in said or not lines:
            most = limits.GIT_FETCH_BYTES // limits.MIB
            return BadRequest(f"The commit cannot be fetched within {most} MiB: {why}.", "Leave out data.")
        return BadRequest(f"The repository cannot be fetched: {why}.", "Check address and branch.")


def _header(remote: Remote) -> dict[str, str]:
    """As configuration: arguments and repository files would show it."""
    if not remote.credential:
        return {}
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{remote.url}.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {_basic(remote.credential)}",
    }


def _basic(credential: str) -> str:
    return base64.b64encode(credential.encode()).decode() if credential else ""


def _files(git: _Git) -> dict[str, bytes]:
    """Raises BadRequest."""
    wanted: list[tuple[str, str, int]] = []
    total = count = 0
    with git.output("ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD") as listed:
        for entry in _entries(listed):
            mode, _, name, size, path = entry
            count += 1
            if mode == _MODULE:
                raise BadRequest(
                    f"'{path}' is a submodule, which is not fetched.", "Put its files into the repository."
                )
            if mode == _LINK:
                raise BadRequest(f"'{path}' is a link, which is not followed.", "Put the file itself there.")
            if count > limits.GIT_FILES:
                raise BadRequest(
                    f"The commit has more than {limits.GIT_FILES:,} files.",
                    "Keep challenges in a repository of their own.",
                )
            total += int(size)
            if total > limits.GIT_BYTES:
                raise BadRequest(
                    f"The commit's files have more than {limits.GIT_BYTES // limits.MIB} MiB together.",
                    "Leave out data.",
                )
            if path.split("/")[0] in PARTS and path.count("/") > 1:
                wanted.append((path, name, int(size)))
    asked = "".join(f"{name}\n" for _, name, _ in wanted).encode()
    found = {}
    with git.output("cat-file", "--batch", text=asked) as said:
        for path, name, length in wanted:
            if said.readline() != f"{name} blob {length}\n".encode():
                raise BadRequest(f"'{path}' cannot be read from the commit.")
            found[path] = said.read(length)
            said.read(1)
            if found[path].startswith(_POINTER):
                raise BadRequest(
                    f"'{path}' is kept in Git LFS, which is not fetched.", "Put the file itself there."
                )
    return found


def _entries(listed: IO[bytes]) -> Iterator[Sequence[str]]:
    """Mode, kind, name, size and path."""
    pending = b""
    while data := listed.read(64 * limits.KIB):
        *whole, pending = (pending + data).split(b"\0")
        for entry in whole:
            head, _, path = entry.decode("utf-8", "replace").partition("\t")
            yield (*head.split(), path)
