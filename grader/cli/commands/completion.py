"""`completion`: scripts for Tab.

A script holds every word of the command line, so Tab starts no program; Typer's own starts Python each time.
Other names come from the files of ``names``.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.main import get_command

from grader.cli import catalogue, names
from grader.cli.command import load, make_app
from grader.cli.registry import COMMANDS
from grader.cli.terminal import say
from grader.errors import GraderError

app = make_app()
Shell = Literal["bash", "zsh", "fish", "powershell"]
# Read on demand, so a shell starts fast.
_HOW = {
    "bash": "grader completion bash > ~/.local/share/bash-completion/completions/grader",
    "zsh": 'grader completion zsh > "${fpath[1]}/_grader"',
    "fish": "grader completion fish > ~/.config/fish/completions/grader.fish",
    "powershell": "grader completion powershell >> $PROFILE",
}


@app.command()
def completion(
    shell: Annotated[
        Shell | None, typer.Argument(metavar="[bash|zsh|fish|powershell]", help="The shell (default: yours).")
    ] = None,
) -> int:
    """Print a script for completion in a shell: of commands, options, challenges and submissions."""

    chosen = shell or this_shell()
    with contextlib.suppress(GraderError):
        catalogue.refresh_names()
    sys.stdout.write(SCRIPTS[chosen](places()))
    sys.stdout.flush()
    if sys.stdout.isatty():
        say(f"To install it for {chosen}: {_HOW[chosen]}", "bold")
    return 0


def this_shell() -> str:
    shell = PurePath(os.environ.get("SHELL", "")).name
    if shell in _HOW:
        return shell
    return "powershell" if sys.platform == "win32" else "bash"


FILES = "files"
_KINDS = {
    "SLUG": (names.CHALLENGES,),
    "ID": (names.SUBMISSIONS,),
    "ID|SLUG": (names.SUBMISSIONS, names.CHALLENGES),
    "FILE": (FILES,),
    "A": (names.SUBMISSIONS, FILES),
    "B": (names.SUBMISSIONS, FILES),
}


@dataclass(frozen=True)
class Taken:
    """Words, and kinds of names."""

    words: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """``takes`` is None for a switch."""

    spellings: tuple[str, ...]
    help: str
    takes: Taken | None


@dataclass(frozen=True)
class CursorPlace:
    """A command or group by its words after `grader`."""

    path: str
    help: str
    takes: Taken
    options: tuple[Option, ...] = ()


def places() -> list[CursorPlace]:
    """`grader` (the empty path) first."""
    found = [CursorPlace("", "", Taken((*COMMANDS, "help")))]
    for name, (_, help_line) in COMMANDS.items():
        with contextlib.suppress(ModuleNotFoundError):  # an extra that is not installed
            command: Any = get_command(load(name))
            found += _below(name, command.commands[name], help_line)
    return found


def _below(path: str, command: Any, help_line: str) -> Iterator[CursorPlace]:
    inside: dict[str, Any] = getattr(command, "commands", {})
    options = tuple(_options(command))
    takes = Taken(tuple(inside)) if inside else _argument(command)
    yield CursorPlace(path, help_line, takes, options)
    for name, each in inside.items():
        yield from _below(f"{path} {name}", each, _first_sentence(each.help))


def _options(command: Any) -> Iterator[Option]:
    for parameter in command.params:
        if parameter.param_type_name == "option" and not parameter.hidden and parameter.name != "help":
            spellings = (*parameter.opts, *parameter.secondary_opts)
            takes = None if parameter.is_flag else _taken(parameter)
            yield Option(spellings, _first_sentence(parameter.help), takes)
    yield Option(("--help",), "Show this message.", None)


def _argument(command: Any) -> Taken:
    """Scripts do not count arguments."""
    found = [_taken(parameter) for parameter in command.params if parameter.param_type_name == "argument"]
    words = tuple(word for each in found for word in each.words)
    return Taken(words, tuple(dict.fromkeys(kind for each in found for kind in each.kinds)))


def _taken(parameter: Any) -> Taken:
    if choices := _choices(parameter):
        return Taken(choices)
    metavar = str(parameter.metavar or "").strip("[]")
    if metavar in _KINDS:
        return Taken(kinds=_KINDS[metavar])
    if "|" in metavar and metavar == metavar.lower():
        return Taken(tuple(metavar.split("|")))
    return Taken()


def _choices(parameter: Any) -> tuple[str, ...]:
    """Typer's releases keep them in different places."""
    choices = getattr(getattr(parameter, "type", None), "choices", ())
    annotation = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if not choices and get_origin(annotation) is Literal:
        choices = get_args(annotation)
    return tuple(str(choice) for choice in choices)


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split()).partition(". ")[0].rstrip(".")


