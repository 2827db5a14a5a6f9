# SPDX-License-Identifier: Apache-2.0
"""What driver and simulator answer when something cannot be done."""

import enum


class ErrorCode(enum.Enum):
    """Why a call of the driver or the simulator failed.

    The value is the code's name in messages, as the npusim program and C programs see it.
    """

    INVALID_ARGUMENT = "invalid argument"
    OUT_OF_RANGE = "out of range"
    MISALIGNED = "misaligned"
    NOT_FOUND = "not found"
    ALREADY_EXISTS = "already exists"
    BUSY = "busy"
    OUT_OF_MEMORY = "out of memory"
    OUT_OF_RESOURCES = "out of resources"
    QUEUE_FULL = "queue full"
    TIMEOUT = "timeout"
    DEVICE_LOST = "device lost"
    DEVICE_FAULT = "device fault"
    UNSUPPORTED = "unsupported"
    BAD_DEVICE = "bad device"
    PERMISSION_DENIED = "permission denied"
    IO = "input/output error"
    ABORTED = "aborted"
    WRONG_DATA = "wrong data"


class Error(RuntimeError):
    """A call of the driver or the simulator failed.

    Attributes:
        code: an `ErrorCode`.
        context: one line: what was tried, with which values; may be empty.
    """

    def __init__(self, code, context=""):
        self.code = ErrorCode(code)
        self.context = context
        name = self.code.value
        super().__init__(f"{name}: {context}" if context else name)
