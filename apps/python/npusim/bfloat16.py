# SPDX-License-Identifier: Apache-2.0
"""bfloat16, which NumPy does not have: arrays of uint16 hold its bits."""

import numpy


def to_bfloat16(array):
    """The bits of the nearest bfloat16 of each element: an array of uint16 of the same shape.

    Args:
        array: anything that NumPy makes float32 of; ties go to even, a NaN stays one.
    """
    array = numpy.asarray(array, "float32")
    bits = array.view("uint32").astype("uint64")
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return numpy.where(numpy.isnan(array), (bits >> 16) | 0x40, rounded).astype("uint16")


def from_bfloat16(bits):
    """The values of bfloat16: an array of float32 of the same shape, exactly.

    Args:
        bits: an array of uint16.
    """
    return (numpy.asarray(bits, "uint16").astype("uint32") << 16).view("float32")
