"""The consoles of a page: what it has the reader type, run in a project folder.

    ```console                a command after "$ ", and its output; "..." is anything
    ```yaml title="NAME"      a file of that name with this content

`python docs/tools/console.py PAGE` runs a page in a new folder and writes the outputs
that differ into it.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r'^(?P<margin> *)```(?P<kind>\w+)(?P<title> title="[^"]+")?\n'
    r"(?P<text>.*?)^ *```$",
    re.M | re.S,
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LOGGED = re.compile(r"(?m)^(warning: )?MLflow .*\n?")
LIMIT_S = 1200


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Parameters
    ----------
    text : without the margin of the fence
    title : the file that it is, or ""
    begin, end : of the text, in the page
    """

    kind: str
    text: str
    title: str
    margin: str
    begin: int
    end: int

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Each command of a console with its output."""
        if self.kind != "console":
            return []
        parts = re.split(r"(?m)^\$ ", self.text)[1:]
        pairs = [
            re.match(r"((?:[^\n]*\\\n)*[^\n]*\n?)(.*)", one, re.S) for one in parts
        ]
        return [(pair[1].rstrip("\n"), pair[2]) for pair in pairs if pair]


def blocks(page: str) -> list[Block]:
    """The consoles and the files of a page, in its order."""
    found = []
    for one in FENCE.finditer(page):
        title = (one["title"] or "").partition('"')[2].rstrip('"')
        if one["kind"] == "console" or title:
            found.append(
                Block(
                    one["kind"],
                    dedent(one["text"]),
                    title,
                    one["margin"],
                    one.start("text"),
                    one.end("text"),
                )
            )
    return found


def furnish(folder: Path) -> None:
    """Make a folder a project without results; the code stays where it is."""
    for name in ("Snakefile", "conf", "data"):
        (folder / name).symlink_to(ROOT / name)


def typed(command: str, folder: Path, *, logged: bool = True) -> str:
    """What a command prints in a folder; RuntimeError if it fails."""
    beside = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "80",
    }
    environment.pop("MLFLOW_TRACKING_URI", None)
    if not logged:
        environment["MORPHTRACK_LOGGER"] = "0"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"$ {command}\n{done.stdout}\nexit status {done.returncode}")
    return COLOUR.sub("", done.stdout)


def agrees(output: str, shown: str) -> bool:
    """Whether a page shows this output; "..." in it is anything."""
    output, shown = (
        "\n".join(line.rstrip() for line in LOGGED.sub("", text).strip().splitlines())
        for text in (output, shown)
    )
    pattern = ".*?".join(map(re.escape, shown.split("...")))
    return re.fullmatch(pattern, output, re.S) is not None


def run(
    page: str, folder: Path, *, logged: bool = True
) -> Iterator[tuple[Block, str, str, str]]:
    """Write the files of a page and run its commands; yield each with its output.

    Returns
    -------
    block, command, output shown, output
    """
    for block in blocks(page):
        if block.title:
            (folder / block.title).write_text(block.text, encoding="utf-8")
        for command, shown in block.commands:
            yield block, command, shown, typed(command, folder, logged=logged)


def renewed(page: str, folder: Path) -> str:
    """A page with the outputs of today where they differ."""
    texts: dict[tuple[int, int], str] = {}
    for block, command, shown, output in run(page, folder):
        output = LOGGED.sub("", output).rstrip() + "\n"
        kept = shown if agrees(output, shown) else output
        place = (block.begin, block.end)
        text = texts.get(place, "") + f"$ {command}\n{kept}"
        texts[place] = text
    margins = {(b.begin, b.end): b.margin for b in blocks(page)}
    for (begin, end), text in sorted(texts.items(), reverse=True):
        page = page[:begin] + indent(text, margins[begin, end]) + page[end:]
    return page


def main() -> None:
    """Renew the pages that are named."""
    for name in sys.argv[1:]:
        path = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            furnish(Path(folder))
            page = path.read_text(encoding="utf-8")
            path.write_text(renewed(page, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
