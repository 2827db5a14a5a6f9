# SPDX-License-Identifier: Apache-2.0
import numpy
import pytest

import npusim


@pytest.fixture(scope="module")
def product(simulator):
    """When `record()` was called, and `profile()` of a product behind it."""
    ones = numpy.ones((2048, 2048), "float16")
    simulator.record()
    begin = simulator.now
    npusim.ops.basic_matmul(ones, ones)
    return begin, simulator.profile()


def test_says_what_bounded_the_kernels(product):
    limits = product[1]["limits"]
    assert (limits[0]["subject"], limits[0]["name"]) == ("kernels", "mte2")
    assert sum(float(limit["percent"]) for limit in limits) == pytest.approx(100, abs=0.02)


def test_the_path_through_kernels_is_as_long_as_they_are(product):
    begin, report = product
    path = report["critical_path"]
    blocks = next(each for each in report["durations"] if each["name"] == "kernel_block")
    assert path["kernels_ps"] == pytest.approx(blocks["max_ps"], rel=0.05)
    assert sum(each["ps"] for each in path["kernels"]) == path["kernels_ps"]
    assert sum(each["ps"] for each in path["parts"]) == path["total_ps"]
    assert path["begin_ps"] >= begin


def test_without_a_record_it_is_the_report(simulator, product):
    report = simulator.profile()
    assert "critical_path" not in report
    assert report["limits"] == []
    assert report.keys() == simulator.report().keys()
