"""Writes protocol messages on the runner's own socket, and sets the gate's done word itself.

Mechanism: the submission shares the runner's process, so it can find the connection and the flag page. Surface: the
verdict channel. Closed by construction: no message carries a verdict or a time, and a call that was claimed but not
done leaves poisoned outputs."""

from __future__ import annotations

import pytest

from grader.schemas.report import CaseVerdict
from tests.judge.conftest import Judge
from tests.judge.kernels import with_solve

FIND = """    import __main__, gc, json, socket, struct
    runner = next(it for it in gc.get_objects() if type(it).__name__ == 'Runner')
    def say(body):
        runner.connection.sendall(struct.pack('<I', len(body)) + body)
"""
NUMBER = "    number = runner.flags._words[0]\n"

ATTACKS = {
    "claims-to-have-returned": FIND
    + NUMBER
    + "    runner.flags.set_done(number)\n"
    + "    say(json.dumps(dict(op='returned', round=number, error=None, empty_launches=[])).encode())\n"
    + "    time.sleep(60)",
    "claims-a-verdict": FIND + '    say(b\'{"op": "verdict", "verdict": "accepted"}\')\n    time.sleep(60)',
    "not-json": FIND + "    say(b'\\xff' * 100)\n    time.sleep(60)",
    "endless-length": FIND
    + "    runner.connection.sendall(b'\\xff\\xff\\xff\\xff' + b'x' * 1000)\n    time.sleep(60)",
    "deep-nesting": FIND + "    say(b'[' * 60000)\n    time.sleep(60)",
    "closes-the-connection": FIND + "    runner.connection.close()\n    time.sleep(60)",
    "done-and-silent": FIND + NUMBER + "    runner.flags.set_done(number)\n    time.sleep(60)",
}


@pytest.mark.parametrize("body", ATTACKS.values(), ids=ATTACKS.keys())
def test_no_forgery_is_accepted(judge: Judge, body: str) -> None:
    report = judge(with_solve(body), case="basic")
    assert report.cases[0].verdict in (
        CaseVerdict.RUNTIME_ERROR,
        CaseVerdict.WRONG_ANSWER,
        CaseVerdict.TIME_LIMIT,
    )
