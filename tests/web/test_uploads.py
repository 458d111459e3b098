"""A challenge is uploaded, looked at, used and reworded in the browser and by the API."""

from __future__ import annotations

import base64
import io
import re

import pytest

from grader.challenge import bundle
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.service.examining import examine
from tests.web import builders
from tests.web.conftest import Visit, csrf

API = "/api/v1"


@pytest.fixture
def packed(platform: Platform) -> bytes:
    return bundle.of_challenge(platform.catalogue.load(builders.SLUG)).packed()


def test_an_upload_is_checked_and_used_on_the_pages(
    platform: Platform, visit: Visit, teacher: User, packed: bytes
) -> None:
    client = visit(teacher)
    token = csrf(client, "/uploads")

    def post(path: str, **form: object) -> tuple[int, str]:
        given = client.post(path, data={"csrf_token": token, **form}, content_type="multipart/form-data")
        return given.status_code, given.text

    refused = post("/uploads", archive=(io.BytesIO(b"no archive"), "a.zip"))
    assert refused[0] == 400
    assert "readable ZIP archive" in refused[1]
    assert post("/uploads", archive=(io.BytesIO(packed), "a.zip"), note="<b>first</b>")[0] == 303
    path = f"/uploads/{builders.SLUG}/1"
    waiting = client.get(path).text
    assert "Waiting for a worker." in waiting
    assert "&lt;b&gt;first&lt;/b&gt;" in waiting
    assert client.get(f"{path}/preview").status_code == 409
    examine(platform)
    shown = client.get(path).text
    assert "every part is present" in shown
    assert "Judging stays the same" in shown
    assert re.search(r'<th scope="row"><code>no_mask.py</code></th><td><span class="badge good">fails', shown)
    assert "Refuse none: basic." in shown
    assert "case(&#34;nan&#34;, &#34;nan&#34;, n=300" in shown
    panel = client.get(f"{path}/panel")
    assert 'data-final="1"' in panel.text
    assert client.get(f"{path}/panel", headers={"If-None-Match": panel.headers["ETag"]}).status_code == 304
    assert "As students see it" in client.get(f"{path}/preview").text
    assert bundle.read_archive(client.get(f"{path}/archive.zip").data).slug == builders.SLUG
    assert post(f"{path}/use")[0] == 303
    assert platform.catalogue.is_uploaded(builders.SLUG)
    assert "in use" in client.get("/uploads").text
    assert post(f"{path}/withdraw")[0] == 303
    assert not platform.catalogue.is_uploaded(builders.SLUG)


def test_a_stale_spec_edit_is_refused(visit: Visit, teacher: User, platform: Platform) -> None:
    client = visit(teacher)
    path = f"/uploads/{builders.SLUG}/spec"
    page = client.get(path).text
    token = csrf(client, path)

    def send(text: str, base: str, action: str = "save") -> tuple[int, str]:
        form = {"csrf_token": token, "text": text, "base": base, "action": action}
        answer = client.post(path, data=form)
        return answer.status_code, answer.text

    base = re.search(r'name="base" value="(\d+)"', page)
    assert base is not None
    assert base[1] == "0"
    status, preview = send("# New\n\n<script>alert(1)</script>\n\n**bold**", "0", "preview")
    assert status == 200
    assert "<strong>bold</strong>" in preview
    assert "<script>alert" not in preview
    assert send("# Theirs\n", "0")[0] == 303
    status, conflict = send("# Mine\n", "0")
    assert status == 409
    assert "# Mine" in conflict
    assert "-# Theirs" in conflict
    assert 'name="base" value="1"' in conflict
    assert send("# Mine\n", "1")[0] == 303


def test_uploads_work_by_api(platform: Platform, call: Visit, teacher: User, packed: bytes) -> None:
    client = call(teacher)
    sent = client.post(f"{API}/uploads", json={"archive": base64.b64encode(packed).decode(), "base": 0})
    assert sent.status_code == 201
    place = sent.headers["Location"]
    stale = client.post(
        f"{API}/uploads",
        json={"archive": base64.b64encode(_reworded(packed)).decode(), "base": 0},
    )
    assert stale.status_code == 409
    assert client.get(f"{place}/preview").status_code == 409
    examine(platform)
    found = client.get(place).json
    assert found is not None
    assert found["upload"]["check"] == "proven"
    assert found["findings"]["checks"][0]["name"] == "spec"
    assert client.get(f"{place}/preview").status_code == 200
    assert client.post(f"{place}/use", json={}).status_code == 200
    spec = client.get(f"{API}/uploads/{builders.SLUG}/spec").json
    assert spec is not None
    body = {"text": "# Other\n", "base": spec["base"]}
    assert client.put(f"{API}/uploads/{builders.SLUG}/spec", json=body).status_code == 201
    assert client.post(f"{API}/uploads/{builders.SLUG}/withdraw").status_code == 200
    assert client.post(f"{API}/uploads", json={"archive": "%%%"}).status_code == 400


def _reworded(packed: bytes) -> bytes:
    made = bundle.read_archive(packed)
    return made.with_file(made.spec_path, "# Reworded\n").packed()
