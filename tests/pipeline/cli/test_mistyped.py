"""What people type by mistake: one line each, with the remedy, and exit status 2."""

import shlex
import shutil

import pytest

from pipeline.cli.app import called
from tests.pipeline.conftest import furnish

ARCH = "case=rod_file case.path=conf/robot/arch.yaml"
CIRCLE = "case=triangles_circle"
PROFILE = "--profile conf/profile/nope"
NO_PROFILE = "conf/profile/nope has no config.yaml: give one of local, slurm"
MISTYPED = [
    # names
    ("simulat", "unknown command 'simulat': did you mean simulate?"),
    ("frobnicate", "unknown command 'frobnicate': choose one of make, "),
    ("study shet_size", "no study 'shet_size': did you mean sheet_size?"),
    ("study ../case/triangles_circle", "choose one of"),
    ("list case", "not one of 'cases', 'studies', 'figures', 'structures'"),
    ("make dejong-33", "no figure 'dejong-33': did you mean dejong-3"),
    ("make dejong-3 dejong-5", "several figures (dejong-3 dejong-5): give one"),
    ("figure huang-4b --row a b --out c", "'huang-4b': did you mean huang-4 or"),
    ("simulate case=pentapot", "no case 'pentapot': did you mean pentapod?"),
    ("mobility case=pentapot", "no case 'pentapot': did you mean pentapod?"),
    (f"study sheet_size {PROFILE}", NO_PROFILE),
    (f"make {PROFILE}", NO_PROFILE),
    # no case, or none that is there
    ("simulate", "no case is named: give your FILE, or case=NAME"),
    ("simulate case=", "no case is named: give your FILE"),
    ("simulate pentapod", "no case is named: did you mean case=pentapod?"),
    ("simulate case = pentapod", "no case is named: did you mean case=pentapod?"),
    ("simulate --case=pentapod", "name a case without dashes, case=NAME"),
    ("simulate case=conf/case/pentapod.yaml", "is a path: write case=pentapod"),
    ("simulate case=conf/case/pentapot.yaml", "did you mean pentapod"),
    ("simulate case=pentapod ~case", "~case: remove it, a simulation needs a case"),
    ("mobility pentapod", "pentapod has no value: did you mean case=pentapod?"),
    ("mobility case=pentapod case=bumps", "two cases are named: leave"),
    # files that cases wait for
    ("simulate case=structure_file", "=FILE, such as conf/structure/four_bar.yaml"),
    ("mobility case=structure_file", "=FILE, such as conf/structure/four_bar.yaml"),
    ("simulate case=rod_file", "case.path=FILE, such as conf/robot/arch.yaml"),
    ("simulate case=fold_file", "such as mine.svg, which `morphtrack new"),
    ("simulate case=loaded_file", "such as a structure file with `springs`"),
    ("simulate case=structure_file path=a.yaml", "did you mean case.path?"),
    ("simulate case=structure_file case.path=a", "looked in "),
    ("simulate case=fold_file case.path=a.svg", "a.svg cannot be read (No such file"),
    ("simulate case=structure_file case.structure=a.yaml", "is a group of keys: write"),
    ("simulate case=design_sheet case.structure=[1]", "is a group of keys: write"),
    ("simulate case=miura case.phases={a:1}", "is a list: write it in [ ], as"),
    ("simulate case=structure_file case.structure.path=no.yaml", "looked in "),
    ("simulate case=rod_file case.path=conf", "(Is a directory): looked in "),
    # keys
    ("simulate case=rod_file case.file=a.yaml", "did you mean case.path?"),
    (f"simulate {CIRCLE} hydra.rundir=a", "no key hydra.rundir: did you mean hydra"),
    (f"simulate {CIRCLE} hydra.verbosity=a", "hydra.verbosity: --hydra-help lists"),
    (f"simulate {CIRCLE} case.tolerence=1", "did you mean tolerance?"),
    (f"simulate {CIRCLE} ++case.toleranc=1", "did you mean tolerance?"),
    (f"simulate {CIRCLE} +case.toleranc=1", "did you mean tolerance?"),
    ("simulate case=miura +case.phases.0.fractoin=1", "case.phases[0] has no key"),
    (f"simulate {CIRCLE} +case.method=newton", "is a case.method already: write it"),
    (f"simulate {CIRCLE} +target=1", "did you mean case.target?"),
    ("simulate case=miura ~case.phases", "has no phases: add it"),
    (f"simulate {CIRCLE} ~case.target.radius", "or omit ~case.target.radius"),
    (f"simulate {ARCH} case.damping.bet=0", "did you mean beta?"),
    ("mobility case=pentapod case.target.radus=1", "did you mean radius?"),
    # values
    (f"simulate {CIRCLE} case.target.radius=", "radius=VALUE, null for none"),
    (f"simulate {CIRCLE} case.target.radius=1mm", "positive, not the text '1mm'"),
    (f"simulate {CIRCLE} case.target=sphere", "is 'sphere', but is a group of keys"),
    (f"simulate {CIRCLE} case.target.radius=1,2", "choose one, or add --multirun"),
    (f"simulate {CIRCLE} 'case.starts=range(1,3)'", "choose one, or add --multirun"),
    ("simulate case=pentapod,bumps", "several values: choose one, or add --multirun"),
    (f"simulate {CIRCLE} case.method=newtn", "choose one of projection, newton"),
    (f"simulate {CIRCLE} case.starts=1.5", "a whole number from 1 up, not 1.5"),
    ("simulate case=miura case.phases=5", "case.phases is 5, but is a group"),
    ("simulate case=miura case.phases.0.increments=2.5", "number from 1 up, not 2.5"),
    ("simulate case=miura case.supports=largest", "or 'largest panel'"),
    (f"simulate {ARCH} case.friction=high", "0 or more, not the text 'high'"),
    ("simulate case=pentapod record_every=x", "must be 1 or more, not x"),
    ("simulate 'case=pentapod case.starts=3'", "write each KEY=VALUE as one word"),
    (f"simulate {CIRCLE} 'case.perturb={{seed: 1, trun: 1}}'", "give seed, turn,"),
    (f"simulate {CIRCLE} case.tolerance=-1e-6", "must be positive, not -1e-06"),
    (f"simulate {CIRCLE} case.target.radius=-1", "-1"),
    (f"simulate {CIRCLE} case.structure.path=x", "case.structure.path"),
    (f"simulate {CIRCLE} case._target_=os.system", "os.system: name one of"),
    # options and names of other commands
    ("track --frobnicate", "morphtrack track --help lists them"),
    ("simulate case=pentapod --multrun", "did you mean --multirun"),
    ("ingest a.ply --sphere-radius 6 --out x", "did you mean --sphere-radius-mm"),
    ("ingest a.ply --sphere-radius-mm six --out x", "'six' is not a valid float"),
    ("new mechansim x", "is not one of 'mechanism', 'pattern', 'robot'"),
    ("new mechanism x --form a.urdf", "did you mean --from?"),
    ("new pattern --schema", "a pattern has no schema: give mechanism or robot"),
    ("new mechanism", "'' is not a name: use letters, digits and _"),
    ("figure chain --row a b c", "--row a b c must have 2 or 4 words, not 3: "),
    ("calibrate --pose a b --out c", "--pose a b must have 3 words, not 2: give"),
    ("pick a.ply --at 1 2 --out c", "--at 1 2 is not a position: give X Y Z in mm"),
    ("study sheet_size --members --table", "give only one of --members, --batch"),
    ("study sheet_size --retry-faild", "did you mean --retry-failed?"),
    ("make dejong-3 comparisons.circle.scale_m=50", "did you mean scale_mm?"),
    ("show nothing", "unknown run 'nothing'"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One project folder for all: what is refused writes nothing into it."""
    made = tmp_path_factory.mktemp("mistyped")
    furnish(made)
    return made


@pytest.mark.parametrize(("line", "words"), MISTYPED)
def test_a_mistyped_line_is_met_with_its_remedy(
    line, words, folder, monkeypatch, capsys
):
    monkeypatch.chdir(folder)
    given = shlex.split(line)
    monkeypatch.setattr("sys.argv", ["morphtrack", *given])
    assert called(given) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert words in said.err
    for foreign in ("verride", "Hydra", "OmegaConf", "struct'", "object has no"):
        assert foreign not in said.err
    runs = folder / "results"
    assert not list(runs.glob("runs/*"))
    shutil.rmtree(runs, ignore_errors=True)
