"""Completion of command lines for a shell: morphtrack completion bash|zsh.

Prints a script. For bash, in ~/.bashrc: eval "$(morphtrack completion bash)"; for zsh,
in ~/.zshrc, after compinit: eval "$(morphtrack completion zsh)". Names of commands,
options, cases with their keys, studies and figures are completed, else file names.
"""

import contextlib
import importlib
import io
import os
import shlex
from collections.abc import Callable, Sequence

from pipeline.commands.overview import COMMANDS
from pipeline.config.listed import study_names
from pipeline.steps.figure_names import figure_names
from pipeline.terminal.arguments import OneLineParser, options_of
from pipeline.terminal.errors import DONE, command

OF_CASES = ("simulate", "fit_rod", "mobility", "branches", "envelope")
NAMES: dict[str, Callable[[], Sequence[str]]] = {
    "study": study_names,
    "study_table": study_names,
    "status": study_names,
    "make": figure_names,
    "plan": figure_names,
    "figure": figure_names,
    "completion": lambda: ("bash", "zsh"),
}

BASH = r"""_morphtrack() {
  local line=${COMP_LINE:0:COMP_POINT} typed=${COMP_WORDS[COMP_CWORD]} found
  local -a words; read -ra words <<< "$line"
  [[ $line == *" " ]] && words+=("")
  [[ $typed == "=" ]] && typed=""   # for bash, a word ends at =
  local before=${words[-1]%"$typed"}
  COMPREPLY=()
  while read -r found; do
    [[ $found == *[=./] ]] && compopt -o nospace 2> /dev/null
    COMPREPLY+=("${found#"$before"}")
  done < <("${COMP_WORDS[0]}" completion words "${words[@]:1}" 2> /dev/null)
}
complete -o default -F _morphtrack morphtrack"""

ZSH = r"""_morphtrack() {
  local -a found; local call=${words[1]}
  found=(${(f)"$($call completion words "${(@)words[2,CURRENT]}" 2> /dev/null)"})
  (( $#found )) || { _files; return }
  compadd -Q -S "" -- ${(M)found:#*[=./]}
  compadd -Q -- ${found:#*[=./]}
}
compdef _morphtrack morphtrack"""


def arguments() -> OneLineParser:
    parser = OneLineParser("completion", __doc__)
    parser.add_argument("shell", choices=("bash", "zsh"))
    return parser


def _of_case(words: Sequence[str]) -> list[str]:
    """What Hydra's own completion offers to morphtrack simulate."""
    from pipeline.commands.simulate import main as simulate

    os.environ["COMP_LINE"] = " ".join(["simulate", *words])
    with contextlib.redirect_stdout(io.StringIO()) as said:
        simulate(["--shell-completion", "query=bash"])
    return said.getvalue().split()


def completions(words: Sequence[str]) -> list[str]:
    """What the last of `words`, which may be empty, may become.

    A shell writes it as it is: a file's name that it would run is not offered.
    """
    begun = words[-1] if words else ""
    return [
        word
        for word in _known(words)
        if word.startswith(begun) and shlex.quote(word) == word
    ]


def _known(words: Sequence[str]) -> Sequence[str]:
    if len(words) < 2:
        return COMMANDS
    name = words[0].replace("-", "_")
    if name in (*OF_CASES, "parts") and not words[-1].startswith("-"):
        return _of_case(words[1:])
    if name not in COMMANDS:
        return ()
    if words[-1].startswith("-"):
        module = importlib.import_module(f"pipeline.commands.{name}")
        return options_of(module.arguments())
    return NAMES.get(name, tuple)()


@command
def main(argv: list[str] | None = None) -> int:
    """Print a script, or what it asks for."""
    words = list(argv or [])
    if words[:1] == ["words"]:
        print("\n".join(completions(words[1:])))
        return DONE
    print({"bash": BASH, "zsh": ZSH}[arguments().parse_args(words).shell])
    return DONE
