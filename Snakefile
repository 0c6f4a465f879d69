# From scans and cases to comparisons, figures and studies. A rule names the files that
# it reads and writes, and its shell line is a command that a person may type.
#
#   export SNAKEMAKE_PROFILE=conf/profile/local            what all lines below use
#   snakemake results/compare/cylinder/comparison.csv      one comparison and its inputs
#   snakemake -n                                           what would run, and why
#   snakemake demo --config set='comparisons.circle.scale_mm=50'     with a value of
#                                                          conf/workflow.yaml changed;
#                                                          several: blanks between them
#   snakemake results/compare/cylinder/comparison.csv --profile conf/profile/slurm
#                                                          the same on a cluster: the
#                                                          rules of group "comparison"
#                                                          share one submission,
#                                                          simulate has its own
#   morphtrack simulate case=triangles_cylinder --out DIR  one run, or one point of a
#                                                          study by its overrides, by
#                                                          hand; see results/log/
#                                                          <rule>/<name>.log for others
#
# Configuration and names are those of conf/workflow.yaml. A rule runs again when a file
# that it reads, `config` (its resolved settings) or `code` changes. `code` is a digest
# of the modules that the step imports, without comments and docstrings. `planned` is
# the digest of both: a job whose own digest differs refuses to run.
#
# A finished run is in results/runs, in a folder named by its key: the digest of its
# configuration, its code and the content of its inputs. A job computes only what is not
# there, then links the files to its outputs, so that --forceall computes nothing twice.

import os

from pipeline.tracking.logging_process import end_session, start_session
from pipeline.workflow.plan import FOLDERS, no_step, option_of, plan_of
from pipeline.workflow.snakemake import job_environment, wait_for_others

os.environ.update(job_environment())
plan = plan_of(config)
SET, STUDY = plan.words, plan.study_words  # the changed values, as options of commands

# The first wildcard of a rule is the name of its entry in conf/workflow.yaml.


def config_of(step):
    """The resolved configuration of a result, by its name."""
    return lambda wildcards: plan.config(step, wildcards[0])


def code_of(step):
    """The digest of the code that makes a result."""
    return lambda wildcards: plan.identity(step, wildcards[0])["code"]


def planned_of(step):
    """The digest of both, which a job compares with its own.

    Snakemake does not store what takes `input`, so this triggers nothing by itself.
    """
    return lambda wildcards, input: plan.planned(step, wildcards[0])


def options_of(step):
    """The settings of a result as options of its command."""
    return lambda wildcards: plan.options(step, wildcards[0])


def results_of(step, upstream):
    """The data files of `upstream` that a result is made from."""
    return lambda wildcards: plan.inputs(step, wildcards[0], upstream)


# One process logs the runs of all jobs to MLflow. Two Snakemakes in one folder wait for
# each other by a lock that the system frees when a process is killed.
onstart:
    wait_for_others()
    start_session()


onsuccess:
    end_session()


onerror:
    end_session()


wildcard_constraints:
    batch=r"\d+-of-\d+",


rule all:
    input:
        plan.targets(),


# A target that no rule makes is refused with the nearest folder.
rule unknown:
    input:
        lambda wildcards: no_step(wildcards.step),
    output:
        "results/{step}/{file}",
    wildcard_constraints:
        step=f"(?!(?:{'|'.join(FOLDERS)})/)[^/]+",


# The comparisons, and the figures that show them.
rule demo:
    input:
        plan.targets("comparisons"),


# The steps of a case, by its solver; it reads what its configuration names: structure,
# pattern and rod files.
rule simulate:
    input:
        lambda wildcards: plan.files("simulate", wildcards.case),
    output:
        table="results/simulate/{case}/steps.csv",
        arrays="results/simulate/{case}/steps.npz",
        record="results/simulate/{case}/run.json",
    log:
        "results/log/simulate/{case}.log",
    benchmark:
        "results/benchmark/simulate/{case}.tsv"
    params:
        config=config_of("simulate"),
        code=code_of("simulate"),
        planned=planned_of("simulate"),
        overrides=lambda wildcards: plan.overrides(wildcards.case),
    shell:
        "morphtrack simulate {params.overrides} --out results/simulate/{wildcards.case:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# A printed end state, scanned in the virtual lab: synthetic, until there is a scan.
