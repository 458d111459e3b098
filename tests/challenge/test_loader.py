"""Loading folders: contents, order, and the refusal of each bad file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.errors import ChallengeInvalid, UnknownChallenge
from grader.languages import Language
from tests.challenge.conftest import CASES, MANIFEST, Write

HEAD = "from grader.challenge.cases import Constant, case\n"
BASIC = 'case("basic", "basic", rows=2, cols=3)'
ONES = 'case("ones", "ones", rows=2, cols=3, inputs={"x": Constant(1)})'
BAD_CASES = {
    "it defines no function 'cases'": "x = 1\n",
    "'cases'": "cases = []\n",
    "SyntaxError": "def cases(:\n",
    "ModuleNotFoundError": "import no_such_module\n",
    "returned no case": "def cases():\n    return []\n",
    "timed = True, but it has no inputs": f"{HEAD}def cases():\n    return [{BASIC[:-1]}, timed=True)]\n",
    "timed = True, but it has scalars": (
        f"{HEAD}def cases():\n    return [{ONES[:-1]}, scalars={{'alpha': 2}}, timed=True)]\n"
    ),
    "timed = True, but it runs only on a GPU": f"{HEAD}def cases():\n    return [{ONES[:-1]}, on='gpu', timed=True)]\n",
    "not a valid Category": f'{HEAD}def cases():\n    return [case("a", "funny", rows=1, cols=1)]\n',
    "boom": "def cases():\n    raise KeyError('boom')\n",
    "make cases with case": "def cases():\n    return ['basic']\n",
    "case 'basic': another case": f"{HEAD}def cases():\n    return [{BASIC}, {BASIC}]\n",
    "case 'a': sizes are": f'{HEAD}def cases():\n    return [case("a", "basic", rows=1)]\n',
    "['rows'] must not be negative": f'{HEAD}def cases():\n    return [case("a", "basic", rows=-1, cols=1)]\n',
    "sizes ['rows'] are not whole": f'{HEAD}def cases():\n    return [case("a", "basic", rows=1.5, cols=1)]\n',
    "case 'a': inputs ['y'] do not exist": (
        f'{HEAD}def cases():\n    return [case("a", "basic", rows=1, cols=1, inputs={{"y": Constant(1)}})]\n'
    ),
    "case 'a': inputs ['out'] do not exist": (
        f'{HEAD}def cases():\n    return [case("a", "basic", rows=1, cols=1, inputs={{"out": Constant(1)}})]\n'
    ),
    "case 'a': inputs ['x'] are not recipes": (
        f'{HEAD}def cases():\n    return [case("a", "basic", rows=1, cols=1, inputs={{"x": 1.0}})]\n'
    ),
    "case 'a': scalars ['beta'] do not exist": (
        f'{HEAD}def cases():\n    return [case("a", "basic", rows=1, cols=1, scalars={{"beta": 1.0}})]\n'
    ),
}
BAD_REFERENCES = {
    "no function 'reference'": "def compute(): ...\n",
    "'reference' is not a function": "reference = 3\n",
    "'magnitude' is not a function": "def reference(x, pick, alpha, rows, cols): ...\nmagnitude = 3\n",
    "reference: got an unexpected keyword argument 'cols'": "def reference(x, pick, alpha, rows): ...\n",
    "magnitude: missing a required": (
        "def reference(x, pick, alpha, rows, cols): ...\ndef magnitude(x, pick, alpha, rows, cols, y): ...\n"
    ),
    "ZeroDivisionError": "1 / 0\n",
}


@pytest.mark.parametrize("said", BAD_CASES)
def test_a_bad_cases_file_names_itself(write: Write, said: str) -> None:
    with pytest.raises(ChallengeInvalid) as caught:
        _ = write(cases=BAD_CASES[said]).cases
    assert "cases.py" in caught.value.message
    assert said in caught.value.message


@pytest.mark.parametrize("said", BAD_REFERENCES)
def test_a_bad_reference_names_itself(write: Write, said: str) -> None:
    with pytest.raises(ChallengeInvalid) as caught:
        _ = write(reference=BAD_REFERENCES[said]).reference
    assert "reference.py" in caught.value.message
    assert said in caught.value.message


def test_files_are_read_lazily(write: Write) -> None:
    challenge = write(cases="raise SystemError", reference="raise SystemError")
    assert challenge.manifest.title == "Scaled rows"


def test_a_missing_file_is_named(write: Write) -> None:
    challenge = write()
    (challenge.folder / "cases.py").unlink()
    with pytest.raises(ChallengeInvalid, match=r"cases\.py: the file is missing"):
        _ = challenge.cases
    with pytest.raises(ChallengeInvalid, match=r"spec\.md: the file is missing"):
        _ = challenge.spec


def test_a_text_that_is_not_utf8_is_refused(write: Write) -> None:
    challenge = write()
    (challenge.folder / "spec.md").write_bytes(b"caf\xe9")
    with pytest.raises(ChallengeInvalid, match=r"spec\.md: it is not UTF-8"):
        _ = challenge.spec


def test_hidden_cases_are_marked_and_may_be_missing(write: Write) -> None:
    assert write().hidden_cases == []
    hidden = write(
        hidden=CASES.replace('"basic"', '"secret"', 1).replace('"ones"', '"other"', 1)
    ).hidden_cases
    assert [case.name for case in hidden] == ["secret", "other"]
    assert all(case.hidden for case in hidden)


def test_a_named_hidden_category_needs_public_cases(write: Write) -> None:
    manifest = f"name_hidden_categories = true\n{MANIFEST}"
    hidden = CASES.replace('"basic"', '"secret"', 1).replace('"ones"', '"other"', 1)
    assert len(write(manifest=manifest, hidden=hidden).hidden_cases) == 2
    odd = f'{HEAD}def cases():\n    return [case("secret", "prime", rows=7, cols=3)]\n'
    assert len(write(hidden=odd).hidden_cases) == 1
    with pytest.raises(ChallengeInvalid, match="'secret': no public case has its category 'prime'"):
        _ = write(manifest=manifest, hidden=odd).hidden_cases


def test_a_hidden_case_may_not_take_a_public_name(write: Write) -> None:
    with pytest.raises(ChallengeInvalid, match=r"hidden_cases\.py: case 'basic': another case"):
        _ = write(hidden=CASES).hidden_cases


def test_a_case_is_found_by_name(write: Write) -> None:
    challenge = write()
    assert challenge.case("ones").category == "ones"
    with pytest.raises(ChallengeInvalid, match="no case 'two'") as caught:
        challenge.case("two")
    assert "basic, ones" in caught.value.hint


def test_a_missing_starter_is_generated(write: Write) -> None:
    assert "solve" in write().starter(Language.CUDA)


def test_an_unknown_challenge_lists_the_known_ones(write: Write) -> None:
    root = write().folder.parent.parent
    with pytest.raises(UnknownChallenge) as caught:
        Catalogue(root).load("columns")
    assert "rows" in caught.value.hint


@pytest.mark.parametrize("slug", ["../rows", "rows/../rows", "", "/etc"])
def test_a_path_is_refused_as_a_slug(write: Write, slug: str) -> None:
    root = write().folder.parent.parent
    with pytest.raises(UnknownChallenge):
        Catalogue(root).load(slug)


def test_find_catalogue_takes_the_chosen_folder(write: Write, tmp_path: Path) -> None:
    root = write().folder.parent.parent
    assert find_catalogue(root).slugs() == ["rows"]
    with pytest.raises(ChallengeInvalid, match="no folder 'challenges'"):
        find_catalogue(tmp_path / "nowhere")


def test_challenges_come_by_track_and_order() -> None:
    titles = [track.title for track in find_catalogue().curriculum.tracks]
    found = [
        (titles.index(challenge.manifest.track), challenge.manifest.order, challenge.slug)
        for challenge in find_catalogue().all()
    ]
    assert found == sorted(found)
    assert {"vector_add", "matmul", "softmax", "histogram"} <= {slug for _, _, slug in found}


def test_the_clients_imports_do_not_load_torch() -> None:
    modules = "cases, catalogue, draw, loader, signature, source"
    code = f"import sys; from grader.challenge import {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("slug", ["", ".", "..", "../challenges/dot", "a\0b", "x" * 5000, "dot/", "\udc80"])
def test_an_impossible_folder_name_is_unknown(slug: str) -> None:
    with pytest.raises(UnknownChallenge):
        find_catalogue(None).load(slug)
