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
    # Numbers of its type, so that an array of no dimensions stays of it, too.
    one, half, width, quiet = (numpy.uint64(each) for each in (1, 0x7FFF, 16, 0x40))
    rounded = (bits + half + ((bits >> width) & one)) >> width
    return numpy.where(numpy.isnan(array), (bits >> width) | quiet, rounded).astype("uint16")


def from_bfloat16(bits):
    """The values of bfloat16: an array of float32 of the same shape, exactly.

    Args:
        bits: an array of uint16.
    """
    return (numpy.asarray(bits, "uint16").astype("uint32") << numpy.uint32(16)).view("float32")
