"""Cheap Flask applications for tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.routing import Rule

_COMPILED = ("_parts", "_trace", "_converters", "arguments", "_build", "_build_unknown")


class Compiled(BytecodeCache):
    """Templates that an earlier application of this process has compiled."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()


@pytest.fixture(scope="session", autouse=True)
def cheap_applications() -> Iterator[None]:
    """Most of a web test's time goes into its application's hundreds of rules. Here each rule is compiled
    once per process, and the function that builds its address only when called.
    """
    compile_rule, compile_builder = Rule.compile, Rule._compile_builder
    compiled: dict[tuple[object, ...], Rule] = {}

    def compile_once(self: Rule) -> None:
        key = (self.rule, self.merge_slashes, self.subdomain, self.host, str(self.defaults))
        same = compiled.setdefault(key, self)
        if same is self:
            compile_rule(self)
        else:
            vars(self).update({name: vars(same)[name] for name in _COMPILED})

    def compile_late(self: Rule, append_unknown: bool = True) -> Any:
        made: list[Any] = []

        def build(rule: Rule, *args: Any, **values: Any) -> Any:
            if not made:
                made.append(compile_builder(rule, append_unknown))
            return made[0](rule, *args, **values)

        return build

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "compile", compile_once)
        patch.setattr(Rule, "_compile_builder", compile_late)
        patch.setitem(Flask.jinja_options, "bytecode_cache", Compiled())
        yield
