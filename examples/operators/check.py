# SPDX-License-Identifier: Apache-2.0
"""Both operators against NumPy: NPUSIM_OPERATORS_PATH names this folder."""

import sys

import numpy

import npusim


def rms_norm_plus_one(x, weight):
    x, weight = x.astype("float64"), weight.astype("float64")
    return x / numpy.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * (1 + weight)


def swi_glu(x):
    left, right = numpy.split(x.astype("float64"), 2, axis=1)
    return left / (1 + numpy.exp(-left)) * right


def main():
    numbers = numpy.random.default_rng(1)
    with npusim.Simulator(sys.argv[1]):
        for rows, columns in ((1, 2), (7, 100), (64, 1024), (333, 34)):
            x = numbers.standard_normal((rows, columns)).astype("float16")
            weight = numbers.standard_normal(columns).astype("float16")
            y = npusim.ops.call("rms_norm_plus_one", x, weight)
            numpy.testing.assert_allclose(y, rms_norm_plus_one(x, weight), rtol=4e-3, atol=4e-3)
            quantised, scales = npusim.ops.call("swi_glu_quant", x)
            wanted = swi_glu(x)
            largest = numpy.abs(wanted).max(axis=1)
            numpy.testing.assert_allclose(scales, largest / 127, rtol=1e-5, atol=1e-12)
            off = numpy.abs(quantised * scales[:, None].astype("float64") - wanted)
            assert (off <= 1.01 * scales[:, None] + 1e-12).all()
        print(f"right; the last call took {npusim.ops.last_call()['device_ps'] / 1e6:.1f} us on the card")


main()
