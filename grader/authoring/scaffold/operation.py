from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from grader.authoring.scaffold import kernels, suite, texts
from grader.authoring.scaffold.suite import Planned
from grader.challenge.model import Manifest
from grader.languages import Language


class Operation(Protocol):
    """``manifest`` is complete and valid. Texts are whole files."""

    def manifest(self, manifest: Manifest) -> str: ...

    def spec(self, manifest: Manifest) -> str: ...

    def reference(self, manifest: Manifest) -> str: ...

    def public_cases(self, manifest: Manifest) -> Sequence[Planned]: ...

    def hidden_cases(self, manifest: Manifest) -> Sequence[Planned]: ...

    def solutions(self, manifest: Manifest) -> Mapping[Language, str]: ...

    def mutants(self, manifest: Manifest) -> Mapping[str, str]: ...


class Example:
    def manifest(self, manifest: Manifest) -> str:
        return texts.manifest_text(manifest)

    def spec(self, manifest: Manifest) -> str:
        return texts.spec_text(manifest)

    def reference(self, manifest: Manifest) -> str:
        return texts.reference_text(manifest)

    def public_cases(self, manifest: Manifest) -> Sequence[Planned]:
        return suite.public_cases(manifest)

    def hidden_cases(self, manifest: Manifest) -> Sequence[Planned]:
        return suite.hidden_cases(manifest)

    def solutions(self, manifest: Manifest) -> Mapping[Language, str]:
        written = [language for language in manifest.languages if language in kernels.SOLUTIONS]
        return {language: kernels.SOLUTIONS[language](manifest) for language in written}

    def mutants(self, manifest: Manifest) -> Mapping[str, str]:
        return {
            f"{name}.py": kernels.triton_source(manifest, style) for name, style in kernels.MUTANTS.items()
        }


EXAMPLE = Example()
