# SPDX-License-Identifier: Apache-2.0
"""simpler.task_interface: the classes of npusim that have its names."""

from npusim import (ArgDirection, ChipCallable, ChipCallConfig, ChipStorageTaskArgs, ChipWorker,
                    ContinuousTensor, CoreCallable, DataType, TaskArgs, TensorArgType,
                    get_dtype_name, get_element_size, scalar_to_uint64)

CallConfig = ChipCallConfig  # its later name

__all__ = [
    "ArgDirection", "CallConfig", "ChipCallConfig", "ChipCallable", "ChipStorageTaskArgs",
    "ChipWorker", "ContinuousTensor", "CoreCallable", "DataType", "TaskArgs", "TensorArgType",
    "get_dtype_name", "get_element_size", "scalar_to_uint64",
]
