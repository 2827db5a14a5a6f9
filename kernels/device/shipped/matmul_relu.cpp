// SPDX-License-Identifier: Apache-2.0
// D = relu(A x B) by mixed blocks: the cube core multiplies into C, tile by tile, and tells its
// vector cores, each of which takes half of the tile's rows through UB into D while the cube works
// on the next one. C, D: fp32. A coupled core does both.
#include <algorithm>

#include "kernels/device/shipped/block_mmad.hpp"
#include "kernels/device/shipped/matmul_relu.hpp"
#include "npu/aicore/block_scheduler.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::fused {
namespace {

using aicore::AicorePort;
using aicore::Flag;
using platform::LocalBuffer;
using platform::Pipe;

constexpr unsigned kTileDone = 0;  // cross-core flag
constexpr std::uint32_t kFloat = 4;

class Relu {
 public:
  Relu(AicorePort& port, const gemm::Problem& problem, std::uint64_t to)
      : port_(port), problem_(problem), to_(to) {
    free().set();
  }
  ~Relu() { free().wait(); }
  Relu(const Relu&) = delete;
  Relu& operator=(const Relu&) = delete;

  // Part `part` of `parts` of the tile's rows.
  void run(const aicore::TilePlace& place, std::uint32_t part, std::uint32_t parts) {
    const std::uint32_t first_row = place.row * problem_.l1.m;
    const std::uint32_t first_column = place.column * problem_.l1.n;
    const std::uint32_t rows = std::min(problem_.l1.m, problem_.m - first_row);
    const std::uint32_t columns = std::min(problem_.l1.n, problem_.n - first_column);
    const std::uint32_t pitch = aicore::row_bytes(columns, platform::DataType::kFp32);
    const auto ub = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kUb));
    const std::uint32_t piece = std::max(ub / pitch, 1U);
    const std::uint32_t end = first_row + rows * (part + 1) / parts;
    for (std::uint32_t row = first_row + rows * part / parts; row < end; row += piece) {
      tile(row, first_column, std::min(piece, end - row), columns, pitch);
    }
  }

 private:
  Flag<Pipe::kMte3, Pipe::kMte2> free() { return {port_, 2}; }
  Flag<Pipe::kMte2, Pipe::kVector> loaded() { return {port_, 2}; }
  Flag<Pipe::kVector, Pipe::kMte3> computed() { return {port_, 2}; }

  void tile(std::uint32_t row, std::uint32_t column, std::uint32_t rows, std::uint32_t columns,
            std::uint32_t pitch) {
    const std::uint64_t offset = (std::uint64_t{row} * problem_.ldc + column) * kFloat;
    platform::CopyIn in;
    in.to = {LocalBuffer::kUb, 0};
    in.from = problem_.c + offset;
    in.rows = rows;
    in.row_bytes = columns * kFloat;
    in.from_pitch = std::uint64_t{problem_.ldc} * kFloat;
    in.to_pitch = pitch;
    free().wait();
    port_.issue(in);
    loaded().set();
    loaded().wait();
    platform::Vector relu;
    relu.op = platform::VectorOp::kRelu;
    relu.count = columns;
    relu.rows = rows;
    relu.to_pitch = relu.a_pitch = pitch;
    port_.issue(relu);
    computed().set();
    computed().wait();
    platform::CopyOut out;
    out.to = to_ + offset;
    out.from = {LocalBuffer::kUb, 0};
    out.rows = rows;
    out.row_bytes = in.row_bytes;
    out.to_pitch = in.from_pitch;
    out.from_pitch = pitch;
    port_.issue(out);
    free().set();
  }

  AicorePort& port_;
  const gemm::Problem problem_;
  const std::uint64_t to_;
};

template <class Run>
void for_tiles(const AicorePort& port, const gemm::Problem& p, Run run) {
  const aicore::BlockScheduler scheduler(aicore::divide_up(p.m, p.l1.m),
                                         aicore::divide_up(p.n, p.l1.n), p.swizzle_offset,
                                         p.swizzle_direction);
  const auto& call = port.call();
  for (std::uint64_t i = call.block; i < scheduler.tiles(); i += call.blocks) {
    run(scheduler.place(i));
  }
}

void cube(AicorePort& port, const gemm::Problem& p) {
  gemm::BlockMmad block(port, p);
  for_tiles(port, p, [&](const aicore::TilePlace& place) {
    block.run(place.row, place.column);
    port.set_cross_flag(Pipe::kFixpipe, platform::CrossScope::kCluster, kTileDone);
  });
}

void vector(AicorePort& port, const gemm::Problem& p, std::uint64_t to) {
  Relu relu(port, p, to);
  for_tiles(port, p, [&](const aicore::TilePlace& place) {
    port.wait_cross_flag(Pipe::kMte2, platform::CrossScope::kCluster, kTileDone);
    relu.run(place, port.call().role - 1, 2);
  });
}

void coupled(AicorePort& port, const gemm::Problem& p, std::uint64_t to) {
  const Flag<Pipe::kFixpipe, Pipe::kMte2> tile_done(port, 3);
  gemm::BlockMmad block(port, p);
  Relu relu(port, p, to);
  for_tiles(port, p, [&](const aicore::TilePlace& place) {
    block.run(place.row, place.column);
    tile_done.set();
    tile_done.wait();
    relu.run(place, 0, 1);
  });
}

int matmul_relu(AicorePort& port) {
  const aicore::Arguments arguments(port, kWords);
  gemm::Words words{};
  for (unsigned i = 0; i < gemm::kWords; ++i) words.word[i] = arguments.word(i);
  const gemm::Problem problem = gemm::from_words(words);
  const std::uint64_t to = arguments.word(kResultWord);
  if (!valid(problem)) return aicore::kBadArguments;
  if (port.core_type() == abi::CoreType::kCoupled) {
    coupled(port, problem, to);
  } else if (port.call().role == 0) {
    cube(port, problem);
  } else {
    vector(port, problem, to);
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace
}  // namespace npu::kernels::fused

NPU_KERNEL(npu::kernels::fused::matmul_relu, npu::kernels::fused::kWords)
