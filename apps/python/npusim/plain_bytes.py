# SPDX-License-Identifier: Apache-2.0
"""Arrays and buffers as the bytes that they are. What holds references to objects has none: bytes of
a card in their place would end the interpreter."""

import re

import numpy


def plain_dtype(dtype):
    """NumPy's type of elements that are bytes, and more than none. Raises ValueError for others."""
    try:
        dtype = numpy.dtype(dtype)
    except TypeError as error:
        raise ValueError(f"dtype: found {str(dtype)[:40]!r}; allowed: NumPy's types ({error})") from None
    if dtype.hasobject:
        raise ValueError(f"dtype: found {dtype}; allowed: types without references to objects")
    if dtype.itemsize == 0:
        raise ValueError(f"dtype: found {dtype}, which has no bytes; allowed: types of 1 byte or more")
    return dtype


def _plain_buffer(data):
    # Names of a structure stand between colons.
    with memoryview(data) as view:
        if "O" in re.sub(":[^:]*:", "", view.format):
            raise ValueError("the buffer holds references to objects")
    return data


def _flat(array):
    if array.dtype.hasobject:
        raise ValueError(f"found an array of {array.dtype}; allowed: one without references to objects")
    # As plain bytes: types such as datetime64 have no buffer of their own.
    return array.reshape(-1).view(numpy.uint8) if array.nbytes else bytearray()


def bytes_of(data):
    """An object with a buffer whose bytes are those of `data`, in C order."""
    if isinstance(data, numpy.ndarray):
        return _flat(numpy.ascontiguousarray(data))
    return _plain_buffer(data)


def bytes_to_fill(target):
    """An object with a buffer that is the memory of `target`. Raises BufferError."""
    if not isinstance(target, numpy.ndarray):
        return _plain_buffer(target)
    if not target.flags.c_contiguous:
        raise BufferError("the array is not contiguous")
    if not target.flags.writeable:
        raise BufferError("the array is read-only")
    return _flat(target.view(numpy.ndarray))
