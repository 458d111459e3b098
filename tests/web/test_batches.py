"""Batches from the API: JSON lines in and out, for their sender alone."""

from __future__ import annotations

import json

from flask import Flask

from grader import limits
from grader.schemas.batch import BatchReceipt, BatchView
from grader.service.accounts.accounts import User
from tests.web import builders
from tests.web.conftest import Visit, csrf
from tests.web.refusals import API, refused

LINE = {"id": "one", "challenge": builders.SLUG, "filename": "add.py", "source": builders.SOURCE}


def test_a_batch_of_one_good_and_one_bad_line(call: Visit, ada: User, bob: User) -> None:
    client = call(ada)
    raw = f"{json.dumps(LINE)}\n{{oh\n"
    answer = client.post(f"{API}/batches?name=mine", data=raw, content_type="application/x-ndjson")
    receipt = BatchReceipt.model_validate_json(answer.data)
    path = f"{API}/batches/{receipt.batch.id}"
    assert (answer.status_code, receipt.new, receipt.refused) == (201, 2, 1)
    assert answer.headers["Location"] == path
    results = client.get(f"{path}/results?after=0")
    assert (results.status_code, results.mimetype) == (200, "application/x-ndjson")
    (found,) = [json.loads(line) for line in results.text.splitlines()]
    assert (found["line"], found["error"]["message"]) == (2, "Line 2: it is not JSON.")
    assert client.get(f"{path}/results?after=1").text == ""
    assert BatchView.model_validate_json(client.get(path).data).open == 1
    assert [each["id"] for each in (client.get(f"{API}/batches").json or {})["batches"]] == [receipt.batch.id]
    cancelled = BatchView.model_validate_json(client.post(f"{path}/cancel").data)
    assert cancelled.counts == {"refused": 1, "cancelled": 1}
    again = client.post(f"{API}/batches?name=mine", data=raw, content_type="application/x-ndjson")
    assert "was cancelled" in refused(again, 409, "conflict")
    for other in (call(bob).get(path), call(bob).get(f"{path}/results"), call(bob).post(f"{path}/cancel")):
        assert other.status_code == 404


def test_a_part_has_a_name_and_fits_a_request(call: Visit, ada: User) -> None:
    client = call(ada)
    for name in ("", "?name=", "?name=a/b", "?name=a&first_line=0"):
        assert client.post(f"{API}/batches{name}", data=b"{}").status_code == 400
    assert client.post(f"{API}/batches?name=a", data=b"x" * (limits.REQUEST_BYTES + 1)).status_code == 413
    assert client.get(f"{API}/batches/none/results?wait=60").status_code == 400


def test_a_tokens_limits_are_shown_before_and_after_it_is_given(app: Flask, visit: Visit, ada: User) -> None:
    wanted = {"label": "agent", "per_day": 500, "at_once": 4}
    code = app.test_client().post(f"{API}/device-codes", json=wanted).json or {}
    browser = visit(ada)
    assert "500 submissions a day, 4 at once" in browser.get(f"/device?code={code['user_code']}").text
    token = csrf(browser, f"/device?code={code['user_code']}")
    browser.post("/device", data={"code": code["user_code"], "answer": "approve", "csrf_token": token})
    given = app.test_client().post(f"{API}/device-codes/token", json={"device_code": code["device_code"]})
    assert given.status_code == 201
    assert "500 submissions a day; 4 at once" in " ".join(browser.get("/account").text.split())
