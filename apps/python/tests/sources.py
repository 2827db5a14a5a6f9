# SPDX-License-Identifier: Apache-2.0
"""Source files of a kernel and of an orchestration function, and what is run with them."""

import numpy

import npusim
from npusim import ArgDirection, ChipCallable, CoreCallable, DataType

IN, OUT, SCALAR = ArgDirection.IN, ArgDirection.OUT, ArgDirection.SCALAR

# y = FACTOR x, on one core.
KERNEL = """\
#include "npu/aicore/kernel.hpp"
#include "factor.hpp"

using namespace npu::aicore;

namespace {

int scale(AicorePort& port) {
  const Arguments arguments(port, 3);
  npu::platform::CopyIn in;
  in.to = {LocalBuffer::kUb, 0};
  in.from = arguments.word(1);
  in.row_bytes = arguments.number(2) * 4;
  port.issue(in);
  port.pipe_barrier(Pipe::kAll);
  npu::platform::Vector scale;
  scale.op = npu::platform::VectorOp::kMuls;
  scale.scalar = kFactor;
  scale.count = arguments.number(2);
  port.issue(scale);
  port.pipe_barrier(Pipe::kAll);
  npu::platform::CopyOut out;
  out.to = arguments.word(0);
  out.from = {LocalBuffer::kUb, 0};
  out.row_bytes = arguments.number(2) * 4;
  port.issue(out);
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace

NPU_KERNEL(scale, 3)
"""

ORCHESTRATION = """\
#include "npu/driver/runtime.h"

extern "C" int build_scale(npu_runtime* runtime, const uint64_t* words, size_t count) {
  if (count != 3) return -1;
  const uint64_t bytes = 4 * words[2];
  const npu_task_argument arguments[] = {{words[1], NPU_ARGUMENT_OUTPUT, 0, bytes},
                                         {words[0], NPU_ARGUMENT_INPUT, 0, bytes},
                                         {words[2], NPU_ARGUMENT_SCALAR, 0, 0}};
  return npu_add_task(runtime, 7, NPU_TASK_AIV, 1, arguments, 3) < 0 ? -1 : 0;
}
"""


def write(folder, factor=2):
    """kernel.cpp, factor.hpp and orchestration.cpp."""
    (folder / "kernel.cpp").write_text(KERNEL)
    (folder / "factor.hpp").write_text(f"constexpr float kFactor = {factor};\n")
    (folder / "orchestration.cpp").write_text(ORCHESTRATION)


def scale_callable(compiler, folder):
    """A `ChipCallable` of the files."""
    kernel = CoreCallable.build([OUT, IN, SCALAR], compiler.compile_incore(folder / "kernel.cpp"))
    return ChipCallable.build(
        [IN, OUT, SCALAR], "build_scale",
        compiler.compile_orchestration("host_build_graph", folder / "orchestration.cpp"),
        [(7, kernel)])


def arguments_of(x, y):
    """Of the callable."""
    made = npusim.ChipStorageTaskArgs()
    for each in (x, y):
        made.add_tensor(npusim.ContinuousTensor.make(each.ctypes.data, each.shape,
                                                     DataType.FLOAT32))
    made.add_scalar(x.size)
    return made


def vectors(count=1000):
    """x, and y of zeros."""
    x = numpy.arange(count, dtype="float32")
    return x, numpy.zeros_like(x)
