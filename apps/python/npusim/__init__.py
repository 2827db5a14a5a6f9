# SPDX-License-Identifier: Apache-2.0
"""npusim: a simulated PCIe NPU with its real driver, firmware and kernels.

    import npusim
    with npusim.Simulator("910b2") as simulator:
        device = simulator.device(0)
        memory = device.upload(b"hello")
        print(memory.read(), simulator.now, "ps")

docs/python.md has more. Sizes are bytes, times simulated picoseconds unless a name says otherwise.
"""

from . import ops, scene
from .bfloat16 import from_bfloat16, to_bfloat16
from .callable import ArgDirection, ChipCallable, CoreCallable
from .chip_worker import ChipCallConfig, ChipWorker
from .device import Device
from .errors import Error, ErrorCode
from .graph import Argument, Graph, inout, input, no_dependency, output, scalar
from .kernel_compiler import KernelCompiler
from .memory import DeviceMemory, HostMemory, ManagedMemory
from .network import Network
from .nz import to_nz
from .orchestrator import Orchestrator
from .programs import host_library, program, program_names, program_path
from .runtime_builder import RuntimeBinaries, RuntimeBuilder
from .simulator import Simulator, current_simulator
from .stream import Event, Stream, Ticket
from .tensor import Tensor, empty, from_dlpack, tensor
from .task_interface import (ChipStorageTaskArgs, ContinuousTensor, DataType, TaskArgs,
                             TensorArgType, get_dtype_name, get_element_size, scalar_to_uint64)
from .worker import Worker

__all__ = [
    "ArgDirection", "Argument", "ChipCallConfig", "ChipCallable", "ChipStorageTaskArgs",
    "ChipWorker", "ContinuousTensor", "CoreCallable", "DataType", "Device", "DeviceMemory", "Error",
    "ErrorCode", "Event", "Graph", "HostMemory", "KernelCompiler", "ManagedMemory",
    "Network", "Orchestrator", "RuntimeBinaries", "RuntimeBuilder", "Simulator", "Stream", "TaskArgs",
    "Tensor", "TensorArgType", "Ticket", "Worker", "current_simulator", "empty", "from_bfloat16", "from_dlpack", "get_dtype_name", "get_element_size", "host_library",
    "inout", "input", "no_dependency", "ops", "output", "program", "program_names", "program_path",
    "scalar", "scalar_to_uint64", "scene", "tensor", "to_bfloat16", "to_nz",
]
