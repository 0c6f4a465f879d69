"""The pictures of the site, drawn by the current code from the commands of a page.

    ![words](pictures/NAME.png)<!-- FILE -->    a file that the commands above leave
    ![words](pictures/NAME.png)                 the shape of the run that comes next

`python docs/tools/pictures.py` draws those of all pages; pages may be named. Runs stay
below results/docs, so that a page that is drawn again computes what is new.
"""

import contextlib
import io
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from console import ROOT, blocks, furnish, run
from PIL import Image, ImageChops, ImageOps

PICTURE = re.compile(
    r"!\[[^]]*\]\((?P<file>(?:pictures/)?[\w-]+\.png)\)(<!-- (?P<source>.+?) -->)?"
)
RUN = re.compile(r"^run +(\S+)$", re.M)
WIDE, NARROW = 1000, 560  # pixels
MARGIN = 8  # pixels
BANNER, TINT = (1000, 270), (232, 238, 250)  # pixels; red, green, blue
SHOWN = ("cylinder", "kresling", "tendon-gripper", "labels")
LARGEST = {WIDE: 150_000, NARROW: 60_000}  # bytes
DEMO = ("$ make demo\n", "$ morphtrack make comparisons\n")  # packages are there
PAGES = ("tutorials/*.md", "gallery/index.md", "explanation/measured/*_*.md")


def main() -> None:
    """Draw the pictures of the pages that are named, or of all."""
    docs = ROOT / "docs"
    named = [Path(name).resolve() for name in sys.argv[1:]]
    for page in named or [p for of in PAGES for p in sorted(docs.glob(of))]:
        text = page.read_text(encoding="utf-8")
        text = text.replace(*DEMO)
        folder = ROOT / "results" / "docs" / page.parent.name / page.stem
        clear(folder)
        draw(text, page.parent, folder)
    draw_banner()


def draw_banner() -> None:
    """Four pictures of the gallery side by side, on a tinted ground: for README.md."""
    ground = Image.new("RGB", BANNER, TINT)
    across = BANNER[0] // len(SHOWN)
    for number, name in enumerate(SHOWN):
        picture = Image.open(ROOT / "docs/gallery/pictures" / f"{name}.png")
        small = ImageOps.contain(
            picture.convert("RGB"),
            (across - 3 * MARGIN, BANNER[1] - 3 * MARGIN),
            Image.Resampling.LANCZOS,
        )
        left = number * across + (across - small.width) // 2
        top = (BANNER[1] - small.height) // 2
        tinted = ImageChops.multiply(small, Image.new("RGB", small.size, TINT))
        ground.paste(tinted, (left, top))
    save(ground, ROOT / "docs" / "banner.png", WIDE)


def clear(folder: Path) -> None:
    """Make a folder a project without files of before, but for its results."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name in ("results", ".snakemake"):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    furnish(folder)


def draw(text: str, beside: Path, folder: Path) -> None:
    """Run a page in a project folder, and take each picture after its commands."""
    pictures = [(owner(one, text), one) for one in PICTURE.finditer(text)]
    name, done = "", 0
    for block, command, _, output in run(text, folder, logged=False):
        print(f"$ {command}", flush=True)
        if found := RUN.search(output):
            name = found[1]
        done += 1
        if done < len(block.commands):
            continue
        done = 0
        for begin, picture in pictures:
            if begin != block.begin:
                continue
            if source := picture["source"]:
                image = opened(folder, source)
            else:
                image = shape(folder, name)
            card = begin > picture.start()
            save(image, beside / picture["file"], NARROW if card else WIDE)


def owner(picture: "re.Match[str]", text: str) -> int:
    """Where the commands of a picture begin: below it in a card, else above it."""
    places = [block.begin for block in blocks(text) if block.commands]
    if text[: picture.start()].endswith("-   "):
        return min(at for at in places if at > picture.end())
    return max(at for at in places if at < picture.start())


def opened(folder: Path, source: str) -> Image.Image:
    """A file that commands left; of FILE:left, its left panel alone."""
    name, _, part = source.partition(":")
    image = Image.open(folder / name)
    if part != "left":
        return image
    high = image.height  # without title, letter and legend, which are of both panels
    return image.crop((0, high // 10, image.width // 2, 94 * high // 100))


def shape(folder: Path, name: str) -> Image.Image:
    """The first panel of the picture of a run: its shape."""
    import matplotlib

    matplotlib.use("Agg")
    import morphtrack as mt

    with contextlib.chdir(folder):
        figure = mt.plot(mt.load_run(Path(name)))
    first, *others = figure.axes
    for axes in others:
        axes.remove()
    if first.name == "3d":  # without its axes of coordinates and its legend
        for artist in [*first.lines, *first.texts, first.get_legend()]:
            if artist:
                artist.remove()
    figure.suptitle("")
    file = io.BytesIO()
    figure.savefig(file, dpi=200)
    return Image.open(file)


def save(image: Image.Image, path: Path, width: int) -> None:
    """Save a picture with few colours, no wider than `width`, in few bytes."""
    image = trimmed(image.convert("RGB"))
    path.parent.mkdir(parents=True, exist_ok=True)
    for colours, share in sizes():
        across = min(image.width, round(share * width))
        high = round(image.height * across / image.width)
        small = image.resize((across, high), Image.Resampling.LANCZOS)
        few = small.quantize(colours, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        if path.stat().st_size <= LARGEST[width]:
            return
    raise RuntimeError(f"{path} is larger than {LARGEST[width]} bytes")


def sizes() -> Iterator[tuple[int, float]]:
    """Numbers of colours and shares of the width, the best first."""
    for share in (1.0, 0.8, 0.6):
        for colours in (128, 64, 32, 16):
            yield colours, share


def trimmed(image: Image.Image) -> Image.Image:
    """A picture without its white rim, but for a few pixels."""
    white = Image.new("RGB", image.size, "white")
    box = ImageChops.difference(image, white).getbbox() or (0, 0, *image.size)
    low = (max(at - MARGIN, 0) for at in box[:2])
    high = (min(at + MARGIN, end) for at, end in zip(box[2:], image.size, strict=True))
    return image.crop((*low, *high))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
