# SPDX-License-Identifier: Apache-2.0
"""Matrices in fractals: blocks of 16 rows of 32 bytes, one column of blocks after the other."""

import numpy

ROWS = 16
ROW_BYTES = 32


def to_nz(matrix):
    """A matrix in fractals ("NZ"), as the operators' `formatA` and `formatB` want it on the card.

    Args:
        matrix: an array of two dimensions, or of three for a batch.

    Returns:
        An array of one dimension: columns of fractals one after the other, in each its rows of 32
        bytes; sides are padded with zeros to whole fractals. A batch has one matrix after the other.

    Raises:
        ValueError: another number of dimensions.
    """
    matrix = numpy.asarray(matrix)
    if matrix.ndim == 3:
        return numpy.concatenate([to_nz(each) for each in matrix] or [matrix.reshape(-1)])
    if matrix.ndim != 2:
        raise ValueError(f"matrix: found {matrix.ndim} dimensions; allowed: 2, or 3 for a batch")
    width = ROW_BYTES // matrix.dtype.itemsize
    rows = -(-matrix.shape[0] // ROWS) * ROWS
    blocks = -(-matrix.shape[1] // width)
    padded = numpy.zeros((rows, blocks * width), matrix.dtype)
    padded[:matrix.shape[0], :matrix.shape[1]] = matrix
    return padded.reshape(rows, blocks, width).transpose(1, 0, 2).reshape(-1)
