"""An uploaded archive is one challenge of text files or is refused with a reason; nothing in it runs."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from grader import limits
from grader.challenge import bundle, examined, fingerprint
from grader.challenge.catalogue import Catalogue
from grader.challenge.examined import Examined
from grader.challenge.loader import EXAMINED
from grader.errors import BadBundle, ChallengeInvalid, GraderError
from tests.challenge.conftest import CASES, MANIFEST, REFERENCE, Write

FILES = {
    "challenges/rows/challenge.toml": MANIFEST,
    "challenges/rows/spec.md": "# Rows\n",
    "challenges/rows/cases.py": CASES,
    "reference/rows/reference.py": REFERENCE,
}


def archive(files: Mapping[str, str | bytes], **values: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            for key, value in values.items():
                setattr(entry, key, value)
            made.writestr(entry, text)
    return buffer.getvalue()


def test_packing_is_reversible_and_reproducible() -> None:
    made = bundle.read_archive(archive(FILES))
    assert made.slug == "rows"
    assert made.files == {path: text.encode() for path, text in FILES.items()}
    again = bundle.read_archive(made.packed())
    assert (again.digest, again.packed()) == (made.digest, made.packed())


def test_an_outer_folder_and_litter_are_ignored() -> None:
    litter = {
        "mine/.DS_Store": "x",
        "__MACOSX/mine/._spec.md": "x",
        "mine/challenges/rows/__pycache__/cases.cpython-311.pyc": b"\xff",
        "mine/challenges/tracks.toml": "",
    }
    made = bundle.read_archive(archive({f"mine/{path}": text for path, text in FILES.items()} | litter))
    assert set(made.files) == set(FILES)


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ({"../evil.py": ""}, "leads out"),
        ({"/etc/passwd.txt": ""}, "leads out"),
        ({"challenges/rows/../../evil.py": ""}, "leads out"),
        ({"challenges\\rows\\evil.py": ""}, "leads out"),
        ({"C:/evil.py": ""}, "leads out"),
        ({"challenges/rows/a name.py": ""}, "is not allowed"),
        ({"challenges/rows/naïve.py": ""}, "is not allowed"),
        ({"challenges/rows/a/b/c/d/e/f.py": ""}, "too deep"),
        ({"challenges/rows/tool.exe": ""}, "not a file of a challenge"),
        ({"README.md": ""}, "not a file of a challenge"),
        ({f"reference/rows/{EXAMINED}": "{}"}, "not a file of a challenge"),
        ({"challenges/other/spec.md": ""}, "one challenge"),
        ({"challenges/rows/SPEC.md": "again"}, "twice"),
        ({"challenges/rows/latin.md": "é".encode("latin-1")}, "line 1"),
        ({"challenges/rows/binary.txt": b"a\0b"}, "NUL"),
        ({"challenges/rows/large.txt": "x" * (limits.SOURCE_BYTES + 1)}, "bytes; at most"),
        ({f"challenges/rows/f{n}.txt": "x" * limits.SOURCE_BYTES for n in range(17)}, "together"),
        ({f"challenges/rows/f{n}.txt": "" for n in range(limits.BUNDLE_FILES)}, "files; at most"),
    ],
)
def test_a_bad_file_in_an_archive_is_refused(extra: Mapping[str, str | bytes], says: str) -> None:
    with pytest.raises(BadBundle, match=says):
        bundle.read_archive(archive(FILES | extra))


def test_links_are_refused() -> None:
    with pytest.raises(BadBundle, match="a link"):
        bundle.read_archive(archive(FILES, external_attr=0o120777 << 16))


def test_a_password_is_refused() -> None:
    data = bytearray(archive(FILES))
    at = data.find(b"PK\x01\x02")
    data[at + 8] |= 1
    with pytest.raises(BadBundle, match="password"):
        bundle.read_archive(bytes(data))


def test_a_zip_bomb_is_read_only_up_to_the_limit() -> None:
    """Even if its directory claims a small size."""
    bomb = archive(FILES | {"challenges/rows/bomb.txt": "x" * (200 * limits.MIB)})
    assert len(bomb) < limits.BUNDLE_ARCHIVE_BYTES
    with pytest.raises(BadBundle, match="bytes"):
        bundle.read_archive(bomb)
    at = bomb.rfind(b"PK\x01\x02")
    lying = bomb[: at + 24] + struct.pack("<I", 10) + bomb[at + 28 :]
    with pytest.raises(BadBundle):
        bundle.read_archive(lying)


@pytest.mark.parametrize("data", [b"", b"PK", b"no archive", archive(FILES)[:-30], archive(FILES)[30:]])
def test_other_files_than_archives_are_refused(data: bytes) -> None:
    with pytest.raises(BadBundle):
        bundle.read_archive(data)


def test_a_too_large_archive_is_refused_unread() -> None:
    with pytest.raises(BadBundle, match="The archive has"):
        bundle.read_archive(b"PK" + bytes(limits.BUNDLE_ARCHIVE_BYTES))


@pytest.mark.parametrize(
    "path", ["challenges/rows/challenge.toml", "challenges/rows/cases.py", "reference/rows/reference.py"]
)
def test_a_missing_file_is_named(path: str) -> None:
    with pytest.raises(BadBundle, match=path):
        bundle.read_archive(archive({name: text for name, text in FILES.items() if name != path}))


@pytest.mark.parametrize("bomb", ["x = " + "[" * 100_000, "x = " + "9" * 100_000], ids=["deep", "long"])
def test_a_manifest_that_takes_too_long_to_parse_is_refused(bomb: str) -> None:
    with pytest.raises(ChallengeInvalid, match="not TOML"):
        bundle.read_archive(archive(FILES | {"challenges/rows/challenge.toml": f"{bomb}\n"}))


def test_a_damaged_file_is_refused_under_any_compression() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as made:
        for name, text in FILES.items():
            made.writestr(name, text)
    data = bytearray(buffer.getvalue())
    at = data.find(b"challenge.toml") + len("challenge.toml") + 20
    data[at : at + 40] = b"\xff" * 40
    with pytest.raises(BadBundle):
        bundle.read_archive(bytes(data))


def test_a_manifest_with_a_mistake_names_the_key() -> None:
    broken = FILES | {"challenges/rows/challenge.toml": MANIFEST.replace('difficulty = "easy"', "")}
    with pytest.raises(ChallengeInvalid, match="difficulty"):
        bundle.read_archive(archive(broken))


def test_an_uploaded_challenge_runs_no_code_here_and_judges_the_same(write: Write, tmp_path: Path) -> None:
    challenge = write(
        hidden=CASES.replace('"basic", "basic"', '"other", "basic"').replace('"ones", "', '"more", "')
    )
    hidden = tuple(challenge.hidden_cases)
    found = Examined(tuple(challenge.cases), hidden, challenge.inputs, challenge.functions)
    (challenge.folder / "spec.md").write_text("# Rows\n")
    hostile = bundle.of_challenge(challenge).with_file(
        "challenges/rows/cases.py", "raise SystemExit('it ran')\n"
    )
    bundle.unfold(hostile, examined.dump(found), tmp_path / "uploaded")
    uploaded = Catalogue(tmp_path / "uploaded").load("rows")
    assert fingerprint.digest(fingerprint.content(uploaded)) == fingerprint.digest(
        fingerprint.content(challenge)
    )
    with pytest.raises(ChallengeInvalid, match="only in a box"):
        _ = uploaded.reference


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace('"recipe": "Constant"', '"recipe": "Popen"'),
        lambda text: text.replace('"value": 1', '"value": {"recipe": "Case"}'),
        lambda text: text.replace('"rows": 2', '"rows": "2"'),
        lambda text: text.replace('"basic"', '"strange"'),
        lambda text: text[:-10],
        lambda text: "[" * 100_000,
        lambda text: "null",
    ],
)
def test_a_spoilt_answer_of_the_box_is_refused(write: Write, spoil: Callable[[str], str]) -> None:
    challenge = write()
    text = examined.dump(Examined(tuple(challenge.cases), (), {}, ("reference",)))
    with pytest.raises(ChallengeInvalid):
        examined.load(spoil(text))


def test_a_custom_recipe_is_refused(write: Write) -> None:
    own = CASES.replace(
        "def cases():",
        "class Mine:\n    def draw(self, *_): ...\n    def words(self): return 'mine'\n\ndef cases():",
    ).replace("Constant(1)}", "Mine()}")
    challenge = write(cases=own)
    with pytest.raises(GraderError, match="Mine is not a recipe"):
        examined.dump(Examined(tuple(challenge.cases), (), {}, ("reference",)))
