// SPDX-License-Identifier: Apache-2.0
// Matrices whose rows the public library does not load as they lie: vector cores bring them into
// fractals in the workspace, and the cubes begin when all of that is there. Which ones
// (ops-nn, matmul/mat_mul_v3/op_host): half and bfloat16 with lines of no multiple of 256 B, or of
// more elements than a copy's line has, but for a few short lengths.
#pragma once

#include "kernels/device/common/handed.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/matmul/products.hpp"
#include "kernels/device/matmul/tiling.hpp"

namespace npu::kernels::matmul {

// A matrix as it is stored: `lines` of `length` elements, `pitch` from line to line.
struct Stored {
  std::uint64_t address = 0, lines = 0, length = 0, pitch = 0;
  DataType type = DataType::kFp16;

  constexpr std::uint64_t bytes(std::uint64_t elements) const {
    return elements * platform::bytes_of(type);
  }
  // From a column of fractals to the next.
  constexpr std::uint64_t strip() const {
    return aicore::round_up<std::uint64_t>(lines, kFractalRows) * aicore::kLocalAlignment;
  }
  constexpr std::uint64_t fractal_bytes() const {
    return aicore::divide_up<std::uint64_t>(length, fractal_columns(type)) * strip();
  }
  constexpr bool unaligned() const {
    constexpr std::uint64_t kAligned = 256, kMostOfCopy = 65'535;
    constexpr std::uint64_t kShort[] = {32, 64, 96, 128, 160, 192, 224, 256, 384};
    for (const std::uint64_t line : kShort) {
      if (pitch == length && bytes(length) == line) return false;
    }
    return bytes(pitch) % kAligned != 0 || length > kMostOfCopy;
  }
};

// A library of chips of whole tiles (950.md N32) loads all as it lies.
template <Layout kLayout>
constexpr bool converted(const Stored& matrix, const CoreLimits& limits) {
  const bool type = matrix.type == DataType::kFp16 || matrix.type == DataType::kBf16;
  return type && !fractal(kLayout) && !even_tiles(limits) && matrix.unaligned();
}

// The layout in which the stored rows are those of fractals.
template <Layout kLayout>
inline constexpr Layout kInFractals = transposed(kLayout) ? Layout::kNz : Layout::kZn;

// Tiles through UB: lines as they lie, column by column of fractals out of it. What a fractal has
// beyond the matrix is 0.
class ToFractals {
 public:
  explicit ToFractals(AicorePort& port) : port_(port), stages_(port) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    space_ = (ub - kZeros) / (2 * kSets) / aicore::kLocalAlignment * aicore::kLocalAlignment;
    clear(zeros(), kZeros);
  }
  // The part of one of `cores` cores.
  void run(const Stored& from, std::uint64_t to, std::uint32_t core, std::uint32_t cores) {
    platform::KernelCall call = port_.call();
    call.block = core, call.blocks = cores;
    const auto columns = static_cast<std::uint32_t>(
        std::min(from.length, kLineBytes / platform::bytes_of(from.type)));
    const AreaTile largest{0, 0, space_ / aicore::row_bytes(columns, from.type), columns};
    for_area(call, from.lines, from.length, largest,
             [&](const AreaTile& tile) { piece(from, to, tile); });
  }

 private:
  static constexpr std::uint64_t kLineBytes = 1024;  // assumed: two lines of the L2
  static constexpr std::uint32_t kZeros = kFractalRows * aicore::kLocalAlignment;
  std::uint32_t in(unsigned i) const { return i * space_; }
  std::uint32_t out(unsigned i) const { return (kSets + i) * space_; }
  std::uint32_t zeros() const { return 2 * kSets * space_; }

  void clear(std::uint32_t at, std::uint32_t bytes) {
    Vector v;
    v.op = VectorOp::kDuplicate;
    v.type = v.to_type = DataType::kFp16;
    v.to = at;
    v.count = bytes / 2;
    port_.issue(v);
  }