rule virtual_scan:
    input:
        simulated=results_of("virtual_scan", "simulate"),
    output:
        views=expand("results/virtual_scan/{{comparison}}/{view}", view=plan.views),
        record="results/virtual_scan/{comparison}/run.json",
    log:
        "results/log/virtual_scan/{comparison}.log",
    group:
        "comparison"
    params:
        config=config_of("virtual_scan"),
        code=code_of("virtual_scan"),
        planned=planned_of("virtual_scan"),
        options=options_of("virtual_scan"),
    shell:
        "morphtrack virtual_scan {input.simulated:q} {params.options}"
        " --out results/virtual_scan/{wildcards.comparison:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# The spheres in a scan: files of conf/workflow.yaml, or views of rule virtual_scan.
rule ingest:
    input:
        scans=lambda wildcards: plan.scans(wildcards.comparison),
        files=lambda wildcards: plan.files("ingest", wildcards.comparison),
    output:
        spheres=report(
            "results/ingest/{comparison}/spheres.csv", category="Spheres found"
        ),
        rejected="results/ingest/{comparison}/rejected.csv",
        covariance="results/ingest/{comparison}/covariance.npz",
        points="results/ingest/{comparison}/points.npy",
        picture=report(
            "results/ingest/{comparison}/picture.png", category="Spheres found"
        ),
        record="results/ingest/{comparison}/run.json",
    log:
        "results/log/ingest/{comparison}.log",
    benchmark:
        "results/benchmark/ingest/{comparison}.tsv"
    group:
        "comparison"
    params:
        config=config_of("ingest"),
        code=code_of("ingest"),
        planned=planned_of("ingest"),
        options=options_of("ingest"),
    shell:
        "morphtrack ingest {input.scans:q} {params.options}"
        " --out results/ingest/{wildcards.comparison:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# What printing errors do to the simulated shape.
rule input_uncertainty:
    input:
        simulated=results_of("input_uncertainty", "simulate"),
    output:
        covariance="results/input_uncertainty/{comparison}/input_covariance.npz",
        record="results/input_uncertainty/{comparison}/run.json",
    log:
        "results/log/input_uncertainty/{comparison}.log",
    group:
        "comparison"
    params:
        config=config_of("input_uncertainty"),
        code=code_of("input_uncertainty"),
        planned=planned_of("input_uncertainty"),
        options=options_of("input_uncertainty"),
    shell:
        "morphtrack input_uncertainty --simulated {input.simulated:q} {params.options}"
        " --out results/input_uncertainty/{wildcards.comparison:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# The target in the scan, and the distance of the nodes from it.
rule deviation:
    input:
        spheres="results/ingest/{comparison}/spheres.csv",
        points="results/ingest/{comparison}/points.npy",
        simulated=results_of("deviation", "simulate"),
    output:
        target="results/deviation/{comparison}/target.json",
        record="results/deviation/{comparison}/run.json",
    log:
        "results/log/deviation/{comparison}.log",
    group:
        "comparison"
    params:
        config=config_of("deviation"),
        code=code_of("deviation"),
        planned=planned_of("deviation"),
        options=options_of("deviation"),
    shell:
        "morphtrack deviation --spheres {input.spheres:q} --simulated {input.simulated:q}"
        " {params.options}"
        " --out results/deviation/{wildcards.comparison:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# The scan compared with the simulation: shape factor S, distance error E, node
