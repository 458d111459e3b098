"""Inputs are reproducible, independent and follow the case; errors of a recipe name case and argument."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import cases
from grader.challenge.cases import (
    INF,
    Case,
    Category,
    Choice,
    Constant,
    Integers,
    Normal,
    PowersOfTwo,
    Recipe,
    Rows,
    Sprinkle,
    Uniform,
    case,
    drawn_into,
)
from grader.challenge.draw import default_recipe, draw_inputs
from grader.challenge.loader import Challenge
from grader.challenge.model import Manifest
from grader.errors import ChallengeInvalid
from grader.judge.oracle import find_case, workload_case
from tests.challenge.conftest import CASES, MANIFEST, Write

RECIPES = [
    Normal(3, 2),
    Uniform(-2, 5),
    Integers(-3, 4),
    Constant(7),
    Choice((1.0, 2.0)),
    Sprinkle(9.0, 0.5),
    Rows(4.0, 2),
    PowersOfTwo(-2, 3),
]


@pytest.fixture
def manifest(write: Write) -> Manifest:
    return write().manifest


def basic(**inputs: Recipe) -> Case:
    return case("basic", "basic", rows=5, cols=7, inputs=inputs)


def test_shapes_and_dtypes_follow_the_signature(manifest: Manifest) -> None:
    inputs = draw_inputs(manifest, basic(), 1)
    assert {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in inputs.items()} == {
        "x": ((5, 7), torch.float32),
        "pick": ((5,), torch.int32),
    }
    assert all(tensor.is_contiguous() and tensor.device.type == "cpu" for tensor in inputs.values())


def test_defaults_come_from_the_manifest(manifest: Manifest) -> None:
    sizes = {"rows": 5, "cols": 7}
    assert default_recipe(manifest, manifest.args[0], sizes) == Normal()
    assert default_recipe(manifest, manifest.args[1], sizes) == Integers(0, 7)
    pick = draw_inputs(manifest, case("many", "basic", rows=500, cols=7), 1)["pick"]
    assert set(pick.tolist()) == set(range(7))


def test_a_bound_that_cannot_be_computed_is_reported(write: Write) -> None:
    manifest = write(manifest=MANIFEST.replace('high = "cols"', 'high = "100 / cols"')).manifest
    with pytest.raises(ChallengeInvalid, match=r"'pick' values: .*divides by zero"):
        draw_inputs(manifest, case("empty", "empty", rows=1, cols=0), 1)


def test_the_same_seed_gives_the_same_values(manifest: Manifest) -> None:
    first, second, other = (draw_inputs(manifest, basic(), seed)["x"] for seed in (1, 1, 2))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_seeds_of_any_size_work(manifest: Manifest) -> None:
    drawn = [draw_inputs(manifest, basic(), seed)["x"] for seed in (0, 2**32, 2**64, 2**200, -1)]
    assert len({tuple(overlay.flatten().tolist()) for overlay in drawn}) == len(drawn)


def test_the_values_of_a_seed_never_change(manifest: Manifest) -> None:
    """Reports store seeds: a change here makes them all worthless."""
    inputs = draw_inputs(manifest, basic(), 20)
    assert inputs["pick"].tolist() == [4, 6, 6, 6, 0]
    assert inputs["x"][0, :3].tolist() == pytest.approx([-1.4071779, 0.0803338, -0.8968775], rel=1e-5)


def test_arguments_do_not_share_values() -> None:
    args = [{"name": name, "kind": "input", "dtype": "float32", "shape": ["n"]} for name in "ab"]
    args += [
        {"name": "out", "kind": "output", "dtype": "float32", "shape": ["n"]},
        {"name": "n", "kind": "size"},
    ]
    fields = {"title": "t", "track": "t", "difficulty": "easy", "version": 1, "languages": ["cuda"]}
    workloads = [{"name": "w", "sizes": {"n": 1}}]
    twins = Manifest.model_validate(
        {**fields, "args": args, "cost": {"bytes": "n", "flops": "n"}, "workloads": workloads}
    )
    inputs = draw_inputs(twins, case("basic", "basic", n=100), 1)
    assert not torch.equal(inputs["a"], inputs["b"])


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
@pytest.mark.parametrize("name", ["x", "pick"])
@pytest.mark.parametrize(("rows", "cols"), [(0, 3), (1, 1), (5, 0), (6, 9)])
def test_every_recipe_fills_every_shape(
    manifest: Manifest, recipe: Recipe, name: str, rows: int, cols: int
) -> None:
    one = Case("one", Category.BASIC, {"rows": rows, "cols": cols}, {name: recipe})
    first, second = (draw_inputs(manifest, one, 5)[name] for _ in range(2))
    assert torch.equal(first, second)
    assert recipe.words()


def test_recipes_draw_the_values_they_describe(manifest: Manifest) -> None:
    big = {"rows": 40, "cols": 50}

    def draw(recipe: Recipe) -> torch.Tensor:
        return draw_inputs(manifest, Case("big", Category.BASIC, big, {"x": recipe}), 3)["x"]

    assert set(draw(Constant(-2)).flatten().tolist()) == {-2}
    assert set(draw(Choice((1.0, 4.0))).flatten().tolist()) == {1, 4}
    assert (draw(Sprinkle(float("nan"), 0.1)).isnan().sum() == 200).item()
    assert (draw(Rows(float("inf"), 4)).isinf().all(dim=1).sum() == 10).item()
    uniform, integers = draw(Uniform(2, 3)), draw(Integers(-2, 2))
    assert uniform.min() >= 2
    assert uniform.max() <= 3
    assert set(integers.flatten().tolist()) == {-2, -1, 0, 1}
    assert draw(Normal(5, 0.1)).mean().item() == pytest.approx(5, abs=0.02)


class Odd:
    """A third party's recipe."""

    def __init__(self, result: object) -> None:
        self.result = result

    def draw(self, shape: object, dtype: object, generator: object) -> object:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def words(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (torch.zeros(5, 8), r"float32 \[5, 8\]"),
        (torch.zeros(5, 7, dtype=torch.float64), r"float64 \[5, 7\]"),
        (torch.zeros(5, 7, device="meta"), "on meta"),
        ([[0.0] * 7] * 5, "not a tensor"),
        (RuntimeError("out of luck"), "odd: RuntimeError: out of luck"),
    ],
)
def test_a_bad_recipe_names_case_and_argument(manifest: Manifest, result: object, said: str) -> None:
    bad = Case("bad one", Category.BASIC, {"rows": 5, "cols": 7}, {"x": Odd(result)})  # type: ignore[dict-item]
    with pytest.raises(ChallengeInvalid, match=rf"case 'bad one', input 'x'.*{said}"):
        draw_inputs(manifest, bad, 1)


