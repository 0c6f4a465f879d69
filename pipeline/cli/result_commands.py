"""Commands of the group Results."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, Typer

from pipeline.cli import completion, options
from pipeline.terminal import InputError, shown_path

if TYPE_CHECKING:
    from pipeline.figures.read_runs import Row

ARCHIVE = Path("results/morphtrack.crate.zip")
RESULTS = Path("results")

group = Typer()
command = partial(group.command, rich_help_panel="Results")
Results = Annotated[Path, Option(metavar="DIR", help="Folder of the results.")]


@command("show")
def show(
    run: options.RunName,
    film: Annotated[bool, Option("--film", help="Write moving.mp4.")] = False,
    gif: Annotated[bool, Option("--gif", help="Write moving.gif.")] = False,
    vtk: Annotated[bool, Option("--vtk", help="Write vtk, for ParaView.")] = False,
    fold: Annotated[Path | None, Option(help="FOLD file of a sheet to write.")] = None,
    every: Annotated[int, Option(help="For --fold: every n-th increment.")] = 1,
    no_open: Annotated[bool, Option("--no-open", help="Do not open the page.")] = False,
) -> None:
    """Show a run: its numbers, its picture, its page, its motion.

    RUN is a name (pentapod, simulate/pentapod, compare/cylinder, a run made by hand),
    the folder of a run, or a key. Prints its numbers, draws picture.png and run.html
    into its folder if they are missing, and opens the page. Pages in a folder outside
    of results may come from someone else and are not opened.

    A film shows the run from the same viewpoint as the figures; without ffmpeg a GIF is
    written. A FOLD file has a frame for each increment, with faces_vertices,
    edges_vertices and edges_foldAngle, and the end of each crease as
    morphtrack:creases. The crease pattern itself is pattern.fold in the folder of the
    run.
    """
    import webbrowser

    from pipeline.cli import show as written
    from pipeline.runs.run_directory import found_run, run_record
    from pipeline.runs.summary import PICTURE, run_lines

    directory = found_run(run)
    record = run_record(directory)
    page = written.seen(directory)
    if record["step"] == "simulate":
        print("\n".join(run_lines(record, directory)))
        print(f"picture  {shown_path(directory / PICTURE)}")
    print(f"page     {shown_path(page)}")
    if vtk:
        print(f"vtk      {shown_path(written.write_vtk(directory))}")
    if film or gif:
        print(f"film     {shown_path(written.film(directory, gif=gif))}")
    if fold:
        frames = written.write_fold_file(directory, fold, every)
        print(f"fold     {fold}, {frames} frames")
    if not no_open and written.can_open():
        webbrowser.open(page.resolve().as_uri())


@command("figure")
def figure(
    figure: Annotated[
        str, Argument(help="Figure name.", autocompletion=completion.figures)
    ],
    words: options.Words = None,
    row: Annotated[
        list[str] | None,
        Option(
            metavar="LABEL SIMULATED [COMPARISON INGEST]",
            help="Label of a row and folders of its results; repeat for each row.",
        ),
    ] = None,
    width: Annotated[str | None, Option(help="89, 120 or 183 (mm), or slide.")] = None,
    no_identity: Annotated[bool, Option("--no-identity", help="Omit run ids.")] = False,
    svg: Annotated[bool, Option("--svg", help="Write NAME.svg as well.")] = False,
    out: options.OutIfGiven = None,
    planned: options.Planned = "",
) -> None:
    """Draw a figure from finished runs.

    Without --row, it shows the results that conf/workflow.yaml names, as they are now.
    Writes NAME.pdf, NAME.png, the plotted numbers as CSV, the caption as caption.md and
    caption.tex, and for each of them the keys of the runs behind it as .trace.json, by
    default into results/drawn/NAME-WIDTH.

    Example: morphtrack figure dejong-3 comparisons.circle.scale_mm=50 --width 89
    """
    from pipeline.cli.show import shown_rows
    from pipeline.figures.figure_names import figure_config, module_of
    from pipeline.workflow.make_step import make_step
    from pipeline.workflow.plan import Plan

    module = module_of(figure)
    plan = Plan(words or ())
    rows = [_row(text) for text in row or ()] or shown_rows(plan, figure)
    style = plan.workflow.style.model_dump()
    style["identity"] = style["identity"] and not no_identity
    style["svg"] = style["svg"] or svg
    if width is not None:
        style["width"] = int(width) if width.isdigit() else width
    out = out or RESULTS / "drawn" / f"{figure}-{style['width']}"
    _check_alone(figure, out)
    config = figure_config(figure, [row.label for row in rows], style)
    make_step(
        "figure", config, out, reads=_reads(rows), modules=[module], planned=planned
    )
    print(f"wrote {out / figure}.pdf, .png and its numbers as CSV")


def _row(text: str) -> "Row":
    """A row of --row."""
    from pipeline.figures.read_runs import Row

    scan = "LABEL SIMULATED COMPARISON INGEST"
    label, *folders = options.several("--row", text, "LABEL SIMULATED", scan)
    return Row(label, *map(Path, folders))


def _reads(rows: "Sequence[Row]") -> Mapping[str, Any]:
    """The folders of all rows by role, comparisons first."""
    reads = {"simulated": [row.simulated for row in rows]}
    for role, name in (("comparisons", "comparison"), ("spheres", "ingest")):
        found = [folder for row in rows if (folder := getattr(row, name))]
        reads |= {role: found} if found else {}
    return reads


def _check_alone(figure: str, out: Path) -> None:
    """Refuse a folder whose caption is that of another figure."""
    from pipeline.steps.figure import CAPTION_FILE

    if (out / CAPTION_FILE).exists() and not (out / f"{figure}.pdf").exists():
        raise InputError(
            f"{out} holds another figure, whose caption would be lost: give {figure} "
            f"another folder, such as --out {out / figure}"
        )


@command("trace")
def trace(
    what: Annotated[
        str, Argument(metavar="FILE", help="A figure, table, macro file, or a copy.")
    ],
    results: Results = RESULTS,
) -> None:
    """Show what a figure, table or number was made from.

    Prints every run behind FILE down to the scans: configuration, code state, package
    versions, SHA-256, MLflow id, and whether it is out of date against the present
    conf. A copy of a PDF or PNG serves as well: its metadata hold the id. An address in
    the report, index.html#run-KEY, leads to that run.
    """
    from pipeline.cli.trace import trace as print_chain

    print_chain(what, results)


@command("report")
def report(
    results: Results = RESULTS,
    paper: Annotated[bool, Option("--paper", help="Write an article too.")] = False,
) -> None:
    """Write the report on all results.

    results/report/index.html is one page that needs no network: verdicts, budgets,
    figures, studies, and every run with its key, configuration and inputs. What failed,
    is missing or was edited is named with its reason.

    The article, results/paper/paper.tex, is LaTeX. It includes results/numbers.tex, the
    table of comparisons, and two figures with their captions. Edit a copy, because the
    next run overwrites it.
    """
    from pipeline.cli.make_and_summarise import report as write

    write(results, paper=paper)


@command("track")
def track() -> int:
    """Log the runs that MLflow does not have yet.

    Reads results/runs and results/failed, and writes to the store named in
    conf/tracking.yaml or MLFLOW_TRACKING_URI. Commands log their runs themselves; this
    logs runs that could not be logged then. A second pass adds nothing; it also refills
    a lost database.
    """
    from pipeline.tracking.unlogged_runs import track as log_runs

    return log_runs()


@command("ui")
def ui(
    port: Annotated[
        int, Option(min=1, max=65535, help="Port of the local web server.")
    ] = 5000,
) -> None:
    """Open the pages of MLflow that show the runs.

    Prints their addresses. The server answers on this machine only.
    """
    from pipeline.tracking.mlflow_location import open_pages

    open_pages(port)


@command("archive")
def archive(
    out: Annotated[Path, Option(metavar="FILE", help="ZIP file to write.")] = ARCHIVE,
) -> None:
    """Pack code, configuration, data and results into one RO-Crate.

    It contains the lock file and the data, or their digests, so that the figures can be
    made elsewhere: unzip it, sha256sum -c SHA256SUMS, make figures.
    """
    from pipeline.export import write_archive
    from pipeline.workflow.plan import Plan

    plan = Plan()
    write_archive(out, plan.names(), plan.planned)
