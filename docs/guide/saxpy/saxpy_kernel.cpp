// SPDX-License-Identifier: Apache-2.0
// y = a x + y on vector cores. A block takes its part of the vectors piece by piece: MTE2 loads,
// the vector unit computes in place, MTE3 stores.
#include <algorithm>
#include <cstring>

#include "npu/aicore/kernel.hpp"

namespace {

using namespace npu::aicore;
using npu::platform::CopyIn;
using npu::platform::CopyOut;
using npu::platform::Vector;
using npu::platform::VectorOp;

constexpr std::uint32_t kPiece = 4096;  // elements
constexpr Local kX{LocalBuffer::kUb, 0};
constexpr Local kY{LocalBuffer::kUb, kPiece * 4};

void load(AicorePort& port, Local to, std::uint64_t from, std::uint32_t count) {
  CopyIn copy;
  copy.to = to;
  copy.from = from;
  copy.row_bytes = count * 4;
  port.issue(copy);
}

void compute(AicorePort& port, float a, std::uint32_t count) {
  Vector scale;
  scale.op = VectorOp::kMuls;
  scale.to = scale.a = kX.offset;
  scale.scalar = a;
  scale.count = count;
  port.issue(scale);
  Vector add;
  add.op = VectorOp::kAdd;
  add.to = add.a = kY.offset;
  add.b = kX.offset;
  add.count = count;
  port.issue(add);
}

void store(AicorePort& port, std::uint64_t to, std::uint32_t count) {
  CopyOut copy;
  copy.to = to;
  copy.from = kY;
  copy.row_bytes = count * 4;
  port.issue(copy);
}

int saxpy(AicorePort& port) {
  const Arguments arguments(port, 4);
  const std::uint64_t y = arguments.word(0), x = arguments.word(1), count = arguments.word(2);
  const std::uint32_t bits = arguments.number(3);
  float a = 0;
  std::memcpy(&a, &bits, sizeof a);

  const Flag<Pipe::kMte2, Pipe::kVector> loaded(port, 0);
  const Flag<Pipe::kVector, Pipe::kMte3> computed(port, 0);
  const Flag<Pipe::kMte3, Pipe::kMte2> stored(port, 0);

  const std::uint64_t part = divide_up<std::uint64_t>(count, port.call().blocks);
  const std::uint64_t begin = std::min(count, port.call().block * part);
  const std::uint64_t end = std::min(count, begin + part);
  for (std::uint64_t at = begin; at < end; at += kPiece) {
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(kPiece, end - at));
    if (at != begin) stored.wait();
    load(port, kX, x + at * 4, length);
    load(port, kY, y + at * 4, length);
    loaded.set();
    loaded.wait();
    compute(port, a, length);
    computed.set();
    computed.wait();
    store(port, y + at * 4, length);
    if (at + kPiece < end) stored.set();
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace

NPU_KERNEL(saxpy, 4)