# distances and a verdict. The covariance and the points are where spheres.csv is, and
# the command finds them.
rule compare:
    input:
        spheres="results/ingest/{comparison}/spheres.csv",
        covariance="results/ingest/{comparison}/covariance.npz",
        points="results/ingest/{comparison}/points.npy",
        simulated=results_of("compare", "simulate"),
        deviation="results/deviation/{comparison}/target.json",
        input_uncertainty=results_of("compare", "input_uncertainty"),
    output:
        comparison=report(
            "results/compare/{comparison}/comparison.csv", category="Comparisons"
        ),
        budget=report("results/compare/{comparison}/budget.csv", category="Comparisons"),
        nodes="results/compare/{comparison}/nodes.csv",
        labels="results/compare/{comparison}/labels.csv",
        picture=report(
            "results/compare/{comparison}/labels.png", category="Comparisons"
        ),
        record="results/compare/{comparison}/run.json",
    log:
        "results/log/compare/{comparison}.log",
    group:
        "comparison"
    params:
        config=config_of("compare"),
        code=code_of("compare"),
        planned=planned_of("compare"),
        options=options_of("compare"),
        input_uncertainty=lambda wildcards, input: option_of(
            input.input_uncertainty, "input-uncertainty"
        ),
    shell:
        "morphtrack compare --spheres {input.spheres:q} --simulated {input.simulated:q}"
        " --deviation {input.deviation:q} {params.input_uncertainty}"
        " {params.options}"
        " --out results/compare/{wildcards.comparison:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# A measured series compared with a run.
rule compare_series:
    input:
        measured=lambda wildcards: plan.entry("compare_series", wildcards[0]).measured,
        simulated=results_of("compare_series", "simulate"),
    output:
        series=report("results/compare_series/{series}/series.csv", category="Series"),
        verdicts="results/compare_series/{series}/series-verdicts.csv",
        figure=report("results/compare_series/{series}/series.png", category="Series"),
        record="results/compare_series/{series}/run.json",
    log:
        "results/log/compare_series/{series}.log",
    params:
        config=config_of("compare_series"),
        code=code_of("compare_series"),
        planned=planned_of("compare_series"),
        options=options_of("compare_series"),
    shell:
        "morphtrack compare_series --measured {input.measured:q}"
        " --simulated {input.simulated:q} {params.options}"
        " --out results/compare_series/{wildcards.series:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# Lengths of a print, from several of its poses.
rule calibrate:
    input:
        poses="conf/calibration/{calibration}.yaml",
    output:
        deviations="results/calibrate/{calibration}/deviations.csv",
        structure="results/calibrate/{calibration}/as_built.json",
        record="results/calibrate/{calibration}/run.json",
    log:
        "results/log/calibrate/{calibration}.log",
    params:
        config=config_of("calibrate"),
        code=code_of("calibrate"),
        planned=planned_of("calibrate"),
    shell:
        "morphtrack calibrate {input.poses:q} --out results/calibrate/{wildcards.calibration:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# Files for the printer.
rule parts:
    input:
        simulated=results_of("parts", "simulate"),
    output:
        table="results/parts/{parts}/parts.csv",
        assembled="results/parts/{parts}/assembled.stl",
        record="results/parts/{parts}/run.json",
    log:
        "results/log/parts/{parts}.log",
    params:
        config=config_of("parts"),
        code=code_of("parts"),
        planned=planned_of("parts"),
    shell:
        "morphtrack parts {input.simulated:q} --out results/parts/{wildcards.parts:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# The parameters of a measured set, from the records that it names for the fit.
rule fit_measured:
    input:
        lambda wildcards: plan.records(wildcards.set),
    output:
        posterior="results/fit_measured/{set}/posterior.json",
        record="results/fit_measured/{set}/run.json",
    log:
        "results/log/fit_measured/{set}.log",
    params:
        config=config_of("fit_measured"),
        code=code_of("fit_measured"),
        planned=planned_of("fit_measured"),
    shell:
        "morphtrack measured {wildcards.set:q} --only fit"
        " --out results/fit_measured/{wildcards.set:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# The records of a set, predicted from their inputs.
rule predict:
    input:
        records=lambda wildcards: plan.records(wildcards.set),
        fit="results/fit_measured/{set}/posterior.json",
    output:
        table="results/predict/{set}/prediction.csv",
        about="results/predict/{set}/prediction.json",
        record="results/predict/{set}/run.json",
    log:
        "results/log/predict/{set}.log",
    params:
        config=config_of("predict"),
        code=code_of("predict"),
        planned=planned_of("predict"),
    shell:
        "morphtrack measured {wildcards.set:q} --only predict --fit {input.fit:q}"
        " --out results/predict/{wildcards.set:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# The measured values compared with the predicted ones.
