from __future__ import annotations

import pytest

from grader import limits
from grader.errors import BadRequest
from grader.roster_file import ACCOUNT, EMAIL, FULL_NAME, NUMBER, SECTION, decode, parse


@pytest.mark.parametrize(
    "text",
    [
        "email,name,section\nada@uni.edu,Ada Løvelace,A\n",
        "E-Mail;Full name;Section\r\nada@uni.edu;Ada Løvelace;A\r\n",
        "email address\tStudent\tclass\nada@uni.edu\tAda Løvelace\tA\n",
        '"First name","Surname","Email address","Section"\n"Ada","Løvelace"," ada@uni.edu ","A"\n\n,,,\n',
    ],
)
def test_tables_of_several_programs_are_read(text: str) -> None:
    file = parse(text)
    assert file.problems == []
    (line,) = file.lines
    assert (line.number, line[EMAIL], line[FULL_NAME], line[SECTION]) == (
        2,
        "ada@uni.edu",
        "Ada Løvelace",
        "A",
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_common_encodings_are_decoded(encoding: str) -> None:
    text, named, guessed = decode("name,id\nJürgen Straße,1\n".encode(encoding))
    assert text == "name,id\nJürgen Straße,1\n"
    assert named == {"cp1252": "Windows-1252", "utf-16": "UTF-16"}.get(encoding, "UTF-8")
    assert guessed == (encoding == "cp1252")  # the names of another code page come out wrong


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_five_thousand_rows_are_read_in_any_encoding(encoding: str) -> None:
    names = ["Zoë O’Brien", "Jürgen Straße", "Ñandú, María", "=HYPERLINK(1)"]
    rows = "".join(f'{n};s{n}@uni.edu;"{names[n % 4]}"\r\n' for n in range(limits.ROSTER_ROWS))
    file = parse(decode(f"id;email;name\r\n{rows}".encode(encoding)).text)
    assert (len(file.lines), file.problems) == (limits.ROSTER_ROWS, [])
    assert [line[FULL_NAME] for line in file.lines[-4:]] == names


def test_a_file_in_two_encodings_is_refused() -> None:
    content = "name,id\nJürgen,1\n".encode() + "Zoë,2\n".encode("cp1252")
    with pytest.raises(BadRequest, match="Line 3 of the roster is not text in UTF-8, but other lines are"):
        decode(content)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32"])
def test_an_unusual_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(BadRequest):
        parse(decode("name,id\nJürgen,1\n".encode(encoding)).text)


def test_undecodable_bytes_are_reported_by_line() -> None:
    with pytest.raises(BadRequest, match="Line 2 of the roster is not text"):
        decode(b"name,id\nAda \x81\xff,1\n")


def test_bad_rows_are_reported_by_line_and_column() -> None:
    text = (
        'email,name,section\nada@uni.edu,"Ada\nLovelace",A\n,Nobody,A\nbob@uni.edu,Bob,A,B\n'
        f"eve@uni.edu,Eve,{'x' * 65}\nmal@uni.edu,Mal\x07,A\nkim@uni.edu\n"
    )
    file = parse(text)
    assert [(problem.line, problem.column, problem.text) for problem in file.problems] == [
        (4, "", "the row has no e-mail address, student number or account"),
        (5, "", "the row has 4 cells, but the first line names 3 columns"),
        (6, "section", "longer than 64 characters"),
        (7, "name", "contains characters that cannot be printed"),
    ]
    assert [(line.number, line[EMAIL]) for line in file.lines] == [(2, "ada@uni.edu"), (8, "kim@uni.edu")]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "is empty"),
        ("Ada,Bob\n1,2\n", "no column that identifies people: Ada, Bob"),
        ("email,mail\na,b\n", "mean the same: email, mail"),
        ('email,name\na@b.c,"open\n', "Line 2 of the roster"),
        ("id\n" + "\n".join(map(str, range(limits.ROSTER_ROWS + 1))), "more than 5,000 rows"),
    ],
)
def test_other_files_than_rosters_are_refused(text: str, wrong: str) -> None:
    with pytest.raises(BadRequest, match=wrong):
        parse(text)


def test_unknown_columns_are_reported() -> None:
    file = parse("student number,grade,\n17,1.0,x\n")
    assert file.unused == ["grade"]
    assert file.lines[0][NUMBER] == "17"


def test_a_canvas_gradebook_is_read() -> None:
    file = parse(
        "Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (101),Current Score\n"
        "    Points Possible,,,,,100,(read only)\n"
        '"Lovelace, Ada",123,1815,alovelace,GPU-A,90,90\n'
        '"Hopper, Grace",125,1906,grace@uni.edu,GPU-A,90,90\n'
        '"Student, Test",124,,,GPU-A,,\n'
    )
    assert file.problems == []
    assert [dict(line.values) for line in file.lines] == [
        {FULL_NAME: "Ada Lovelace", NUMBER: "1815", SECTION: "GPU-A"},
        {FULL_NAME: "Grace Hopper", NUMBER: "1906", SECTION: "GPU-A", EMAIL: "grace@uni.edu"},
    ]
    assert file.unused == ["ID", "Week 1 (101)", "Current Score"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("username\nada\n", {ACCOUNT: "ada"}),
        # Anybody may have an account of that name here.
        ("username,email\nada,ada@uni.edu\n", {EMAIL: "ada@uni.edu"}),
        ("username,id\nada,1\n", {NUMBER: "1"}),
        ("account,email\nada,ada@uni.edu\n", {ACCOUNT: "ada", EMAIL: "ada@uni.edu"}),
    ],
)
def test_foreign_logins_are_accounts_only_without_other_identification(
    text: str, values: dict[str, str]
) -> None:
    assert [dict(line.values) for line in parse(text).lines] == [values]


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("مهدی\u200cزاده", True),  # a Persian name is not written without it
        ("क्\u200dष", True),
        ("Ada\u200b", False),
        ("\u202eAda", False),
        ("\u200cAda", False),
        ("Ada \u200d", False),
    ],
)
def test_names_may_hold_joiners_between_letters_only(name: str, right: bool) -> None:
    file = parse(f"email,name\nada@uni.edu,{name}\n")
    assert (file.problems == []) == right
    assert [line[FULL_NAME] for line in file.lines] == ([name] if right else [])


def test_joiners_are_refused_in_addresses() -> None:
    assert len(parse("email\nad\u200ca@uni.edu\n").problems) == 1