  void piece(const Stored& from, std::uint64_t to, const AreaTile& tile) {
    const unsigned i = stages_.begin_load();
    load_rows(port_, in(i), {from.address, from.pitch}, tile, from.type);
    stages_.loaded(i);
    const unsigned result = stages_.begin_result();
    const std::uint32_t width = fractal_columns(from.type);
    const std::uint32_t strips = aicore::divide_up(tile.columns, width);
    const std::uint32_t bytes = tile.rows * aicore::kLocalAlignment;
    for (std::uint32_t strip = 0; strip < strips; ++strip) {
      Vector v;
      v.op = VectorOp::kCopy;
      v.type = v.to_type = from.type;
      v.a = in(i) + strip * aicore::kLocalAlignment;
      v.a_pitch = aicore::row_bytes(tile.columns, from.type);
      v.to = out(result) + strip * bytes;
      v.to_pitch = aicore::kLocalAlignment;
      v.rows = tile.rows;
      v.count = std::min(width, tile.columns - strip * width);
      if (v.count != width) clear(v.to, bytes);
      port_.issue(v);
    }
    stages_.consumed(i);
    stages_.computed(result);
    platform::CopyOut copy;
    copy.to = to + tile.column / width * from.strip() + tile.row * aicore::kLocalAlignment;
    copy.from = {LocalBuffer::kUb, out(result)};
    copy.rows = strips;
    copy.row_bytes = copy.from_pitch = bytes;
    copy.to_pitch = from.strip();
    port_.issue(copy);
    if (tile.row + tile.rows == from.lines) store_zeros(from, copy.to + bytes, strips);
    stages_.stored(result);
  }
  // Below the last line.
  void store_zeros(const Stored& from, std::uint64_t to, std::uint32_t strips) {
    const auto below = static_cast<std::uint32_t>(
        aicore::round_up<std::uint64_t>(from.lines, kFractalRows) - from.lines);
    if (below == 0) return;
    platform::CopyOut copy;
    copy.from = {LocalBuffer::kUb, zeros()};
    copy.row_bytes = copy.from_pitch = below * aicore::kLocalAlignment;
    for (std::uint32_t strip = 0; strip < strips; ++strip) {
      copy.to = to + strip * from.strip();
      port_.issue(copy);
    }
  }

  AicorePort& port_;
  Stages stages_;
  std::uint32_t space_ = 0;
};

// In a mixed block: `convert(to_fractals, core, cores)` on vector cores, then `multiply()` on
// cubes.
template <class Convert, class Multiply>
void after_conversion(AicorePort& port, Convert convert, Multiply multiply) {
  constexpr unsigned kAllDone = 0, kDone = 1;
  const platform::KernelCall& call = port.call();
  const bool alone = port.core_type() == abi::CoreType::kCoupled;
  if (port.core_type() != abi::CoreType::kAic) {
    const std::uint32_t each = alone ? 1 : 2, own = alone ? 0 : call.role - 1;
    {
      ToFractals to_fractals(port);
      convert(to_fractals, call.block * each + own, call.blocks * each);
    }
    port.set_cross_flag(Pipe::kMte3, platform::CrossScope::kSameType, kAllDone);
    port.wait_cross_flag(alone ? Pipe::kMte2 : Pipe::kMte3, platform::CrossScope::kSameType,
                         kAllDone);
    if (!alone) return port.set_cross_flag(Pipe::kMte3, platform::CrossScope::kCluster, kDone);
    // Flags between cores say nothing of the core's own copies.
    const aicore::Flag<Pipe::kMte3, Pipe::kMte2> stored(port, 0);
    stored.set();
    stored.wait();
  } else {
    port.wait_cross_flag(Pipe::kMte2, platform::CrossScope::kCluster, kDone);
  }
  multiply();
}

}  // namespace npu::kernels::matmul
