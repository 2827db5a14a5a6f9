#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the shell steps of a pipeline file of docs/ci as its service would, in a copy of the example
project, and looks at what they leave.

usage: pipeline.py PIPELINE PROJECT WORK [--package FILE]

With --package the steps install that file; without, what they say to apt-get and curl is checked
and not done. A first run has no baseline, a second one compares with the first's reports, and a third
one, of a driver that reads one register more, fails for that.
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
    """What has failed; None: nothing has."""
    for name, script, needs_baseline in steps:
        if needs_baseline and not list(project.glob("baseline/*.json")):
            continue
        # Both services stop at the first command that fails.
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=project, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            return f"step '{name}' ended with {done.returncode}:\n{done.stdout}"
    return None


def check(project, compared):
    results = project / "results"
    tests = xml.etree.ElementTree.parse(results / "tests.xml").getroot()
    assert tests.get("tests") == "10" and tests.get("failures") == "0", tests.attrib
    reports = list((results / "reports").glob("*.json"))
    assert len(reports) == 10, reports
    latency = (results / "reports/CopierTest.LatencyIsThatOfTheLink.json").read_text()
    assert '"copier.download.latency_ns"' in latency and '"host.mmio_reads"' in latency, latency
    comparisons = list(results.glob("compare-*.xml"))
    assert len(comparisons) == (10 if compared else 0), comparisons
    for file in comparisons:
        root = xml.etree.ElementTree.parse(file).getroot()
        assert list(root.iter("testcase")), "the comparison tells nothing"
        assert not list(root.iter("failure")), "equal runs differ"


def make_slower(project):
    """A regression that no test of the example asserts: opening the card reads a register more."""
    source = project / "copier.cpp"
    text = source.read_text()
    opened = "  device_ = std::move(*device);\n"
    assert opened in text
    source.write_text(text.replace(opened, opened + "  static_cast<void>(device_->take_fault());\n"))


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

    def expect_success():
        failed = run(steps, environment, project)
        if failed:
            sys.exit(failed)

    expect_success()
    check(project, False)
    shutil.copytree(project / "results/reports", project / "baseline")
    expect_success()
    check(project, True)
    make_slower(project)
    failed = run(steps, environment, project)
    assert failed and "host.mmio_reads" in failed, failed
    if not options.package:
        said = log.read_text().splitlines()
        assert f"curl -fsSL -o /tmp/npusim.deb {variables['NPUSIM_DEB']}" in said, said
        assert any("/tmp/npusim.deb g++ cmake" in line for line in said), said


main()
