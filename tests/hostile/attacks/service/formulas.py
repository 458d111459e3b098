"""Names that a spreadsheet would execute.

Mechanism: a source, a file name and a display name that begin with =, +, - or @ and call a program.
Surface: CSV tables. Boards have one, whose cells are texts; no other answer may be one.
Gain: a program runs on the teacher's machine when a table of results is opened.
"""

from __future__ import annotations

import csv
import io

from tests.hostile.service import Service

NAMES = ["=cmd|'x'!A1.py", "+1+1.py", "-1.py", "@SUM(1).py"]
TABLES = ("text/csv", "application/vnd", "text/tab-separated-values")


def attempt(service: Service) -> list[str]:
    for name in NAMES:
        service.by_api("x = 1", filename=name)
    gained = []
    for path in (
        "/submissions",
        "/leaderboards/vector_add",
        "/api/v1/submissions",
        "/api/v1/leaderboards/vector_add",
    ):
        for wanted in ("text/csv", "*/*"):
            answer = service.program.get(path, headers={"Accept": wanted})
            if answer.content_type.startswith(TABLES):
                gained.append(f"{path} is a table")
        if service.program.get(f"{path}.csv").status_code == 200:
            gained.append(f"{path}.csv is there")
    board = service.browser.get("/leaderboards/vector_add/board.csv")
    cells = [cell for row in csv.reader(io.StringIO(board.text, newline="")) for cell in row]
    if board.status_code != 200 or "rank" not in cells:
        gained.append("the board's table cannot be looked at")
    return gained + [f"the cell {cell!r}" for cell in cells if cell.startswith(("=", "+", "-", "@"))]