def with_inputs(write: Write, inputs: str) -> Challenge:
    return write(cases=f"{CASES}\ndef inputs():\n    return {inputs}\n", hidden=HIDDEN)


HIDDEN = "from grader.challenge.cases import case\ndef cases(): return [case('h', 'basic', rows=1, cols=1)]\n"


def test_the_challenges_inputs_fill_cases_and_workloads(write: Write) -> None:
    challenge = with_inputs(write, '{"x": Constant(5)}')
    values = {
        case.name: draw_inputs(challenge.manifest, case, 1)["x"].unique().tolist()
        for case in (*challenge.cases, *challenge.hidden_cases, find_case(challenge, "workload small"))
    }
    assert values == {"basic": [5], "ones": [1], "h": [5], "workload small": [5]}
    assert workload_case(challenge, challenge.manifest.workloads[0]).inputs == {"x": Constant(5)}


def test_a_challenge_without_inputs_draws_by_its_manifest(write: Write) -> None:
    challenge = write()
    assert challenge.inputs == {}
    assert challenge.case("basic").inputs == {}


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ('{"y": Constant(5)}', r"cases.py: inputs\(\): inputs \['y'\] do not exist"),
        ('{"out": Constant(5)}', r"inputs \['out'\] do not exist"),
        ('{"x": 5}', r"inputs \['x'\] are not recipes"),
        ("1 / 0", r"cases.py: inputs\(\): division by zero"),
    ],
)
def test_bad_challenge_inputs_name_file_and_argument(write: Write, inputs: str, said: str) -> None:
    with pytest.raises(ChallengeInvalid, match=said):
        _ = with_inputs(write, inputs).cases


