"""A challenge's two folders as an untrusted ZIP archive: nothing here runs or imports its files."""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader import limits
from grader.challenge.catalogue import MANIFEST, TRACKS
from grader.challenge.loader import EXAMINED, Challenge, parse_manifest
from grader.challenge.model import Manifest
from grader.errors import BadBundle
from grader.languages import Language

PARTS = ("challenges", "reference")
_SUFFIXES = frozenset((".toml .md .py .cu .cuh .hip .cpp .h .hpp .txt .json .svg").split())
_RUN = (MANIFEST, *(suffix for language in Language for suffix in language.suffixes))
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_]{0,63}")
_LITTER = re.compile(r"(^|/)(\.(?!\./)[^/]*|__pycache__|__MACOSX|Thumbs\.db|desktop\.ini|[^/]*\.pyc)(/|$)")
# The deepest path is reference/SLUG/staff/mutants/NAME.
_DEPTH = 6
_ENCRYPTED = 0x1
_PREREQUISITES = re.compile(r"^prerequisites\s*=\s*\[[^\]]*\]", re.MULTILINE)
_QUOTED = re.compile(r'"([a-z0-9_]+)"')
_LAYOUT = "It holds challenges/SLUG and reference/SLUG, as a course folder has them: see docs/authoring.md."
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    OSError,
    EOFError,
    ValueError,
)
# Fixed, so the same files give the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    """``files``: UTF-8 bytes by path, such as ``challenges/scale/spec.md``."""

    slug: str
    manifest: Manifest
    files: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 over paths and contents, hex."""
        return _digest(self.files)

    @property
    def size(self) -> int:
        return sum(map(len, self.files.values()))

    def text(self, path: str) -> str:
        """ "" if there is no such file."""
        return self.files.get(path, b"").decode()

    @property
    def spec_path(self) -> str:
        return f"challenges/{self.slug}/spec.md"

    def with_file(self, path: str, text: str) -> Bundle:
        """Raises BadBundle."""
        return of_files({**self.files, path: text.encode()})

    def same_python(self, other: Bundle) -> bool:
        """Results of running one hold for the other."""
        return _run_files(self) == _run_files(other)

    def renamed(self, slug: str, others: Mapping[str, str]) -> Bundle:
        """``others``: of its prerequisites. Raises BadBundle."""
        files = {path.replace(f"/{self.slug}/", f"/{slug}/", 1): data for path, data in self.files.items()}
        manifest = f"challenges/{slug}/{MANIFEST}"
        text = _PREREQUISITES.sub(
            lambda found: _QUOTED.sub(lambda name: f'"{others.get(name[1], name[1])}"', found[0]),
            files[manifest].decode(),
        )
        return of_files(files | {manifest: text.encode()})

    def packed(self) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in sorted(self.files.items()):
                entry = zipfile.ZipInfo(path, _DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, data)
        return buffer.getvalue()

    def write(self, root: Path) -> None:
        for path, data in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            target.write_bytes(data)


def _digest(files: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256()
    for path, data in sorted(files.items()):
        whole.update(f"{path}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()


def _run_files(bundle: Bundle) -> dict[str, bytes]:
    return {path: data for path, data in bundle.files.items() if path.endswith(_RUN)}


def of_challenge(challenge: Challenge) -> Bundle:
    """Raises BadBundle."""
    files = snapshot(challenge).files
    return of_files({path: data for path, data in files.items() if not path.endswith(f"/{EXAMINED}")})


def snapshot(challenge: Challenge) -> Bundle:
    """All its files as they are served here, for a worker on another host; unlike an upload, it may hold anything."""
    files = {}
    for part, folder in zip(PARTS, (challenge.folder, challenge.reference_folder), strict=True):
        for path in sorted(folder.rglob("*")):
            name = f"{part}/{challenge.slug}/{path.relative_to(folder).as_posix()}"
            if path.is_file() and not path.is_symlink() and not _LITTER.search(name):
                files[name] = path.read_bytes()
    return Bundle(challenge.slug, challenge.manifest, files)


def unpack_snapshot(data: bytes, slug: str, digest: str, root: Path) -> None:
    """All files in ``root``, or nothing. Several processes may do so at once. Raises BadBundle if ``data`` is not the
    packed snapshot with this digest.
    """
    inside = tuple(f"{part}/{slug}/" for part in PARTS)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except _UNREADABLE as error:
        raise BadBundle(f"This is not a readable ZIP archive: {error}.") from error
    if strange := [name for name in files if not name.startswith(inside) or ".." in name.split("/")]:
        raise BadBundle(f"'{strange[0][:100]}' is not a file of {slug}.")
    if _digest(files) != digest:
        raise BadBundle(f"The files of {slug} are not those that were asked for.")
    _all_or_nothing(files, root)


def split(files: Mapping[str, bytes]) -> list[Bundle]:
    """Files outside challenges are left out. Raises BadBundle, ChallengeInvalid."""
    found: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        parts = path.split("/")
        if parts[0] in PARTS and len(parts) > 2:
            found.setdefault(parts[1], {})[path] = data
    if not found:
        raise BadBundle("It holds no challenge.", _LAYOUT)
    if len(found) > limits.CATALOGUE_CHALLENGES:
        raise BadBundle(
            f"It holds {len(found)} challenges; at most {limits.CATALOGUE_CHALLENGES} are taken at once."
        )
    return [of_files(found[slug]) for slug in sorted(found)]


def is_litter(path: str) -> bool:
    """Files that editors and systems leave."""
    return bool(_LITTER.search(path))


def check_path(path: str, slug: str) -> None:
    """Raises BadBundle if the challenge may not have this file."""
    odd = [part for part in path.split("/") if not _NAME.fullmatch(part) or part == ".."]
    if odd or path.count("/") >= _DEPTH or not path.startswith(tuple(f"{part}/{slug}/" for part in PARTS)):
        raise BadBundle(f"'{path[:100]}' is not a file of {slug}.", _LAYOUT)
    _check_kind(path)


def of_files(files: Mapping[str, bytes]) -> Bundle:
    """Raises BadBundle if the files are not exactly one challenge."""
    slugs = {path.split("/")[1] for path in files if path.count("/") >= 2}
    if len(slugs) != 1:
        found = f"challenges: {', '.join(sorted(slugs)[:5])}" if slugs else "no challenge"
        raise BadBundle(f"The archive must hold exactly one challenge; it holds {found}.", _LAYOUT)
    (slug,) = slugs
    if not _SLUG.fullmatch(slug):
        raise BadBundle(
            f"'{slug[:64]}' cannot name a challenge.", "Lower-case letters, digits and _, at most 64."
        )
    manifest = f"challenges/{slug}/{MANIFEST}"
    needed = (manifest, f"challenges/{slug}/spec.md", f"challenges/{slug}/cases.py")
    if missing := [path for path in (*needed, f"reference/{slug}/reference.py") if path not in files]:
        raise BadBundle(f"The archive lacks {', '.join(missing)}.", _LAYOUT)
    _check_size(files)
    for path, data in files.items():
        _check_text(path, data)
    return Bundle(slug, parse_manifest(Path(manifest), files[manifest].decode()), dict(files))


def _check_size(files: Mapping[str, bytes]) -> None:
    if len(files) > limits.BUNDLE_FILES:
        raise BadBundle(f"It has {len(files)} files; at most {limits.BUNDLE_FILES} are taken.")
    for path, data in files.items():
        if len(data) > limits.SOURCE_BYTES:
            raise _large(path, len(data))
    if (total := sum(map(len, files.values()))) > limits.BUNDLE_BYTES:
        raise BadBundle(
            f"Its files have {total:,} bytes together; at most {limits.BUNDLE_BYTES:,} are taken."
        )


def _check_text(path: str, data: bytes) -> None:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadBundle(
            f"{path} is not UTF-8: byte 0x{data[error.start]:02x} in line {line}.", "Save it as UTF-8."
        ) from error
    if "\0" in text:
        raise BadBundle(f"{path} is binary (it holds NUL bytes).", "A challenge consists of text.")


def read_archive(data: bytes) -> Bundle:
    """Writes and runs nothing. Raises BadBundle: not a ZIP, too large packed or unpacked, too many files,
    paths that lead outside, links, passwords, duplicate names, files that are not text, not one challenge, an
    invalid manifest.
    """
    return of_files(_unpacked(data))


def read_catalogue(data: bytes) -> list[Bundle]:
    """Raises BadBundle, ChallengeInvalid."""
    return split(_unpacked(data))


def _unpacked(data: bytes) -> dict[str, bytes]:
    if len(data) > limits.BUNDLE_ARCHIVE_BYTES:
        raise BadBundle(
            f"The archive has {len(data):,} bytes; at most {limits.BUNDLE_ARCHIVE_BYTES:,} are taken.",
            "Leave out data and generated files.",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [
                entry
                for entry in archive.infolist()
                if not entry.is_dir() and not _LITTER.search(entry.filename)
            ]
            if len(entries) > limits.BUNDLE_FILES:
                raise BadBundle(f"It has {len(entries)} files; at most {limits.BUNDLE_FILES} are taken.")
            names = [_path_of(entry) for entry in entries]
            found: dict[str, bytes] = {}
            left = limits.BUNDLE_BYTES
            for path, entry in zip(_below_parts(names), entries, strict=True):
                if path == f"challenges/{TRACKS}":
                    continue  # part of a course, not a challenge
                if path in found or path.casefold() in {known.casefold() for known in found}:
                    raise BadBundle(f"{path} is in the archive twice.", "Pack the folders again.")
                _check_kind(path)
                found[path] = _content(archive, entry, path, left)
                left -= len(found[path])
    except _UNREADABLE as error:
        raise BadBundle(f"This is not a readable ZIP archive: {error}.", _LAYOUT) from error
    return found


def _path_of(entry: zipfile.ZipInfo) -> PurePosixPath:
    """Raises BadBundle if the entry is not a plain file below the archive's root."""
    name = entry.filename
    path = PurePosixPath(name)
    if "\\" in entry.orig_filename or name.startswith("/") or ".." in path.parts or ":" in name:
        raise BadBundle(f"The path '{name[:100]}' leads out of the archive.", "Pack the folders again.")
    if odd := [part for part in path.parts if not _NAME.fullmatch(part)]:
        raise BadBundle(
            f"The name '{odd[0][:100]}' is not allowed.", "Use letters, digits, _, -, + and ., and no spaces."
        )
    if len(path.parts) > _DEPTH:
        raise BadBundle(f"The path '{name[:100]}' is too deep.", _LAYOUT)
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise BadBundle(
            f"'{name[:100]}' is a link or a device.", "Pack the files themselves (zip without -y)."
        )
    if entry.flag_bits & _ENCRYPTED:
        raise BadBundle(f"'{name[:100]}' is protected by a password.", "Pack it without one.")
    return path


