// SPDX-License-Identifier: Apache-2.0
// D = relu(A x B) by mixed blocks: the cube core multiplies into C, tile by tile, and tells its
// vector cores, each of which takes half of the tile's rows through UB into D while the cube works
// on the next one. C, D: fp32. A coupled core does both.
#include "kernels/device/shipped/matmul_relu.hpp"

#include "kernels/device/common/stages.hpp"
#include "kernels/device/shipped/gemm.hpp"

namespace npu::kernels::fused {
namespace {

using aicore::TilePlace;
using platform::DataType;

constexpr unsigned kTileDone = 0;  // cross-core flag

class Relu {
 public:
  Relu(AicorePort& port, const gemm::Problem& problem, std::uint64_t to)
      : port_(port), problem_(problem), to_(to), turns_(port, 2) {}

  // Part `part` of `parts` of the tile's rows.
  void run(const TilePlace& place, std::uint32_t part, std::uint32_t parts) {
    const std::uint32_t first_row = place.row * problem_.tiling.m;
    const std::uint32_t first_column = place.column * problem_.tiling.n;
    const std::uint32_t rows = std::min(problem_.tiling.m, problem_.m - first_row);
    const std::uint32_t columns = std::min(problem_.tiling.n, problem_.n - first_column);
    const auto ub = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kUb));
    const std::uint32_t piece = std::max(ub / aicore::row_bytes(columns, DataType::kFp32), 1U);
    const std::uint32_t end = first_row + rows * (part + 1) / parts;
    for (std::uint32_t row = first_row + rows * part / parts; row < end; row += piece) {
      tile({row, first_column, std::min(piece, end - row), columns});
    }
  }

 private:
  void tile(const AreaTile& tile) {
    turns_.begin();
    load_rows(port_, 0, {problem_.c, problem_.ldc}, tile, DataType::kFp32);
    turns_.loaded();
    port_.issue(row_vector(VectorOp::kRelu, DataType::kFp32, 0, 0, tile.rows, tile.columns));
    turns_.computed();
    store_rows(port_, {to_, problem_.ldc}, tile, 0, DataType::kFp32);
    turns_.stored();
  }

  AicorePort& port_;
  const gemm::Problem problem_;
  const std::uint64_t to_;
  const Turns turns_;
};

void cube(AicorePort& port, const gemm::Problem& p) {
  gemm::multiply<Layout::kRowMajor>(port, p, [&](const TilePlace&) {
    port.set_cross_flag(Pipe::kFixpipe, platform::CrossScope::kCluster, kTileDone);
  });
}

void vector(AicorePort& port, const gemm::Problem& p, std::uint64_t to) {
  Relu relu(port, p, to);
  gemm::for_tiles(port.call(), p, [&](const TilePlace& place) {
    port.wait_cross_flag(Pipe::kMte2, platform::CrossScope::kCluster, kTileDone);
    relu.run(place, port.call().role - 1, 2);
  });
}

void coupled(AicorePort& port, const gemm::Problem& p, std::uint64_t to) {
  const Flag<Pipe::kFixpipe, Pipe::kMte2> tile_done(port, 3);
  Relu relu(port, p, to);
  gemm::multiply<Layout::kRowMajor>(port, p, [&](const TilePlace& place) {
    tile_done.set();
    tile_done.wait();
    relu.run(place, 0, 1);
  });
}

int matmul_relu(AicorePort& port) {
  const aicore::Arguments arguments(port, kWords);
  const gemm::Problem problem = gemm::from_words(arguments.words<gemm::kWords>());
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
