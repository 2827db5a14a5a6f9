// SPDX-License-Identifier: Apache-2.0
// Operators of several instructions: tiles through UB, operands and results double buffered, what
// is computed in between in buffers of its own.
#include <algorithm>

#include "kernels/device/shipped/recipes.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::vector {
namespace {

using aicore::AicorePort;
using aicore::Flag;
using platform::DataType;
using platform::LocalBuffer;
using platform::Pipe;

constexpr unsigned kBuffers = 2;
constexpr std::uint32_t kGrain = 256;      // elements of a tile: whole 32 B of a mask
constexpr std::uint64_t kSmallest = 2048;  // so that they are long compared with their fixed cost
constexpr unsigned kTiles = 4;             // of a block at least, so that copies overlap computing

class OperatorTiles {
 public:
  OperatorTiles(AicorePort& port, const OperatorWork& work, std::uint64_t elements)
      : port_(port),
        work_(work),
        as_is_(computed_as_is(work.op, work.type)),
        element_(static_cast<std::uint32_t>(platform::bytes_of(work.type))),
        operands_(has_second(work.op) ? 2 : 1),
        tile_(tile_of(static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb)), elements)),
        recipe_(port, work, registers()) {
    for (unsigned i = 0; i < kBuffers; ++i) {
      operands_free(i).set();
      result_free(i).set();
    }
    recipe_.prepare(tile_);
  }
  ~OperatorTiles() {
    for (unsigned i = 0; i < kBuffers; ++i) {
      operands_free(i).wait();
      result_free(i).wait();
    }
  }
  OperatorTiles(const OperatorTiles&) = delete;
  OperatorTiles& operator=(const OperatorTiles&) = delete;

  void run(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t at = first; at < end; at += tile_) {
      tile(at * element_, static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_, end - at)));
    }
  }

 private:
  // fp32 registers: those of the recipe, and where operands are cast those for them and the result.
  unsigned temporaries() const { return extra_registers(work_.op) + (as_is_ ? 0 : operands_ + 1); }
  // As many elements as UB holds, or a part of `elements` that makes enough tiles.
  std::uint32_t tile_of(std::uint32_t ub, std::uint64_t elements) const {
    const std::uint32_t bits = 8 * (kBuffers * (operands_ + 1) * element_ + 4 * temporaries()) +
                               (needs_mask(work_.op, work_.type) ? 1 : 0);
    const std::uint64_t part = aicore::divide_up<std::uint64_t>(elements, kTiles);
    const std::uint64_t most = ub * 8 / bits / kGrain * kGrain;
    const auto wanted =
        aicore::round_up<std::uint64_t>(std::max<std::uint64_t>(part, 1), kSmallest);
    return static_cast<std::uint32_t>(std::min(wanted, most));
  }

  // UB: operands, results, temporaries, mask.
  std::uint32_t operand(unsigned buffer, unsigned which) const {
    return (buffer * operands_ + which) * tile_ * element_;
  }
  std::uint32_t result(unsigned buffer) const {
    return (kBuffers * operands_ + buffer) * tile_ * element_;
  }
  std::uint32_t temporary(unsigned which) const { return result(kBuffers) + 4 * tile_ * which; }
  Registers registers() const {
    Registers r;
    const unsigned first = as_is_ ? 0 : operands_ + 1;
    for (unsigned i = 0; i < extra_registers(work_.op); ++i) r.extra[i] = temporary(first + i);
    r.mask = temporary(temporaries());
    return r;
  }

  Flag<Pipe::kVector, Pipe::kMte2> operands_free(unsigned i) { return {port_, i}; }
  Flag<Pipe::kMte2, Pipe::kVector> loaded(unsigned i) { return {port_, i}; }
  Flag<Pipe::kMte3, Pipe::kVector> result_free(unsigned i) { return {port_, i}; }
  Flag<Pipe::kVector, Pipe::kMte3> computed(unsigned i) { return {port_, i}; }

  void load(unsigned buffer, std::uint64_t offset, std::uint32_t bytes) {
    for (unsigned i = 0; i < operands_; ++i) {
      platform::CopyIn copy;
      copy.to = {LocalBuffer::kUb, operand(buffer, i)};
      copy.from = (i == 0 ? work_.a : work_.b) + offset;
      copy.row_bytes = bytes;
      port_.issue(copy);
    }
  }

  void cast(std::uint32_t to, DataType to_type, std::uint32_t from, DataType type,
            std::uint32_t count) {
    platform::Vector vector;
    vector.op = platform::VectorOp::kCast;
    vector.type = type;
    vector.to_type = to_type;
    vector.to = to;
    vector.a = from;
    vector.count = count;
    port_.issue(vector);
  }

  void compute(unsigned i, std::uint32_t count) {
    if (as_is_) {
      result_free(i).wait();
      recipe_.compute(count, operand(i, 0), operand(i, operands_ - 1), result(i));
      return operands_free(i).set();
    }
    for (unsigned k = 0; k < operands_; ++k) {
      cast(temporary(k), DataType::kFp32, operand(i, k), work_.type, count);
    }
    operands_free(i).set();
    recipe_.compute(count, temporary(0), temporary(operands_ - 1), temporary(operands_));
    result_free(i).wait();
    cast(result(i), work_.type, temporary(operands_), DataType::kFp32, count);
  }

  void tile(std::uint64_t offset, std::uint32_t count) {
    const unsigned i = next_++ % kBuffers;
    const std::uint32_t bytes = count * element_;
    operands_free(i).wait();
    load(i, offset, bytes);
    loaded(i).set();
    loaded(i).wait();
    compute(i, count);
    computed(i).set();
    computed(i).wait();
    platform::CopyOut copy;
    copy.to = work_.to + offset;
    copy.from = {LocalBuffer::kUb, result(i)};
    copy.row_bytes = bytes;
    port_.issue(copy);
    result_free(i).set();
  }

  AicorePort& port_;
  const OperatorWork work_;
  const bool as_is_;
  const std::uint32_t element_;
  const unsigned operands_;
  const std::uint32_t tile_;  // elements
  Recipe recipe_;
  unsigned next_ = 0;
};

int operators(AicorePort& port) {
  const OperatorWork work =
      operator_from(aicore::Arguments(port, kOperatorWords).words<kOperatorWords>());
  if (!valid(work)) return aicore::kBadArguments;
  set_up(port, work.tiling, work.structure);
  const std::uint64_t grain = 512 / platform::bytes_of(work.type);
  const std::uint64_t grains = aicore::divide_up(work.count, grain);
  const auto border = [&](std::uint64_t block) {
    return std::min(grains * block / port.call().blocks * grain, work.count);
  };
  const std::uint64_t first = border(port.call().block), end = border(port.call().block + 1);
  {
    OperatorTiles tiles(port, work, end - first);
    tiles.run(first, end);
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace
}  // namespace npu::kernels::vector

NPU_KERNEL(npu::kernels::vector::operators, npu::kernels::vector::kOperatorWords)
