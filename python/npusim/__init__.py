# SPDX-License-Identifier: Apache-2.0
"""npusim: a simulated PCIe NPU with its real driver, firmware and kernels.

    import npusim
    with npusim.Simulator("910b") as simulator:
        device = simulator.device(0)
        memory = device.upload(b"hello")
        print(memory.read(), simulator.now, "ps")

docs/python.md has more. Sizes are bytes, times simulated picoseconds unless a name says otherwise.
"""

from .device import Device
from .errors import Error, ErrorCode
from .graph import Argument, Graph, inout, input, no_dependency, output, scalar
from .memory import DeviceMemory, HostMemory
from .programs import host_library, program, program_names, program_path
from .simulator import Simulator, current_simulator
from .stream import Event, Stream, Ticket

__all__ = [
    "Argument", "Device", "DeviceMemory", "Error", "ErrorCode", "Event", "Graph", "HostMemory",
    "Simulator", "Stream", "Ticket", "current_simulator", "host_library", "inout", "input",
    "no_dependency", "output", "program", "program_names", "program_path", "scalar",
]
