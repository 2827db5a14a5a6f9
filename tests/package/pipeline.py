#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the shell steps of a pipeline file of docs/ci as its service would, in a copy of the example
project, and looks at what they leave.

usage: pipeline.py PIPELINE PROJECT WORK [--package FILE]

With --package the steps install that file; without, what they say to apt-get and curl is checked
and not done. A first run has no baseline, a second one compares with the first's report.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import yaml

FAKE = """#!/bin/sh
echo "$(basename "$0") $*" >>"$NPU_FAKE_LOG"
"""


def github_steps(pipeline):
    """[(name, script, needs a baseline)] of the one job."""
    assert True in pipeline or "on" in pipeline, "no trigger"  # YAML 1.1 reads `on` as a boolean
    (job,) = pipeline["jobs"].values()
    assert job["container"] == "debian:12" and job["runs-on"], "no machine"
    steps = []
    for step in job["steps"]:
        assert ("run" in step) != ("uses" in step), f"neither run nor uses: {step}"
        if "uses" in step:
            assert "@" in step["uses"], f"no version: {step['uses']}"
        else:
            steps.append((step["name"], step["run"], "hashFiles" in step.get("if", "")))
    uses = [step.get("uses", "") for step in job["steps"]]
    assert any("junit" in use for use in uses), "nobody publishes the tests"
    return steps, pipeline["env"]


def gitlab_steps(pipeline):
    jobs = {name: job for name, job in pipeline.items() if name not in ("variables", "stages")}
    (job,) = jobs.values()
    assert job["image"] == "debian:12", "no image"
    assert job["artifacts"]["reports"]["junit"] == "results/*.xml", "nobody publishes the tests"
    lines = job["before_script"] + job["script"]
    assert all(isinstance(line, str) for line in lines), "a line is no string: quote it"
    return [("script", "\n".join(lines), False)], pipeline["variables"]


def run(steps, environment, project):
    for name, script, needs_baseline in steps:
        if needs_baseline and not (project / "baseline/dma_latency.json").exists():
            continue
        # Both services stop at the first command that fails.
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=project, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"step '{name}' ended with {done.returncode}:\n{done.stdout}")


def check(project, compared):
    results = project / "results"
    tests = xml.etree.ElementTree.parse(results / "tests.xml").getroot()
    assert tests.get("tests") == "8" and tests.get("failures") == "0", tests.attrib
    assert b'"workload": "dma_latency"' in (results / "dma_latency.json").read_bytes()
    if compared:
        root = xml.etree.ElementTree.parse(results / "compare.xml").getroot()
        assert list(root.iter("testcase")), "the comparison tells nothing"
        assert not list(root.iter("failure")), "equal runs differ"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pipeline", type=pathlib.Path)
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--package", type=pathlib.Path)
    options = parser.parse_args()
    pipeline = yaml.safe_load(options.pipeline.read_text())
    steps, variables = (github_steps if "jobs" in pipeline else gitlab_steps)(pipeline)

    shutil.rmtree(options.work, ignore_errors=True)
    project = options.work / "project"
    shutil.copytree(options.project, project)
    environment = dict(os.environ, **variables)
    log = options.work / "fake.log"
    if options.package:
        environment["NPUSIM_DEB"] = options.package.resolve().as_uri()
    else:
        for tool in ("apt-get", "curl"):
            fake = options.work / "bin" / tool
            fake.parent.mkdir(exist_ok=True)
            fake.write_text(FAKE)
            fake.chmod(0o755)
        environment["PATH"] = f"{(options.work / 'bin').resolve()}:{environment['PATH']}"
        environment["NPU_FAKE_LOG"] = str(log.resolve())

    run(steps, environment, project)
    check(project, False)
    (project / "baseline").mkdir()
    shutil.copy(project / "results/dma_latency.json", project / "baseline")
    run(steps, environment, project)
    check(project, True)
    if not options.package:
        said = log.read_text().splitlines()
        assert f"curl -fsSL -o /tmp/npusim.deb {variables['NPUSIM_DEB']}" in said, said
        assert any("/tmp/npusim.deb g++ cmake" in line for line in said), said


main()