rule measured:
    input:
        records=lambda wildcards: plan.records(wildcards.set),
        fit="results/fit_measured/{set}/posterior.json",
        predicted="results/predict/{set}/prediction.csv",
    output:
        table=report("results/measured/{set}/measured.csv", category="Measured sets"),
        verdict=report("results/measured/{set}/verdict.csv", category="Measured sets"),
        record="results/measured/{set}/run.json",
    log:
        "results/log/measured/{set}.log",
    params:
        config=config_of("measured"),
        code=code_of("measured"),
        planned=planned_of("measured"),
    shell:
        "morphtrack measured {wildcards.set:q} --fit {input.fit:q}"
        " --predicted {input.predicted:q} --out results/measured/{wildcards.set:q}"
        " --planned {params.planned} > {log:q} 2>&1"


# The runs of a study, listed with the values of each.
rule study_members:
    input:
        lambda wildcards: plan.study(wildcards.study).inputs(),
    output:
        members="results/study/{study}/members.json",
    log:
        "results/log/study/{study}.log",
    params:
        config=lambda wildcards: plan.study(wildcards.study).config(),
        code=lambda wildcards: plan.study(wildcards.study).code,
        planned=lambda wildcards, input: plan.study(wildcards.study).planned(),
    shell:
        "morphtrack study {wildcards.study:q} {STUDY} --members"
        " --planned {params.planned} > {log:q} 2>&1"


# Some of the runs of a study, one after the other; a study has at most 200 batches.
rule study_batch:
    input:
        files=lambda wildcards: plan.study(wildcards.study).inputs(wildcards.batch),
        members="results/study/{study}/members.json",
    output:
        status="results/study/{study}/batches/{batch}.csv",
    log:
        "results/log/study/{study}.{batch}.log",
    params:
        config=lambda wildcards: plan.study(wildcards.study).config(wildcards.batch),
        code=lambda wildcards: plan.study(wildcards.study).code,
        planned=lambda wildcards, input: plan.study(wildcards.study).planned(
            wildcards.batch
        ),
    shell:
        "morphtrack study {wildcards.study:q} {STUDY} --batch {wildcards.batch}"
        " --planned {params.planned} > {log:q} 2>&1"


# An adaptive study: its workers are threads here.
rule search:
    input:
        lambda wildcards: plan.study(wildcards.study).inputs(),
    output:
        trials="results/study/{study}/trials.csv",
    log:
        "results/log/search/{study}.log",
    threads: lambda wildcards: plan.study(wildcards.study).study.workers
    params:
        config=lambda wildcards: plan.study(wildcards.study).config(),
        code=lambda wildcards: plan.study(wildcards.study).code,
        planned=lambda wildcards, input: plan.study(wildcards.study).planned(),
    shell:
        "morphtrack study {wildcards.study:q} {STUDY} --search"
        " --planned {params.planned} > {log:q} 2>&1"


# The table of a study and its plots.
rule study:
    input:
        lambda wildcards: plan.study(wildcards.study).files(),
    output:
        table=report("results/study/{study}/table.csv", category="Studies"),
        costs="results/study/{study}/costs.csv",
    log:
        "results/log/study/{study}.table.log",
    shell:
        "morphtrack study {wildcards.study:q} --table > {log:q} 2>&1"


# A figure of a paper, or of ours.
rule figure:
    input:
        lambda wildcards: plan.shown(wildcards.figure),
    output:
        page="results/figure/{figure}/{figure}.pdf",
        picture=report("results/figure/{figure}/{figure}.png", category="Figures"),
        caption="results/figure/{figure}/caption.md",
        record="results/figure/{figure}/run.json",
    log:
        "results/log/figure/{figure}.log",
    params:
        config=config_of("figure"),
        code=code_of("figure"),
        planned=planned_of("figure"),
    shell:
        "morphtrack figure {wildcards.figure:q} {SET}"
        " --out results/figure/{wildcards.figure:q}"
        " --planned {params.planned} > {log:q} 2>&1"
