"""The findings of `grader challenge check` as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from grader.schemas.proof import CandidateOutcome, CandidateResult, Check, Proof, Proofs

_STYLE = """
:root { color-scheme: light dark; --line: light-dark(#d7dbe0, #3a4048); --soft: light-dark(#5b6470, #a3abb6);
  --good: light-dark(#116329, #6fdd8b); --bad: light-dark(#a40e26, #ff8a8a); --mark: light-dark(#eef1f4, #23272e); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 80rem;
  color: light-dark(#1b1f24, #e6e9ee); background: light-dark(#fff, #15181c); }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; } .scroll:focus-visible { outline: 2px solid; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .3rem .5rem;
  border-bottom: 1px solid var(--line); }
.grid th:first-child { position: sticky; left: 0; background: light-dark(#fff, #15181c);
  min-width: 9rem; max-width: 42vw; }
.grid thead th { writing-mode: vertical-rl; white-space: nowrap; vertical-align: bottom; font-weight: normal; }
.grid thead th:first-child { writing-mode: horizontal-tb; }
.grid td { text-align: center; } .hit { background: var(--mark); color: var(--good); font-weight: bold; }
.ok { color: var(--good); } .weak, .error { color: var(--bad); font-weight: bold; } .soft { color: var(--soft); }
pre { overflow-x: auto; background: var(--mark); padding: .5rem; } ul { margin: .2rem 0; padding-left: 1.2rem; }
"""


def proof_page(proofs: Proofs) -> str:
    strong = sum(proof.strong for proof in proofs.challenges)
    body = "".join(_proof(proof) for proof in proofs.challenges)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta content="width=device-width, initial-scale=1" name=viewport>'
        f"<title>Proof</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{strong} of {len(proofs.challenges)} proven on {escape(proofs.device)}</h1>\n{body}</body></html>\n"
    )


def _proof(proof: Proof) -> str:
    rows = "".join(_check(check) for check in proof.checks)
    wrong = proof.wrong
    right = [result for result in proof.tried if not result.role.wrong]
    return (
        f"<h2><code>{escape(proof.slug)}</code></h2>\n"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Checks of {escape(proof.slug)}"><table>'
        '<thead><tr><th scope="col">Result</th><th scope="col">Check</th><th scope="col">What was found</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>\n"
        f"{_right(right)}{_matrix(proof, wrong)}{_survivors(wrong)}"
    )


def _check(check: Check) -> str:
    lines = "".join(f"<li>{escape(line)}</li>" for line in check.details)
    lines += "".join(f'<li class="soft">{escape(line)}</li>' for line in check.remarks)
    more = f"<ul>{lines}</ul>" if lines else ""
    return (
        f'<tr><td class="{check.status.value}">{check.status.value}</td><td><code>{escape(check.name)}</code></td>'
        f"<td>{escape(check.summary)}{more}</td></tr>"
    )


def _right(results: Sequence[CandidateResult]) -> str:
    if not results:
        return ""
    lines = "".join(
        f"<li>{result.role.value} <code>{escape(result.name)}</code>: {_words(result.ending)} in {result.ran} cases"
        f"{': ' + escape(result.detail) if result.detail else ''}</li>"
        for result in results
    )
    return f"<h3>Right kernels</h3><ul>{lines}</ul>\n"


def _matrix(proof: Proof, results: Sequence[CandidateResult]) -> str:
    """Cases that refuse nothing are listed below."""
    failing = [result for result in results if result.failed]
    if not failing:
        return ""
    names = proof.refusing
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(result.name)}</code></th>'
        + "".join(_cell(result, name) for name in names)
        + "</tr>"
        for result in failing
    )
    idle = [name for name in proof.cases if name not in names]
    how = "every case that refuses it" if proof.matrix else "the first case that refuses it"
    rest = f'<p class="soft">Refuse none: {escape(", ".join(idle))}.</p>' if idle else ""
    return (
        f'<h3>Wrong kernels and {how}</h3><div class="scroll" tabindex="0" role="region" aria-label="Matrix of '
        f'{escape(proof.slug)}"><table class="grid"><thead><tr><th scope="col">Kernel</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>\n{rest}"
    )


def _cell(result: CandidateResult, name: str) -> str:
    return '<td class="hit">fails</td>' if name in result.failed else "<td></td>"


def _survivors(results: Sequence[CandidateResult]) -> str:
    found = [result for result in results if not result.failed]
    lines = "".join(
        f"<li><code>{escape(result.name)}</code>: {_words(result.ending)}"
        f"{': ' + escape(result.detail) if result.detail else ''}"
        f"{f'<pre><code>{escape(result.proposed)}</code></pre>' if result.proposed else ''}</li>"
        for result in found
    )
    return f"<h3>Wrong kernels that no case refuses</h3><ul>{lines}</ul>\n" if found else ""


def _words(ending: CandidateOutcome) -> str:
    return ending.value.replace("_", " ")
