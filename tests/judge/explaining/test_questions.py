"""Wrong results that are a simple function of an input, or the answer for another input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader import limits
from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.judge.explaining.numbers.patterns import pattern_of
from grader.judge.explaining.numbers.relations import loosely_related, related
from grader.judge.explaining.questions.addresses import misread
from grader.judge.explaining.questions.inputs import answers_another
from grader.judge.explaining.questions.terms import Terms
from grader.judge.explaining.records.unread import never_read
from grader.judge.explaining.wrong import Pattern, Wrong
from grader.judge.oracle import right_answers


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not end a search early."""
    monkeypatch.setattr(limits, "OTHER_QUESTIONS_SECONDS", 60.0)


CATALOGUE = Catalogue(Path(__file__).parents[3])


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(5))


def wrong(challenge: Challenge, got: torch.Tensor, want: torch.Tensor) -> Wrong:
    result = challenge.manifest.results[-1]
    flat = got.reshape(-1), want.reshape(-1)
    return Wrong(
        result,
        tuple(want.shape),
        *flat,
        flat[0] != flat[1],
        None,
        None,
        challenge.manifest.allowance(result, {}, {}),
    )


RELU = CATALOGUE.load("relu")
ARGMAX = CATALOGUE.load("argmax_rows")
X, ROWS = noise(300), noise(8, 40) * 5


@pytest.mark.parametrize(
    ("challenge", "got", "want", "values", "text"),
    [
        (RELU, X, X.clamp(min=0), X, "out is a copy of x, element by element in the same order."),
        (RELU, X.abs(), X.clamp(min=0), X, "Every element of out is the absolute value of x."),
        (
            ARGMAX,
            ROWS.amax(dim=1).long(),
            ROWS.argmax(dim=1),
            ROWS,
            "out holds the value of x at the right index, cut to an integer, instead of the index.",
        ),
        (
            CATALOGUE.load("stream_compact"),
            torch.tensor([300]),
            (X > 0).sum().reshape(1),
            X,
            "count is how many elements of x are not 0, but those above 0 are to be counted.",
        ),
    ],
)
def test_a_simple_function_of_an_input_is_named(
    challenge: Challenge, got: torch.Tensor, want: torch.Tensor, values: torch.Tensor, text: str
) -> None:
    found = related(wrong(challenge, got, want), {"x": values})
    assert found is not None
    assert found.text == text


def test_huge_values_make_nothing_a_function_of_an_input() -> None:
    huge = X.clone()
    huge[:8] = 1e30
    found = wrong(RELU, X.flip(0), huge)
    assert related(replace(found, magnitude=huge), {"x": noise(300).flip(0) * 2}) is None


@pytest.mark.parametrize(
    ("slug", "k"), [("argmax_rows", 1), ("topk_rows", 1), ("topk_rows", 5), ("topk_rows", 40)]
)
def test_the_last_of_equal_elements_is_named(slug: str, k: int) -> None:
    challenge, x = CATALOGUE.load(slug), (noise(9, 40) * 2).round()
    last = (9,) if slug == "argmax_rows" else (9, k)
    first_wins = x.argsort(dim=1, descending=True, stable=True)[:, :k].reshape(last)
    last_wins = 39 - x.flip(1).argsort(dim=1, descending=True, stable=True)[:, :k].reshape(last)
    case = Case("case", Category.BASIC, {"rows": 9, "cols": 40, "k": k})

    def said(got: torch.Tensor, want: torch.Tensor) -> str:
        found = answers_another(wrong(challenge, got, want), challenge, case, {"x": x}, rounding=False)
        return found.text if found else ""

    assert said(last_wins, first_wins).endswith(
        ": a tie. It takes the last of equal elements. The first of them is wanted."
    )
    assert said(first_wins, last_wins).endswith(": a tie.")


def asked(
    slug: str, sizes: dict[str, int], given: dict[str, torch.Tensor], as_if: dict[str, torch.Tensor]
) -> Pattern:
    """The name of the answer for ``as_if`` in a case with ``given``."""
    challenge = CATALOGUE.load(slug)
    case = Case("case", Category.BASIC, sizes)
    name = challenge.manifest.results[-1].name
    want = right_answers(challenge, case, given)[name]
    got = right_answers(challenge, case, {**given, **as_if})[name].to(torch.float32)
    found = answers_another(
        wrong(challenge, got, want.to(torch.float32)), challenge, case, given, rounding=False
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("as_if", "text"),
    [
        (lambda a, b: {"b": -b}, "The result is right if b has the other sign"),
        (lambda a, b: {"b": a}, "The result is right if b is a: a is used in its place."),
    ],
)
def test_other_inputs_explain_a_sum(as_if: object, text: str) -> None:
    assert callable(as_if)
    a, b = X, noise(600)[300:]
    assert asked("vector_add", {"n": 300}, {"a": a, "b": b}, as_if(a, b)).text.startswith(text)


def test_a_factor_of_each_row_is_told_from_one_factor() -> None:
    want = noise(6, 40).exp()
    of_row = torch.arange(2, 8)[:, None].float()
    found = pattern_of(wrong(CATALOGUE.load("softmax"), want * of_row, want))
    assert found is not None
    assert found.kind == "row_factor"
    assert "from 2 to 7" in found.text


def row_of_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, row: int, kept: list[int]
) -> torch.Tensor:
    weights = torch.softmax(0.125 * (k[0, kept].double() @ q[0, row].double()), 0)
    return weights @ v[0, kept].double()


