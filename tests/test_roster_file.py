from __future__ import annotations

import pytest

from grader import limits
from grader.errors import BadRequest
from grader.roster_file import EMAIL, FULL_NAME, NUMBER, SECTION, decode, parse


@pytest.mark.parametrize(
    "text",
    [
        "email,name,section\nada@uni.edu,Ada Løvelace,A\n",
        "E-Mail;Full name;Section\r\nada@uni.edu;Ada Løvelace;A\r\n",
        "email address\tStudent\tclass\nada@uni.edu\tAda Løvelace\tA\n",
        '"First name","Surname","Email address","Section"\n"Ada","Løvelace"," ada@uni.edu ","A"\n\n,,,\n',
    ],
)
def test_tables_of_several_programs(text: str) -> None:
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
def test_encodings(encoding: str) -> None:
    assert decode("name,id\nJürgen Straße,1\n".encode(encoding)) == "name,id\nJürgen Straße,1\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_five_thousand_rows_in_any_of_them(encoding: str) -> None:
    names = ["Zoë O’Brien", "Jürgen Straße", "Ñandú, María", "=HYPERLINK(1)"]
    rows = "".join(f'{n};s{n}@uni.edu;"{names[n % 4]}"\r\n' for n in range(limits.ROSTER_ROWS))
    file = parse(decode(f"id;email;name\r\n{rows}".encode(encoding)))
    assert (len(file.lines), file.problems) == (limits.ROSTER_ROWS, [])
    assert [it[FULL_NAME] for it in file.lines[-4:]] == names


def test_of_a_file_in_two_encodings_no_name_comes_out_wrong() -> None:
    content = "name,id\nJürgen,1\n".encode() + "Zoë,2\n".encode("cp1252")
    with pytest.raises(BadRequest, match="Line 3 of the roster is not text in UTF-8, and other lines are"):
        decode(content)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32"])
def test_what_no_spreadsheet_writes_is_no_roster(encoding: str) -> None:
    with pytest.raises(BadRequest):
        parse(decode("name,id\nJürgen,1\n".encode(encoding)))


def test_bytes_that_are_no_text_are_named_by_their_line() -> None:
    with pytest.raises(BadRequest, match="Line 2 of the roster is not text"):
        decode(b"name,id\nAda \x81\xff,1\n")


def test_bad_rows_are_named_by_line_and_column() -> None:
    text = (
        'email,name,section\nada@uni.edu,"Ada\nLovelace",A\n,Nobody,A\nbob@uni.edu,Bob,A,B\n'
        f"eve@uni.edu,Eve,{'x' * 65}\nmal@uni.edu,Mal\x07,A\nkim@uni.edu\n"
    )
    file = parse(text)
    assert [(it.line, it.column, it.text) for it in file.problems] == [
        (4, "", "the row has no e-mail address, student number or account"),
        (5, "", "the row has 4 cells, the first line names 3 columns"),
        (6, "section", "longer than 64 characters"),
        (7, "name", "holds characters that cannot be printed"),
    ]
    assert [(it.number, it[EMAIL]) for it in file.lines] == [(2, "ada@uni.edu"), (8, "kim@uni.edu")]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "is empty"),
        ("Ada,Bob\n1,2\n", "no column that tells who somebody is: Ada, Bob"),
        ("email,mail\na,b\n", "mean the same: email, mail"),
        ('email,name\na@b.c,"open\n', "Line 2 of the roster"),
        ("id\n" + "\n".join(map(str, range(limits.ROSTER_ROWS + 1))), "more than 5,000 rows"),
    ],
)
def test_what_is_no_roster(text: str, wrong: str) -> None:
    with pytest.raises(BadRequest, match=wrong):
        parse(text)


def test_columns_that_mean_nothing_are_named() -> None:
    file = parse("student number,grade,\n17,1.0,x\n")
    assert file.unused == ["grade"]
    assert file.lines[0][NUMBER] == "17"