@pytest.mark.parametrize("recipe", [Integers(-3, 4), Choice((1.0, 2.0)), Sprinkle(9.0, 0.5, Constant(1))])
def test_values_drawn_in_pieces_follow_the_recipe(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, where each piece is small and the last one shorter."""
    largest = 0
    randint = torch.randint

    def drawn(*args: object, **kwargs: object) -> torch.Tensor:
        nonlocal largest
        values: torch.Tensor = randint(*args, **kwargs)  # type: ignore[call-overload]
        largest = max(largest, values.numel())
        return values

    monkeypatch.setattr(cases, "_PERMUTED", 1)
    monkeypatch.setattr(cases, "_at_once", lambda generator, count: min(7, count))
    monkeypatch.setattr(torch, "randint", drawn)
    values = recipe.draw((9, 11), torch.float32, torch.Generator().manual_seed(1))
    assert values.shape == (9, 11)
    assert largest == 7
    assert len(values.unique()) == {"Integers": 7, "Choice": 2, "Sprinkle": 2}[type(recipe).__name__]


def test_a_gpu_draws_sprinkled_and_uniform_values_in_one_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cases, "_is_gpu", lambda generator: True)
    generator = torch.Generator().manual_seed(1)
    count = 1 << 20
    for share in (0.2, 1.0, 0.02):
        values = Sprinkle(INF, share).draw((count,), torch.float32, generator)
        assert int(values.isinf().sum()) == pytest.approx(share * count, rel=0.02)
    for low, high in ((-2.0, 5.0), (-1.6e38, 1.6e38), (-3e38, 3e38)):
        values = Uniform(low, high).draw((count,), torch.float32, generator) / high
        assert low / high <= float(values.min())
        assert float(values.max()) <= 1.0
        assert float(values.mean()) == pytest.approx((1 + low / high) / 2, abs=0.01)
    widest = Uniform(-1.7e308, 1.7e308).draw((count,), torch.float64, generator)
    assert float(widest.max()) == pytest.approx(1.7e308, rel=0.01)
    room = torch.zeros(count)
    with drawn_into(lambda shape, dtype: room):
        assert Uniform(0.0, 1.0).draw((count,), torch.float32, generator).data_ptr() == room.data_ptr()


@pytest.mark.parametrize("recipe", [Normal(), Uniform(1.0, 2.0)])
def test_a_gpu_draws_float64_that_float32_does_not_hold(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a timed call could read and copy them in float32."""
    monkeypatch.setattr(cases, "_is_gpu", lambda generator: True)
    values = recipe.draw((1000,), torch.float64, torch.Generator().manual_seed(1))
    assert int((values.float() == values).sum()) < 10


@pytest.mark.parametrize("recipe", [Normal(3.0, 2.0), Uniform(-1.0, 1.0)])
def test_the_first_draw_fills_the_given_memory_with_the_same_values(recipe: Recipe) -> None:
    def drawn() -> torch.Tensor:
        return recipe.draw((3, 5), torch.float64, torch.Generator().manual_seed(7))

    room = torch.zeros(3, 5, dtype=torch.float64)
    with drawn_into(lambda shape, dtype: room):
        first, second = drawn(), drawn()
    assert first.data_ptr() == room.data_ptr() != second.data_ptr()
    assert torch.equal(first, second)
    assert torch.equal(first, drawn())


def of_type(write: Write, dtype: str, values: str = "", cols: str = "cols") -> Challenge:
    return write(
        manifest=MANIFEST.replace(
            '{ name = "x", kind = "input", dtype = "float32", shape = ["rows", "cols"] }',
            f'{{ name = "x", kind = "input", dtype = "{dtype}", shape = ["rows", "{cols}"]{values} }}',
        )
    )


@pytest.mark.parametrize(
    ("dtype", "value", "said"),
    [
        ("float8_e4m3fn", INF, "float8_e4m3fn has no infinity"),
        ("float4_e2m1fn", float("nan"), "float4_e2m1fn has no NaN"),
    ],
)
def test_a_case_draws_only_what_its_type_has(write: Write, dtype: str, value: float, said: str) -> None:
    manifest = of_type(write, dtype, cols="2 * cols").manifest
    with pytest.raises(ChallengeInvalid, match=said):
        draw_inputs(manifest, basic(x=Sprinkle(value)), 1)


def test_scales_are_powers_of_two_and_need_values(write: Write) -> None:
    with pytest.raises(ChallengeInvalid, match="has powers of two only: give it values"):
        of_type(write, "float8_e8m0fnu")
    powers = ', values = { dist = "powers", low = -1, high = 2 }'
    manifest = of_type(write, "float8_e8m0fnu", powers).manifest
    assert set(draw_inputs(manifest, basic(), 1)["x"].reshape(-1).tolist()) == {0.5, 1.0, 2.0}
    with pytest.raises(ChallengeInvalid, match="has no zero or negative numbers"):
        draw_inputs(manifest, basic(x=Constant(0)), 1)


def test_the_last_dimension_of_a_packed_type_is_even(write: Write) -> None:
    with pytest.raises(
        ChallengeInvalid, match="the last dimension of int4 is even, because two elements share"
    ):
        of_type(write, "int4", cols="2 * cols + 1")