@pytest.mark.parametrize(
    ("slug", "kept", "text"),
    [
        ("attention", lambda i, n: range(i + 1), "only the rows up to i count, no later one."),
        ("causal_attention_fp16", lambda i, n: range(n), "all rows count, later ones too."),
        (
            "causal_attention_fp16",
            lambda i, n: range(i),
            "only the rows before i count, and not row i itself.",
        ),
    ],
)
def test_rows_that_count_for_a_row_are_named(slug: str, kept: Callable[[int, int], range], text: str) -> None:
    challenge = CATALOGUE.load(slug)
    sizes = {"heads": 1, "seq": 40, "dim": 8}
    dtype = torch.float16 if "fp16" in slug else torch.float32
    given = {name: noise(3, 40, 8)[at : at + 1].to(dtype) for at, name in enumerate("qkv")}
    case = Case("case", Category.BASIC, sizes, scalars={"scale": 0.125})
    want = right_answers(challenge, case, given)["out"]
    rows = [row_of_attention(given["q"], given["k"], given["v"], i, list(kept(i, 40))) for i in range(40)]
    found = answers_another(
        wrong(challenge, torch.stack(rows).to(dtype)[None], want.to(dtype)),
        challenge,
        case,
        given,
        rounding=False,
    )
    assert found is not None
    assert found.text == f"The result is right if for each row i along seq, of k and v {text}"


@pytest.mark.parametrize(
    ("slug", "sizes", "given", "as_if", "text"),
    [
        (
            "matmul",
            {"m": 9, "n": 32, "k": 32},
            {"a": noise(9, 32), "b": noise(32, 32) * 2},
            lambda a, b: {"b": b.reshape(2, 16, 2, 16).transpose(1, 3).reshape(32, 32)},
            "each tile of 16 x 16 of b is transposed within itself",
        ),
        (
            "matmul",
            {"m": 9, "n": 20, "k": 24},
            {"a": noise(9, 24), "b": noise(24, 20) * 2},
            lambda a, b: {"a": torch.cat([a.reshape(-1), a.new_zeros(99)]).unfold(0, 24, 20)[:9]},
            "row i of a begins at i * n; it begins at i * k",
        ),
        (
            "dot",
            {"n": 300},
            {"a": X, "b": noise(600)[300:]},
            lambda a, b: {"b": b[torch.arange(300) % 128]},
            "each group of 128 elements uses the first 128 of b",
        ),
    ],
)
def test_other_addresses_explain_a_result(
    slug: str,
    sizes: dict[str, int],
    given: dict[str, torch.Tensor],
    as_if: Callable[..., dict[str, torch.Tensor]],
    text: str,
) -> None:
    challenge, case = CATALOGUE.load(slug), Case("case", Category.BASIC, sizes)
    want, got = (
        right_answers(challenge, case, {**given, **other})["out"] for other in ({}, as_if(*given.values()))
    )
    tried = misread(challenge, case, given, wrong(challenge, got, want))
    fitting = [
        pattern.text
        for pattern, changed, other in tried
        if other is case and torch.equal(right_answers(challenge, case, {**given, **changed})["out"], got)
    ]
    assert any(text in found for found in fitting)


def test_a_single_sum_needs_two_cases_to_say_which_terms_are_left_out() -> None:
    challenge = CATALOGUE.load("reduce_sum")
    terms, found = Terms(challenge), []
    for size in (300, 200):
        x = X[:size]
        lost = x[torch.arange(size) % 3 != 2].double().sum()[None].float()
        case = Case("case", Category.BASIC, {"n": size})
        found.append(terms.find(case, {"x": x}, wrong(challenge, lost, x.double().sum()[None].float())))
    assert found[0] is None
    assert found[1] is not None
    assert "the terms whose number modulo 3 is 2 are left out" in found[1].text


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (
            range(256),
            "No thread reads b from element 256 on (only the first 256 elements), and the result depends on them.",
        ),
        (range(299), "No thread reads b[299], its last element, and the result depends on it."),
        (
            range(0, 300, 2),
            "No thread reads elements of b whose number modulo 2 is 1, and the result depends on them.",
        ),
    ],
)
def test_elements_that_no_thread_reads_are_named_if_they_matter(read: range, text: str) -> None:
    challenge, given = CATALOGUE.load("dot"), {"a": X, "b": noise(600)[300:]}
    case = Case("case", Category.BASIC, {"n": 300})
    want = (given["a"].double() @ given["b"].double())[None].float()
    was = torch.zeros(300, dtype=torch.bool)
    was[list(read)] = True
    result = replace(wrong(challenge, want + 1, want), read={"b": was})
    found = never_read(result, challenge, case, given, programs=False)
    assert found is not None
    assert found.text == text
    useless = {**given, "a": given["a"] * was}
    want = (useless["a"].double() @ given["b"].double())[None].float()
    result = replace(result, got=want + 1, want=want)
    assert never_read(result, challenge, case, useless, programs=False) is None


def test_an_error_in_proportion_to_a_vector_is_named() -> None:
    want, gamma = noise(6, 40), noise(40)
    found = loosely_related(
        wrong(CATALOGUE.load("layernorm"), want + torch.arange(1, 7)[:, None] * gamma, want), {"gamma": gamma}
    )
    assert found is not None
    assert "the error of out is gamma times one number, from 1 to 6" in found.text