_HEAD = "# Completion of grader; made by: grader completion {name}\n"

_TABLE = """\
_grader_is_place() {{
  case "$1" in
    {paths}) return 0 ;;
  esac
  return 1
}}

_grader_table() {{
  grader_words="" grader_kinds="" grader_options=""
  case "$1 $2" in
{values}
  esac
  case "$1" in
{places}
  esac
}}

_grader_names() {{
  cat {folder}/"$1" 2>/dev/null
}}
"""
_BASH = """
_grader() {
  local grader_words grader_kinds grader_options where="" word i kind
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" IFS=$' \\t\\n'
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${where:+$where }${COMP_WORDS[i]}"
    if _grader_is_place "$word"; then where="$word"; fi
  done
  _grader_table "$where" "$prev"
  if [[ "$cur" == -* ]]; then
    COMPREPLY=($(compgen -W "$grader_options" -- "$cur"))
    return
  fi
  for kind in $grader_kinds; do
    case "$kind" in
      files) IFS=$'\\n'; COMPREPLY+=($(compgen -f -- "$cur")); IFS=$' \\t\\n'
             compopt -o filenames 2>/dev/null ;;
      *) grader_words="$grader_words $(_grader_names "$kind")" ;;
    esac
  done
  COMPREPLY+=($(compgen -W "$grader_words" -- "$cur"))
}
complete -F _grader grader
"""
_ZSH = """
_grader() {
  local grader_words grader_kinds grader_options where="" word i kind
  for ((i = 2; i < CURRENT; i++)); do
    word="${where:+$where }${words[i]}"
    if _grader_is_place "$word"; then where="$word"; fi
  done
  _grader_table "$where" "${words[CURRENT-1]}"
  if [[ "${words[CURRENT]}" == -* ]]; then
    compadd -- ${=grader_options}
    return
  fi
  for kind in ${=grader_kinds}; do
    case "$kind" in
      files) _files ;;
      *) compadd -V "$kind" -- ${(f)"$(_grader_names "$kind")"} ;;
    esac
  done
  compadd -- ${=grader_words}
}
if [ "${funcstack[1]}" = "_grader" ]; then _grader "$@"; else compdef _grader grader; fi
"""
_FISH = """\
function __grader_where
    set -l typed (commandline -opc)
    set -e typed[1]
    set -l where
    for word in $typed
        set -l next (string join ' ' $where $word)
        if contains -- $next $__grader_places
            set where $where $word
        end
    end
    string join ' ' $where
end
function __grader_at
    test (__grader_where | string collect -a) = "$argv[1]"
end
complete -c grader -f
"""
_POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName grader -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $typed = @($commandAst.CommandElements | ForEach-Object { $_.ToString() } | Select-Object -Skip 1)
    if ($wordToComplete) { $typed = @($typed | Select-Object -SkipLast 1) }
    $where = ''
    foreach ($word in $typed) {
        $next = "$where $word".Trim()
        if ($places.ContainsKey($next)) { $where = $next }
    }
    $taken = $null
    if ($typed.Count) { $taken = $values["$where $($typed[-1])"] }
    if ($null -eq $taken) { $taken = $places[$where] }
    if ($wordToComplete -like '-*') { $found = $places[$where].Options } else { $found = $taken.Words }
    foreach ($kind in $taken.Kinds) {
        if ($kind -ne 'files' -and -not ($wordToComplete -like '-*')) {
            $found += @(Get-Content -ErrorAction SilentlyContinue (Join-Path $folder $kind))
        }
    }
    $found | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
