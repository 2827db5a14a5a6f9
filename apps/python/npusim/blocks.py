# SPDX-License-Identifier: Apache-2.0
"""Blocks of a card's memory for tensors, kept for the next tensor of their size: an allocation takes
simulated time, and whole pages of 2 MiB."""

from .errors import Error, ErrorCode

_PAGE = 2 << 20
_SMALLEST = 512


def _rounded(size):
    """Powers of two up to half a page, which share pages; whole pages beyond that."""
    if size > _PAGE // 2:
        return -(-size // _PAGE) * _PAGE
    return max(1 << (size - 1).bit_length(), _SMALLEST)


class Block:
    """Memory that goes back to its card's blocks when nobody holds it."""

    def __init__(self, device, size):
        self.device = device
        self.filled = True  # False: by a graph that has not run (captured.py)
        self.size = _rounded(max(size, 1))
        self.address = _taken(device, self.size)

    def __del__(self):
        address, self.address = getattr(self, "address", 0), 0
        if address and not self.device.closed:
            self.device._blocks.setdefault(self.size, []).append(address)


def _taken(device, size):
    free = device._blocks.setdefault(size, [])
    if not free:
        card = device._ready()
        try:
            first = card.allocate(max(size, _PAGE))
        except Error as error:
            if error.code != ErrorCode.OUT_OF_MEMORY or not _give_back(device):
                raise
            first = card.allocate(max(size, _PAGE))
        free.extend(first + at for at in reversed(range(0, max(size, _PAGE), size)))
    return free.pop()


def _give_back(device):
    """Frees whole pages that no tensor has. False: there were none."""
    free = [(size, address) for size, kept in device._blocks.items() if size >= _PAGE for address in kept]
    for size, address in free:
        device._blocks[size].remove(address)
        device._card.free(address)
    return bool(free)
