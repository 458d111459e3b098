"""`leaderboard` against a stub."""

from __future__ import annotations

from typing import Any

from tests.cli.conftest import Cli
from tests.cli.stub import Stub


def test_leaderboard_prints_the_entries(server: Stub, cli: Cli) -> None:
    entry = {
        "rank": 1,
        "user": "[bold]ada",
        "submission": "abc123",
        "language": "triton",
        "time_us": 12.0,
        "ci_us": [11.0, 13.0],
        "speedup": 2.5,
        "submitted_at": "2026-01-02T03:04:05Z",
    }
    board: dict[str, Any] = {
        "challenge": "vector_add",
        "version": 1,
        "device": "cpu",
        "representative": False,
    }
    server.answer("GET /leaderboards/vector_add", board | {"entries": [entry], "devices": ["cpu", "h200"]})
    ran = cli("leaderboard", "vector_add", "--language", "triton")
    assert ran.code == 0
    for words in ("[bold]ada", "12.0 µs ± 1.00 µs", "2.50x"):
        assert words in ran.out
    assert "not representative" in ran.err
    assert "h200" in ran.err
    assert server.asked[0].path.endswith("?language=triton")
    assert "too small" not in ran.err
    server.answer("GET /leaderboards/vector_add", board | {"entries": [entry], "left_out": ["beyond_2_31"]})
    assert "GPU's memory is too small: beyond_2_31." in cli("leaderboard", "vector_add").err
    server.answer("GET /leaderboards/vector_add", board | {"entries": []})
    assert "Nobody is on this board yet." in cli("leaderboard", "vector_add").err
