"""An idempotency key that is used again.

Mechanism: sends the key of an earlier submission with another source, and another user's key with its own
  source.
Surface: the record that is found by the key.
Gain: a judged submission with another source; reading somebody else's submission.
"""

from __future__ import annotations

from tests.hostile.service import Service


def attempt(service: Service) -> list[str]:
    first = service.by_api("x = 1", key="once")
    again = service.by_api("stolen = 2", key="once")
    theirs = service.by_api("mine = 3", key="once", program=service.other)
    gained = []
    if (first.status_code, theirs.status_code) != (201, 201):
        gained.append(f"not taken: {first.status_code}, {theirs.status_code}")
    if again.json.get("id") not in (None, first.json["id"]):
        gained.append("a second submission by the same key")
    if theirs.json["id"] == first.json["id"]:
        gained.append("another user's submission")
    kept = service.program.get(f"{service.API}/{first.json['id']}/source").json
    return gained if kept["source"] == "x = 1" else [*gained, "the source was exchanged"]
