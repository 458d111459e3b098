"""Lets a problem's code draw a challenge's inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.authoring.importing.probed import indented
from grader.authoring.scaffold import suite
from grader.authoring.scaffold.suite import Planned
from grader.challenge.cases import Filling
from grader.challenge.model import Kind, Manifest

_MOST_SPECIAL = 16
_TEXT = '''
# The source's own parameters, where a case sets no others.
_USUAL = {usual}


def drawn(name, **options):
    return Together(name, _generated, {{**_USUAL, **options}})


def inputs():
    return {{name: drawn(name) for name in {names}}}


def _generated(_device, sizes, seed, **options):
    """All inputs, as the source draws them."""
{code}
{sizes}    given = {call}
    return {{{returned}}}
'''
_IMPORT = "from grader.challenge.derived import Together\n"


@dataclass(frozen=True)
class Drawn:
    """``code`` defines ``inputs`` and ``drawn``. ``special``: unusual parameters of its tests."""

    code: str
    inputs: tuple[str, ...]
    special: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, found: Mapping[str, Any], names: Mapping[str, str]) -> Drawn | None:
        """None if the usual draws do."""
        said = found.get("drawn")
        if not said or not said["needed"]:
            return None
        kinds = {each["name"]: each["kind"] for each in found["arguments"]}
        sizes = [name for name, kind in kinds.items() if kind == Kind.SIZE]
        given = [
            name for name, kind in kinds.items() if kind in (Kind.INPUT, Kind.INOUT) and name in said["paths"]
        ]
        usual = {name: value for name, value in said["usual"].items() if name not in sizes}
        special: list[dict[str, Any]] = []
        for test in said["tests"]:
            options = {name: value for name, value in test.items() if name not in sizes}
            if options != usual and options not in special:
                special.append(options)
        call = f"{said['call']}()"
        if said["call"] == "generate_input":
            passed = "".join(f"{name}={name}, " for name in sizes if name in said["parameters"])
            call = f"generate_input({passed}seed=seed, **options)"
        text = _TEXT.format(
            usual=usual,
            names=[names[name] for name in given],
            code=indented(said["code"]),
            sizes="".join(f"    {name} = sizes[{names[name]!r}]\n" for name in sizes),
            call=call,
            returned=", ".join(f"{names[name]!r}: {said['paths'][name]}" for name in given),
        )
        return cls(text, tuple(names[name] for name in given), special[:_MOST_SPECIAL])

    def recipes(self) -> tuple[Mapping[str, Filling], Mapping[str, object]]:
        """Recipes, and names for their texts. Runs the source's code."""
        names: dict[str, Any] = {}
        exec(f"{_IMPORT}{self.code}", names)  # noqa: S102 - as cases.py will
        return names["inputs"](), {"drawn": names["drawn"]}

    def cases(self, manifest: Manifest) -> list[Planned]:
        (basic,) = [case for case in suite.public_cases(manifest) if case.name == "basic"]
        found: list[Planned] = []
        for options in self.special:
            name = re.sub(r"\W+", "_", "_".join(_word(*pair) for pair in options.items())).strip("_").lower()
            said = ", ".join(f"{key}={value!r}" for key, value in options.items()).replace("'", '"')
            inputs = {arg: f'drawn("{arg}", {said})' for arg in self.inputs}
            if name and name not in [case.name for case in found]:
                found.append(Planned(name[:40], "basic", basic.sizes, inputs))
        return found

    def with_draws(self, text: str, source: str) -> str:
        return (
            text.replace("\n\n\ndef cases()", f"\n{_IMPORT}\n\ndef cases()", 1)
            + f"\n\n{source.strip()}\n{self.code}"
        )


def _word(name: str, value: object) -> str:
    return value if isinstance(value, str) else f"{name}_{value}"
