# SPDX-License-Identifier: Apache-2.0
"""Operators that are captured once and run many times."""

import contextlib

from .operator_call import host_of


class OperatorGraph:
    """Operators on tensors, in their order: `npusim.ops.capture()` makes it.

    A run submits all launches at once. Their arguments are in the card's memory already. The graph reads and
    writes the tensors that it was captured with: `Tensor.write()` gives it other inputs.
    """

    def __init__(self, device, host):
        self._device, self._host = device, host
        self._number = host.begin_capture()
        self._kept, self._fills, self._needs = [], [], []

    def keep(self, inputs, results, made):
        """The tensors of an operator. `made`: of the results those that nothing was in before."""
        inputs = [each for each in inputs if each is not None]
        own = {id(each) for each in self._fills}
        self._needs.extend(each for each in inputs if not each._block.filled and id(each._block) not in own)
        for each in made:
            each._block.filled = False
            self._fills.append(each._block)
        self._kept.extend(inputs + results)

    def run(self):
        """Runs all of it and waits.

        Returns:
            A `dict`: launches, device_ps (from the begin of the first block on the card to the end of
            the last), total_ps (from the call until the host has seen the end).

        Raises:
            Error: what the driver says; the graph is empty (`ErrorCode.INVALID_ARGUMENT`).
            RuntimeError: the graph is closed, or is still captured, or reads a tensor of another graph
                that has not run.
        """
        if self._host is None:
            raise RuntimeError("the graph is closed")
        if self._device._capture is not None:
            raise RuntimeError("a graph is captured: it ends first")
        self._device._ready()
        for each in self._needs:
            each._check_filled()
        ran = self._host.run_graph(self._number)
        for block in self._fills:
            block.filled = True
        return ran

    def close(self):
        """Gives back what it holds on the card. It may be called again."""
        host, self._host = self._host, None
        if host is not None:
            host.drop_graph(self._number)
        self._kept, self._fills, self._needs = [], [], []


@contextlib.contextmanager
def capture(device=None):
    """The operators of the block on this device become a graph, and do not run: a context manager.

    with npusim.ops.capture() as graph:
        y = npusim.ops.relu(npusim.ops.basic_matmul(x, weight))
    graph.run()

    What an operator returns are tensors that `OperatorGraph.run()` fills. Before that they cannot be read.
    Arrays beside a tensor are copied
    to the card once, when they are captured.

    Args:
        device: a `Device`; None: card 0.

    Raises:
        RuntimeError: the device captures already.
        ValueError: of an operator without a tensor.
        Error: what the driver says.
    """
    device, host = host_of(device)
    if device._capture is not None:
        raise RuntimeError("the device captures already")
    device._ready()
    graph = device._capture = OperatorGraph(device, host)
    try:
        yield graph
    except BaseException:
        device._capture = None
        host.end_capture()
        graph.close()
        raise
    device._capture = None
    host.end_capture()
