# Which run is made from which. The plan (python -m pipeline.plan) gives every run a key
# made of its configuration, code and inputs; a batch of runs is one job here, and a stamp
# under results/done says that all runs of a batch have finished. So a key is all that
# Snakemake learns of code and configuration. The jobs' files are in results/runs/<key>.

import json
from pathlib import Path

PLAN = Path(config.get("plan", "results/plan/plan.json"))
BATCHES = json.loads(PLAN.read_text())["batches"]


def stamp(batch):
    return f"results/done/{BATCHES[batch]['step']}/{batch}"


def needs(wildcards):
    return [stamp(batch) for batch in BATCHES[wildcards.batch]["needs"]]


rule all:
    input:
        [stamp(batch) for batch in BATCHES],


rule simulate:
    input:
        needs,
    output:
        "results/done/simulate/{batch}",
    log:
        "results/log/simulate/{batch}.log",
    shell:
        "python -m pipeline.run {wildcards.batch} 2>&1 | tee {log}"


use rule simulate as virtual_scan with:
    output:
        "results/done/virtual_scan/{batch}",
    log:
        "results/log/virtual_scan/{batch}.log",


use rule simulate as ingest with:
    output:
        "results/done/ingest/{batch}",
    log:
        "results/log/ingest/{batch}.log",


use rule simulate as input_uncertainty with:
    output:
        "results/done/input_uncertainty/{batch}",
    log:
        "results/log/input_uncertainty/{batch}.log",


use rule simulate as deviation with:
    output:
        "results/done/deviation/{batch}",
    log:
        "results/log/deviation/{batch}.log",


use rule simulate as compare with:
    output:
        "results/done/compare/{batch}",
    log:
        "results/log/compare/{batch}.log",


use rule simulate as compare_series with:
    output:
        "results/done/compare_series/{batch}",
    log:
        "results/log/compare_series/{batch}.log",


use rule simulate as calibrate with:
    output:
        "results/done/calibrate/{batch}",
    log:
        "results/log/calibrate/{batch}.log",


use rule simulate as parts with:
    output:
        "results/done/parts/{batch}",
    log:
        "results/log/parts/{batch}.log",


use rule simulate as search with:
    output:
        "results/done/search/{batch}",
    log:
        "results/log/search/{batch}.log",


use rule simulate as figure with:
    output:
        "results/done/figure/{batch}",
    log:
        "results/log/figure/{batch}.log",