def _below_parts(names: list[PurePosixPath]) -> Iterator[str]:
    around = {path.parts[0] for path in names} - set(PARTS)
    inner = len(around) == 1 and all(len(path.parts) > 2 and path.parts[1] in PARTS for path in names)
    for path in names:
        parts = path.parts[1:] if inner else path.parts
        if parts[0] not in PARTS or len(parts) < 2:
            raise BadBundle(f"'{path}' is not a file of a challenge.", _LAYOUT)
        yield "/".join(parts)


def _check_kind(path: str) -> None:
    if PurePosixPath(path).suffix.lower() not in _SUFFIXES or path.endswith(EXAMINED) or path.count("/") < 2:
        raise BadBundle(
            f"'{path}' is not a file of a challenge.", f"Files end in {', '.join(sorted(_SUFFIXES))}."
        )


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str, left: int) -> bytes:
    """Reads no more than allowed, whatever size the archive claims."""
    most = min(limits.SOURCE_BYTES, left)
    with archive.open(entry) as file:
        data = file.read(most + 1)
    if len(data) > limits.SOURCE_BYTES:
        raise _large(path, entry.file_size)
    if len(data) > most:
        raise BadBundle(f"Its files have more than {limits.BUNDLE_BYTES:,} bytes together, unpacked.")
    return data


def _large(path: str, size: int) -> BadBundle:
    return BadBundle(f"{path} has {size:,} bytes; at most {limits.SOURCE_BYTES:,} are taken of one file.")


def unfold(bundle: Bundle, examined: str, root: Path) -> None:
    """All files and ``examined``, or nothing. Several processes may do so at once."""
    _all_or_nothing({**bundle.files, f"reference/{bundle.slug}/{EXAMINED}": examined.encode()}, root)


def _all_or_nothing(files: Mapping[str, bytes], root: Path) -> None:
    root.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = Path(tempfile.mkdtemp(prefix=f".{root.name}-", dir=root.parent))
    try:
        for path, data in files.items():
            target = partial / path
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            target.write_bytes(data)
        try:
            partial.rename(root)
        except OSError:
            if not root.is_dir():  # another process was first
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
