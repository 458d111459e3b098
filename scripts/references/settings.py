"""The settings, from the fields of ``grader.settings.Settings``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr

from grader.manual.markup import code, table
from grader.oidc_settings import OidcProvider
from grader.settings import Settings
from references.markdown import page

ABOUT = (
    "After this page you can configure a platform. Its settings are environment variables. Each may also be a file of "
    "its name, in lower case, in `/run/secrets`, where container engines put secrets; the environment wins. A value "
    "that cannot be used stops the start with a message that names the variable. [Operating a "
    "platform](../operating.md) says how they work together; the [command "
    "line](../command-line.md#settings-of-the-client) has settings of its own."
)
ABOUT_PROVIDERS = (
    "NAME is yours to choose, in letters and digits: it is in the address that the provider sends people back to. "
    "[Single sign-on](../single-sign-on.md) has the steps for some providers."
)
# Depends on the start.
_MADE = {
    "data_dir": "`$XDG_DATA_HOME/grader`, or `~/.local/share/grader`",
    "sign_up": "`closed`",
}


def make() -> str:
    head = ("setting", "default", "value", "meaning")
    providers = ["## Providers of single sign-on", "", ABOUT_PROVIDERS, "", table(head, _of_providers())]
    return page("Settings", ABOUT, [table(head, _rows()), "\n".join(providers)])


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for name, field in Settings.model_fields.items():
        if name == "oidc":
            continue
        yield code(f"GRADER_{name.upper()}"), _default(name, field), _value(field), field.description or ""


def _of_providers() -> Iterator[tuple[str, str, str, str]]:
    for name, field in OidcProvider.model_fields.items():
        value = "text" if field.annotation is SecretStr else _value(field)
        default = "" if field.is_required() or field.annotation is SecretStr else _default(name, field)
        yield code(f"GRADER_OIDC__NAME__{name.upper()}"), default, value, field.description or ""


def _default(name: str, field: Any) -> str:
    if name in _MADE:
        return _MADE[name]
    if field.default_factory is not None:
        return "by the machine"
    if field.default is None or field.default == "":
        return ""
    return code(
        str(field.default).lower()
        if isinstance(field.default, bool)
        else f"{field.default:g}"
        if isinstance(field.default, float)
        else field.default
    )


def _value(field: Any) -> str:
    kind = field.annotation
    if get_origin(kind) is Literal:
        return ", ".join(code(each) for each in get_args(kind))
    for part in get_args(kind) or (kind,):
        if part is bool:
            return "`true`, `false`"
        if part in (int, float):
            return f"{'whole number' if part is int else 'number'}{_bounds(field)}"
        if part is not type(None):
            return {"Path": "path", "str": "text"}.get(part.__name__, part.__name__)
    return ""


def _bounds(field: Any) -> str:
    words = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "below {}"}
    found = [
        words[name].format(f"{value:,g}" if isinstance(value, float) else f"{value:,}")
        for each in field.metadata
        for name in words
        if (value := getattr(each, name, None)) is not None
    ]
    return f", {' '.join(found)}" if found else ""
