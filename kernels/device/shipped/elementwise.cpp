// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: tiles through UB, double buffered. MTE2 loads a tile's operands, the
// vector unit computes in place, MTE3 stores the result and frees the buffer.
#include <algorithm>

#include "kernels/device/shipped/elementwise.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::vector {
namespace {

using aicore::AicorePort;
using aicore::Flag;
using platform::LocalBuffer;
using platform::Pipe;
using platform::VectorOp;

constexpr unsigned kBuffers = 2;
constexpr std::uint32_t kLargestTile = 32 * 1024;  // bytes of one operand

bool has_second(VectorOp op) {
  return op <= VectorOp::kMin;
}

class Tiles {
 public:
  Tiles(AicorePort& port, const Elementwise& work) : port_(port), work_(work) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    bytes_ = std::min(ub / (2 * kBuffers), kLargestTile) / 512 * 512;
    for (unsigned i = 0; i < kBuffers; ++i) free(i).set();
  }
  ~Tiles() {
    for (unsigned i = 0; i < kBuffers; ++i) free(i).wait();
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  void run(std::uint64_t first, std::uint64_t end) {
    const std::uint64_t element = platform::bytes_of(work_.type);
    const std::uint64_t step = bytes_ / element;
    for (std::uint64_t at = first; at < end; at += step) {
      const auto count = static_cast<std::uint32_t>(std::min(step, end - at));
      tile(at * element, count);
    }
  }

 private:
  Flag<Pipe::kMte3, Pipe::kMte2> free(unsigned i) { return {port_, i}; }
  Flag<Pipe::kMte2, Pipe::kVector> loaded(unsigned i) { return {port_, i}; }
  Flag<Pipe::kVector, Pipe::kMte3> computed(unsigned i) { return {port_, i}; }

  void load(std::uint32_t to, std::uint64_t from, std::uint32_t bytes) {
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kUb, to};
    copy.from = from;
    copy.row_bytes = bytes;
    port_.issue(copy);
  }

  void tile(std::uint64_t offset, std::uint32_t count) {
    const unsigned i = next_++ % kBuffers;
    const std::uint32_t a = 2 * i * bytes_, b = a + bytes_;
    const auto bytes = static_cast<std::uint32_t>(count * platform::bytes_of(work_.type));
    free(i).wait();
    load(a, work_.a + offset, bytes);
    if (has_second(work_.op)) load(b, work_.b + offset, bytes);
    loaded(i).set();
    loaded(i).wait();
    platform::Vector vector;
    vector.op = work_.op;
    vector.type = vector.to_type = work_.type;
    vector.to = vector.a = a;
    vector.b = b;
    vector.count = count;
    vector.scalar = work_.scalar;
    port_.issue(vector);
    computed(i).set();
    computed(i).wait();
    platform::CopyOut copy;
    copy.to = work_.to + offset;
    copy.from = {LocalBuffer::kUb, a};
    copy.row_bytes = bytes;
    port_.issue(copy);
    free(i).set();
  }

  AicorePort& port_;
  const Elementwise work_;
  std::uint32_t bytes_ = 0;  // of a tile of one operand
  unsigned next_ = 0;
};

int elementwise(AicorePort& port) {
  const Elementwise work = from_words(aicore::Arguments(port, kWords).words<kWords>());
  if (!valid(work)) return aicore::kBadArguments;
  const std::uint64_t grain = aicore::kLocalAlignment / platform::bytes_of(work.type);
  const std::uint64_t grains = aicore::divide_up(work.count, grain);
  const auto border = [&](std::uint64_t block) {
    return std::min(grains * block / port.call().blocks * grain, work.count);
  };
  {
    Tiles tiles(port, work);
    tiles.run(border(port.call().block), border(port.call().block + 1));
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace
}  // namespace npu::kernels::vector

NPU_KERNEL(npu::kernels::vector::elementwise, npu::kernels::vector::kWords)
