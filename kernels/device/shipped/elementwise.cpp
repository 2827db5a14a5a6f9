// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: tiles through UB in two sets of buffers. MTE2 loads a tile's operands,
// the vector unit computes in place, MTE3 stores the result and frees the buffer.
#include "kernels/device/shipped/elementwise.hpp"

#include "kernels/device/common/stages.hpp"

namespace npu::kernels::vector {
namespace {

constexpr std::uint32_t kLargestTile = 32 * 1024;  // bytes of one operand

class Tiles {
 public:
  Tiles(AicorePort& port, const Elementwise& work) : port_(port), work_(work) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    bytes_ = std::min(ub / (2 * kSets), kLargestTile) / 512 * 512;
  }

  void run(std::uint64_t first, std::uint64_t end) {
    const std::uint64_t step = bytes_ / platform::bytes_of(work_.type);
    for (std::uint64_t at = first; at < end; at += step) {
      tile({0, at, 1, static_cast<std::uint32_t>(std::min(step, end - at))});
    }
  }

 private:
  void tile(const AreaTile& tile) {
    const unsigned i = next_++ % kSets;
    const std::uint32_t a = 2 * i * bytes_, b = a + bytes_;
    turns_[i].begin();
    load_rows(port_, a, {work_.a, 0}, tile, work_.type);
    if (work_.op <= VectorOp::kMin) load_rows(port_, b, {work_.b, 0}, tile, work_.type);
    turns_[i].loaded();
    Vector vector = row_vector(work_.op, work_.type, a, a, 1, tile.columns);
    vector.b = b;
    vector.scalar = work_.scalar;
    port_.issue(vector);
    turns_[i].computed();
    store_rows(port_, {work_.to, 0}, tile, a, work_.type);
    turns_[i].stored();
  }

  AicorePort& port_;
  const Elementwise work_;
  const Turns turns_[kSets] = {Turns(port_, 0), Turns(port_, 1)};
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
