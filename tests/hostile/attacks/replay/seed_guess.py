"""Guesses the seed, and answers from its own draw.

Mechanism: draws inputs from seeds that a judge might use (small numbers, the round's number, hashes of the
  challenge's name with empty keys) and compares their beginnings with x's; the answer then needs no reading of
  x.
Surface: predictable seeds.
Gain: all answers computed in advance.
Challenge: twice
Defence: wrong_answer
"""

import hashlib
import hmac

import torch

WORDS = [
    f"{name}:{part}"
    for name in ("twice", "basic", "workload small")
    for part in ("", "own", "round 1", "basic")
]
KEYS = [b"", b"twice", b"at home: twice", bytes(32), hashlib.sha256(b"at home: twice").digest()]
GUESSES = [
    *range(200),
    *(
        int.from_bytes(hmac.digest(key, word.encode(), hashlib.sha256)[:size], "big") % 2**63
        for key in KEYS
        for word in WORDS
        for size in (4, 6, 8)
    ),
]


def solve(x, out, n):
    for seed in GUESSES:
        drawn = torch.randn(n, generator=torch.Generator().manual_seed(seed))
        if torch.equal(drawn[:8], x[:8]):
            out.copy_(2 * drawn)
            return
