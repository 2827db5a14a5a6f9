// SPDX-License-Identifier: Apache-2.0
// y = a x on one vector core: words y, x, count, the bits of a. At most 16384 elements.
#include <cstring>

#include "npu/aicore/kernel.hpp"

namespace {

using namespace npu::aicore;

constexpr Local kX{LocalBuffer::kUb, 0};

int scale(AicorePort& port) {
  const Arguments arguments(port, 4);
  const std::uint32_t count = arguments.number(2), bits = arguments.number(3);
  float a = 0;
  std::memcpy(&a, &bits, sizeof a);
  const Flag<Pipe::kMte2, Pipe::kVector> loaded(port, 0);
  const Flag<Pipe::kVector, Pipe::kMte3> computed(port, 0);

  npu::platform::CopyIn in;
  in.to = kX;
  in.from = arguments.word(1);
  in.row_bytes = count * 4;
  port.issue(in);
  loaded.set();
  loaded.wait();
  npu::platform::Vector scaled;
  scaled.op = npu::platform::VectorOp::kMuls;
  scaled.to = scaled.a = kX.offset;
  scaled.scalar = a;
  scaled.count = count;
  port.issue(scaled);
  computed.set();
  computed.wait();
  npu::platform::CopyOut out;
  out.to = arguments.word(0);
  out.from = kX;
  out.row_bytes = count * 4;
  port.issue(out);
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace

NPU_KERNEL(scale, 4)
