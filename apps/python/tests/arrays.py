# SPDX-License-Identifier: Apache-2.0
"""Arrays that tests begin with."""

import numpy


def normal(seed, *shape, scale=1.0):
    """Normally distributed float16."""
    return (numpy.random.default_rng(seed).standard_normal(shape) * scale).astype("float16")
