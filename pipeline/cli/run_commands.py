"""Commands of the group Run."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option, Typer

from pipeline.cli import completion, options
from pipeline.terminal import DONE, InputError

PROFILE = Path("conf/profile/local")
RETRY = "MORPHTRACK_RETRY_FAILED"  # set for the batches of --retry-failed

group = Typer()
command = partial(group.command, rich_help_panel="Run")


@command("make")
def make(
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="[FIGURE] [KEY=VALUE]...",
            help="Figure to make (default: all); changes to conf/workflow.yaml.",
            autocompletion=completion.figures,
        ),
    ] = None,
    profile: options.Profile = PROFILE,
    cores: options.Cores = None,
) -> int:
    """Make the comparisons and figures of conf/workflow.yaml.

    Runs Snakemake, writes the report, and prints the verdicts. It also lists every
    number that changed by more than its uncertainty and every verdict that changed
    since the last run. `comparisons` instead of a figure makes the comparisons and the
    figures that show them. The exit status is 1 if a job failed.

    Example: morphtrack make dejong-3 comparisons.circle.scale_mm=50
    """
    from pipeline.cli.make_and_summarise import make as make_results

    names = [word for word in words or () if "=" not in word]
    if len(names) > 1:
        raise InputError(f"several figures ({' '.join(names)}): give one or none")
    values = [word for word in words or () if "=" in word]
    return make_results("".join(names), values, profile, cores)


@command(
    "simulate",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    add_help_option=False,
)
def simulate(
    words: Annotated[
        list[str] | None, Argument(autocompletion=completion.overrides)
    ] = None,
) -> int:
    """Run one case, or several with --multirun."""
    from pipeline.cli.simulate import simulate as run

    return run(words or [])


@command("study")
def study(
    name: Annotated[
        str, Argument(help="Name in conf/study.", autocompletion=completion.studies)
    ],
    words: options.Words = None,
    retry_failed: Annotated[
        bool, Option("--retry-failed", help="Run the failed runs again.")
    ] = False,
    cores: options.Cores = None,
    profile: options.Profile = PROFILE,
    members: Annotated[
        bool, Option("--members", help="Only write the list of its runs.")
    ] = False,
    batch: Annotated[str, Option(metavar="I-of-N", help="Only run one batch.")] = "",
    search: Annotated[
        bool, Option("--search", help="Only run the adaptive search.")
    ] = False,
    table: Annotated[bool, Option("--table", help="Only write the table.")] = False,
    planned: options.Planned = "",
) -> int:
    """Run a study of conf/study.

    Runs the missing runs of conf/study/NAME.yaml through Snakemake, and writes table
    and plots into results/study/NAME. A run that does not converge is a row of the
    table; --retry-failed runs it again. --members, --batch, --search and --table do one
    part here, without Snakemake.

    Example: morphtrack study sheet_size samples=8
    """
    from pipeline.config.hydra import Composer
    from pipeline.runs.run_directory import RESULTS
    from pipeline.workflow.make_step import make_step, refuse_unplanned
    from pipeline.workflow.snakemake import run_snakemake
    from pipeline.workflow.study_batches import StudyPlan, list_members, run_batch

    if sum(map(bool, (members, batch, search, table))) > 1:
        raise InputError("give only one of --members, --batch, --search, --table")
    if table:
        from pipeline.steps.study_table import write_study

        write_study(name)
        return DONE
    plan = StudyPlan.read(name, Composer(), words or [])
    refuse_unplanned(f"study {name}", plan.planned(batch), planned)
    if members:
        if same := list_members(plan):
            print(f"note: {same} of {len(plan.points)} points repeat another run")
        return DONE
    if batch:
        return run_batch(plan, batch, retry_failed=bool(os.environ.get(RETRY)))
    if search:
        make_step("search", plan.config(), RESULTS / "study" / name)
        return DONE
    plan.check()
    if retry_failed:
        os.environ[RETRY] = "1"
    status = run_snakemake(
        [f"{RESULTS}/study/{name}/table.csv"],
        profile=profile,
        cores=cores,
        study=words or [],
        forcerun=["study_batch", "search"] if retry_failed else [],
    )
    if status == DONE:
        from pipeline.steps.study_table import print_table

        print_table(name)
    return status


@command("new")
def new(
    kind: Annotated[
        Literal["mechanism", "pattern", "robot", "comparison", "study", "project"],
        Argument(help="What the file describes."),
    ],
    name: Annotated[str, Argument(help="Letters, digits and _.")] = "",
    begun: Annotated[str | None, Option("--from", help="A URDF or DXF file.")] = None,
    schema: Annotated[bool, Option("--schema", help="Print a JSON Schema.")] = False,
) -> None:
    """Write a commented file to start from.

    Writes NAME.yaml for a mechanism or a robot, NAME.svg for a crease pattern,
    NAME.comparison.yaml for a comparison, conf/study/NAME.yaml for a study, the folder
    NAME for the project of a paper, and prints the next command. The files run
    unchanged. No existing file is overwritten. A URDF or DXF file is converted with
    every node, body and joint.

    Editors check and complete a mechanism or a robot with its JSON Schema: morphtrack
    new mechanism --schema > structure.schema.json
    """
    from pipeline.cli import new as files

    if schema:
        print(files.schema(kind))
        return
    path, then = files.written(kind, name, begun)
    print(f"wrote {path}; next:\n{then}")


@command("list")
def show_list(
    kind: Annotated[
        Literal["cases", "studies", "figures", "structures"],
        Argument(help="What is listed."),
    ],
) -> None:
    """List cases, studies, figures or structures, one per line."""
    from pipeline.config.config_files import CONF, first_remark, listed
    from pipeline.config.workflow_file import read_workflow
    from pipeline.figures.figure_names import entry_of, figure_names
    from pipeline.terminal import in_columns

    if kind == "figures":
        requested = read_workflow().figures
        left = dict.fromkeys(figure_names(), " (not in conf/workflow.yaml)")
        left |= dict.fromkeys(requested, "")
        lines = {name: entry_of(name).shows + more for name, more in left.items()}
    elif kind == "structures":
        files = sorted((CONF / "structure").rglob("*.yaml"))
        lines = {str(path): first_remark(path) for path in files}
    else:
        lines = listed({"cases": "case", "studies": "study"}[kind])
    print("\n".join(in_columns(lines)))
