# Which result is made from which, by name. Results are in results/runs, each in a folder
# called by its key; results/made/<step>/<name> is the receipt of a name: the digest of
# what its run holds, then the run's key. A job makes its key when it starts, of the
# plan's file and of the digests in the receipts that it reads, and ends at once where
# that run is there. So a rule reads only its plan and the receipts of what it is made
# from.
#
#   snakemake -n                                      what would run, and why
#   snakemake --cores 2 results/made/compare/cylinder    one comparison and all it needs
#   morphtrack plan                                   the same by name, what is done
#
# The plan is made again here whenever conf, code or files have changed. Snakemake's own
# rerun triggers hold (times with checksums, sets of inputs, commands): files of the plan
# change only where they say something new, and what holds by content is never older than
# what it was made from.

import os

from pipeline.workflow.graph import Graph, job_environment

os.environ.update(job_environment())
plan = Graph(config.get("plan", ""), main=workflow.is_main_process)


rule all:
    input:
        plan.wanted(),


# The steps of a case, by its solver; a batch of runs, for a study.
rule simulate:
    input:
        plan="results/plan/simulate/{case}.json",
    output:
        "results/made/simulate/{case}",
    log:
        "results/log/simulate/{case}.log",
    priority: plan.priority("simulate")
    shell:
        "morphtrack run --planned simulate/{wildcards.case:q} 2>&1 | tee {log:q}"


# A printed end state, scanned in the virtual lab.
rule virtual_scan:
    input:
        plan="results/plan/virtual_scan/{comparison}.json",
        simulated=plan.made("virtual_scan", "simulated"),
    output:
        "results/made/virtual_scan/{comparison}",
    log:
        "results/log/virtual_scan/{comparison}.log",
    priority: plan.priority("virtual_scan")
    shell:
        "morphtrack run --planned virtual_scan/{wildcards.comparison:q} 2>&1 | tee {log:q}"


# The spheres in a scan.
rule ingest:
    input:
        plan="results/plan/ingest/{comparison}.json",
        scan=plan.made("ingest", "scan"),
    output:
        "results/made/ingest/{comparison}",
    log:
        "results/log/ingest/{comparison}.log",
    priority: plan.priority("ingest")
    shell:
        "morphtrack run --planned ingest/{wildcards.comparison:q} 2>&1 | tee {log:q}"


# What printing errors do to the shape.
rule input_uncertainty:
    input:
        plan="results/plan/input_uncertainty/{case}.json",
        simulated=plan.made("input_uncertainty", "simulated"),
    output:
        "results/made/input_uncertainty/{case}",
    log:
        "results/log/input_uncertainty/{case}.log",
    priority: plan.priority("input_uncertainty")
    shell:
        "morphtrack run --planned input_uncertainty/{wildcards.case:q} 2>&1 | tee {log:q}"


# The target in the scan, and the distance from it.
rule deviation:
    input:
        plan="results/plan/deviation/{comparison}.json",
        spheres=plan.made("deviation", "spheres"),
        simulated=plan.made("deviation", "simulated"),
    output:
        "results/made/deviation/{comparison}",
    log:
        "results/log/deviation/{comparison}.log",
    priority: plan.priority("deviation")
    shell:
        "morphtrack run --planned deviation/{wildcards.comparison:q} 2>&1 | tee {log:q}"


# Scan beside simulation.
rule compare:
    input:
        plan="results/plan/compare/{comparison}.json",
        spheres=plan.made("compare", "spheres"),
        simulated=plan.made("compare", "simulated"),
        deviation=plan.made("compare", "deviation"),
        input_uncertainty=plan.made("compare", "input_uncertainty"),
    output:
        "results/made/compare/{comparison}",
    log:
        "results/log/compare/{comparison}.log",
    priority: plan.priority("compare")
    shell:
        "morphtrack run --planned compare/{wildcards.comparison:q} 2>&1 | tee {log:q}"


# A measured series beside a run.
rule compare_series:
    input:
        plan="results/plan/compare_series/{series}.json",
        simulated=plan.made("compare_series", "simulated"),
    output:
        "results/made/compare_series/{series}",
    log:
        "results/log/compare_series/{series}.log",
    priority: plan.priority("compare_series")
    shell:
        "morphtrack run --planned compare_series/{wildcards.series:q} 2>&1 | tee {log:q}"


# Lengths of a print, from several of its poses.
rule calibrate:
    input:
        plan="results/plan/calibrate/{calibration}.json",
    output:
        "results/made/calibrate/{calibration}",
    log:
        "results/log/calibrate/{calibration}.log",
    priority: plan.priority("calibrate")
    shell:
        "morphtrack run --planned calibrate/{wildcards.calibration:q} 2>&1 | tee {log:q}"


# Files for the printer.
rule parts:
    input:
        plan="results/plan/parts/{case}.json",
        simulated=plan.made("parts", "simulated"),
    output:
        "results/made/parts/{case}",
    log:
        "results/log/parts/{case}.log",
    priority: plan.priority("parts")
    shell:
        "morphtrack run --planned parts/{wildcards.case:q} 2>&1 | tee {log:q}"


# An adaptive study: its workers are threads here.
rule search:
    input:
        plan="results/plan/search/{study}.json",
    output:
        "results/made/search/{study}",
    log:
        "results/log/search/{study}.log",
    priority: plan.priority("search")
    threads: plan.threads("search")
    shell:
        "morphtrack run --planned search/{wildcards.study:q} 2>&1 | tee {log:q}"


# What the fitted records of a measured set tell.
rule fit_measured:
    input:
        plan="results/plan/fit_measured/{set}.json",
    output:
        "results/made/fit_measured/{set}",
    log:
        "results/log/fit_measured/{set}.log",
    shell:
        "morphtrack run --planned fit_measured/{wildcards.set:q} 2>&1 | tee {log:q}"


# Its records, predicted from their inputs.
rule predict:
    input:
        plan="results/plan/predict/{set}.json",
        fit=plan.made("predict", "fit"),
    output:
        "results/made/predict/{set}",
    log:
        "results/log/predict/{set}.log",
    shell:
        "morphtrack run --planned predict/{wildcards.set:q} 2>&1 | tee {log:q}"


# What was measured beside what was predicted.
rule measured:
    input:
        plan="results/plan/measured/{set}.json",
        fit=plan.made("measured", "fit"),
        predicted=plan.made("measured", "predicted"),
    output:
        "results/made/measured/{set}",
    log:
        "results/log/measured/{set}.log",
    shell:
        "morphtrack run --planned measured/{wildcards.set:q} 2>&1 | tee {log:q}"


# What came of the runs of a study.
rule study_table:
    input:
        plan="results/plan/study_table/{study}.json",
        runs=plan.made("study_table", "runs"),
    output:
        "results/made/study_table/{study}",
    log:
        "results/log/study_table/{study}.log",
    priority: plan.priority("study_table")
    shell:
        "morphtrack run --planned study_table/{wildcards.study:q} 2>&1 | tee {log:q}"


# A figure of a paper, or of ours.
rule figure:
    input:
        plan="results/plan/figure/{figure}.json",
        simulated=plan.made("figure", "simulated"),
        comparisons=plan.made("figure", "comparisons"),
        spheres=plan.made("figure", "spheres"),
    output:
        "results/made/figure/{figure}",
    log:
        "results/log/figure/{figure}.log",
    priority: plan.priority("figure")
    shell:
        "morphtrack run --planned figure/{wildcards.figure:q} 2>&1 | tee {log:q}"