"""


def bash(found: Sequence[CursorPlace]) -> str:
    return _HEAD.format(name="bash") + _table(found) + _BASH


def zsh(found: Sequence[CursorPlace]) -> str:
    return "#compdef grader\n" + _HEAD.format(name="zsh") + _table(found) + _ZSH


def _table(found: Sequence[CursorPlace]) -> str:
    """After an option that takes a value, only the value is completed."""
    values = [
        f"    {' | '.join(shlex.quote(f'{place.path} {each}') for each in option.spellings)}) "
        f"{_assigned(option.takes)}; return ;;"
        for place in found
        for option in place.options
        if option.takes is not None
    ]
    rows = []
    for place in found:
        spelled = " ".join(each for option in place.options for each in option.spellings)
        rows.append(
            f"    {shlex.quote(place.path)}) {_assigned(place.takes)} grader_options={shlex.quote(spelled)} ;;"
        )
    return _TABLE.format(
        paths=" | ".join(shlex.quote(place.path) for place in found if place.path),
        values="\n".join(values),
        places="\n".join(rows),
        folder=shlex.quote(str(names.folder())),
    )


def _assigned(taken: Taken) -> str:
    words, kinds = (shlex.quote(" ".join(each)) for each in (taken.words, taken.kinds))
    return f"grader_words={words} grader_kinds={kinds}"


def fish(found: Sequence[CursorPlace]) -> str:
    paths = " ".join(_fish_text(place.path) for place in found if place.path)
    lines = [_HEAD.format(name="fish"), f"set -g __grader_places {paths}\n", _FISH]
    helps = {place.path: place.help for place in found}
    for place in found:
        at = f"complete -c grader -n {_fish_text('__grader_at ' + _fish_text(place.path))}"
        for word in place.takes.words:
            about = helps.get(f"{place.path} {word}".strip(), "")
            lines.append(f"{at} -a {_fish_text(word)} -d {_fish_text(about)}\n")
        lines += [f"{at} {flags}\n" for kind in place.takes.kinds for flags in _fish_kind(kind)]
        for option in place.options:
            spelled = " ".join(
                f"-l {each[2:]}" if each[:2] == "--" else f"-s {each[1:]}" for each in option.spellings
            )
            lines.append(f"{at} {spelled}{_fish_value(option.takes)} -d {_fish_text(option.help)}\n")
    return "".join(lines)


def _fish_kind(kind: str) -> list[str]:
    return ["-F"] if kind == FILES else [f"-a {_fish_text(_fish_names(kind))}"]


def _fish_value(taken: Taken | None) -> str:
    if taken is None:
        return ""
    listed = [*taken.words, *(_fish_names(kind) for kind in taken.kinds if kind != FILES)]
    files = " -F" if FILES in taken.kinds else ""
    return " -r" + (f" -a {_fish_text(' '.join(listed))}" if listed else "") + files


def _fish_names(kind: str) -> str:
    return f"(cat {_fish_text(str(names.folder() / kind))} 2>/dev/null)"


def _fish_text(text: str) -> str:
    """Fish escapes only backslashes and quotes in single quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def powershell(found: Sequence[CursorPlace]) -> str:
    lines = [
        _HEAD.format(name="powershell"),
        "& {\n",
        f"$folder = {_ps(str(names.folder()))}\n$places = @{{\n",
    ]
    for place in found:
        options = [each for option in place.options for each in option.spellings]
        lines.append(
            f"    {_ps(place.path)} = @{{ {_ps_taken(place.takes)}; Options = {_ps_list(options)} }}\n"
        )
    lines.append("}\n$values = @{\n")
    for place in found:
        for option in place.options:
            if option.takes is not None:
                lines += [
                    f"    {_ps(f'{place.path} {each}')} = @{{ {_ps_taken(option.takes)} }}\n"
                    for each in option.spellings
                ]
    # The tables are inside the block, so it changes no variable of the profile.
    block = _POWERSHELL.replace("-ScriptBlock {", "-ScriptBlock ({").rstrip()
    return "".join([*lines, "}\n", block, ".GetNewClosure())\n}\n"])


def _ps_taken(taken: Taken) -> str:
    return f"Words = {_ps_list(taken.words)}; Kinds = {_ps_list(taken.kinds)}"


def _ps_list(words: Sequence[str]) -> str:
    return f"@({', '.join(map(_ps, words))})"


def _ps(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


SCRIPTS: dict[str, Callable[[Sequence[CursorPlace]], str]] = {
    "bash": bash,
    "zsh": zsh,
    "fish": fish,
    "powershell": powershell,
}
