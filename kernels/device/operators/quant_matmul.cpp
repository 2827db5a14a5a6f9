// SPDX-License-Identifier: Apache-2.0
// C = scale * token_scales[row] * channel_scales[column] * (A x B + bias[column]), int8 multiplied
// into int32. FixPipe scales what it can and writes C; the rest goes through int32 in the
// workspace, and vector cores make it real. NPU_JIT_ELEMENT_A, _B: int8; NPU_JIT_ELEMENT_C: half,
// bfloat16 or float; NPU_JIT_ELEMENT_BIAS: int32, or a real that is added last; NPU_JIT_LAYOUT_A,
// _B; QuantMatmulParams. Workspace: 4 B for each element of C.
#include "kernels/device/common/handed.hpp"
#include "kernels/device/common/zeros.hpp"
#include "kernels/device/matmul/dequantise.hpp"
#include "kernels/device/matmul/host.hpp"
#include "kernels/device/matmul/products.hpp"

namespace npu::kernels {
namespace {

using matmul::Phase;
using matmul::Tables;

struct QuantWork {
  matmul::Work product;
  std::uint64_t sums = 0;  // of mixed blocks
  matmul::Scales scales;
};

std::uint64_t result_of(const matmul::Work& p, std::uint64_t matrix) {
  return p.c + matrix * p.stride_c * platform::bytes_of(matmul::kTypeC);
}

void scaled(AicorePort& port, const QuantWork& work) {
  const matmul::Work& p = work.product;
  matmul::for_products<Fixed<matmul::kTypeC>, Tables::kBiasAndScales>(
      port, p, p.batch, [&](std::uint64_t matrix) {
        auto product = product_of_batch(p, matrix, result_of(p, matrix), p.ldc);
        product.scales = work.scales.columns;
        product.scale = work.scales.all;
        return product;
      });
}

// A block's tiles, whose sums the cube core hands to its vector cores in two places in turn.
class Mixed {
 public:
  Mixed(AicorePort& port, const QuantWork& work)
      : port_(port),
        w_(work),
        p_(work.product),
        pitch_(p_.tiling.n),
        places_(work.sums + port.call().block * kPlaces * place_bytes(p_.tiling)) {}

  static std::uint64_t bytes(const matmul::Tiling& tiling, std::uint64_t blocks) {
    return blocks * kPlaces * place_bytes(tiling);
  }
  void run() {
    switch (port_.core_type()) {
      case abi::CoreType::kCoupled: {
        Cube cube(*this);
        matmul::Dequantise vector(port_, w_.scales);
        return for_tiles([&](const Tile& tile) {
          cube.run(tile);
          dequantise(vector, tile, 0, 1);
        });
      }
      case abi::CoreType::kAic: {
        Cube cube(*this);
        return for_tiles([&](const Tile& tile) { cube.run(tile); });
      }
      default: {
        matmul::Dequantise vector(port_, w_.scales);
        return for_tiles(
            [&](const Tile& tile) { dequantise(vector, tile, port_.call().role - 1, 2); });
      }
    }
  }

 private:
  static constexpr unsigned kPlaces = 2;
  struct Tile {
    std::uint64_t matrix;
    std::uint32_t row, column;  // in tiles
    unsigned place;
  };
  static std::uint64_t place_bytes(const matmul::Tiling& tiling) {
    return std::uint64_t{tiling.m} * tiling.n * 4;
  }
  std::uint64_t place(unsigned i) const { return places_ + i * place_bytes(p_.tiling); }
  HandedOver<Pipe::kFixpipe, Pipe::kMte2> full(unsigned place) { return {port_, place}; }
  HandedOver<Pipe::kMte2, Pipe::kFixpipe> free(unsigned place) { return {port_, kPlaces + place}; }

  template <class Run>
  void for_tiles(Run run) {
    const auto scheduler = matmul::scheduler_of(p_.m, p_.n, p_.tiling);
    const std::uint64_t tiles = scheduler.tiles() * p_.batch;
    unsigned count = 0;
    for (std::uint64_t i = port_.call().block; i < tiles; i += port_.call().blocks, ++count) {
      const auto at = scheduler.place(i % scheduler.tiles());
      run(Tile{i / scheduler.tiles(), at.row, at.column, count % kPlaces});
    }
  }

  class Cube {
   public:
    explicit Cube(Mixed& mixed) : mixed_(mixed), block_(mixed.port_, mixed.p_.tiling) {}
    ~Cube() {
      for (unsigned i = 0; i < std::min(count_, kPlaces); ++i) mixed_.free(i).wait();
    }
    Cube(const Cube&) = delete;
    Cube& operator=(const Cube&) = delete;

    // FixPipe waits for the vector cores, the cube does not.
    void run(const Tile& tile) {
      const matmul::Work& p = mixed_.p_;
      if (count_++ >= kPlaces) mixed_.free(tile.place).wait();
      // Where C would begin if the tile's sums were in their place of it.
      const std::uint64_t before =
          tile.row * p.tiling.m * std::uint64_t{mixed_.pitch_} + tile.column * p.tiling.n;
      const std::uint64_t c = mixed_.place(tile.place) - before * 4;
      auto product = product_of_batch(p, tile.matrix, c, mixed_.pitch_);
      if (matmul::kRealBias) product.bias = 0;
      block_.run(product, tile.row, tile.column);
      mixed_.full(tile.place).raise();
    }

   private:
    Mixed& mixed_;
    unsigned count_ = 0;
    matmul::BlockMmad<matmul::OperandA, matmul::OperandB, Fixed<matmul::kTypeA>,
                      Fixed<matmul::kAccumulator>, 1, Tables::kBias, matmul::kTypeBias>
        block_;
  };

  // Part `part` of `parts` of the tile's rows.
  void dequantise(matmul::Dequantise& vector, const Tile& tile, std::uint32_t part,
                  std::uint32_t parts) {
    const std::uint32_t first_row = tile.row * p_.tiling.m, column = tile.column * p_.tiling.n;
    const std::uint32_t rows = std::min(p_.tiling.m, p_.m - first_row);
    const std::uint32_t begin = rows * part / parts, end = rows * (part + 1) / parts;
    const std::uint32_t columns = std::min(p_.tiling.n, p_.n - column);
    full(tile.place).wait();
    const GlobalRows sums{place(tile.place) + std::uint64_t{begin} * pitch_ * 4, pitch_};
    vector.run(sums, {first_row + begin, column, end - begin, columns}, bias_of(tile.matrix),
               {result_of(p_, tile.matrix), p_.ldc});
    free(tile.place).raise();
  }
  std::uint64_t bias_of(std::uint64_t matrix) const {
    if (!matmul::kRealBias || p_.bias == 0) return 0;
    return p_.bias + matrix * p_.stride_bias * platform::bytes_of(matmul::kTypeBias);
  }

  AicorePort& port_;
  const QuantWork& w_;
  const matmul::Work& p_;
  const std::uint32_t pitch_;
  const std::uint64_t places_;
};

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<QuantWork>);
  const auto work = work_from<QuantWork>(arguments);
  const matmul::Work& p = work.product;
  switch (static_cast<Phase>(arguments.word(0))) {
    case Phase::kProduct:
      if (work.sums != 0) {
        port.set_up({platform::Tiling::kNone, false, true});
        Mixed(port, work).run();
      } else if constexpr (matmul::kScaledByFixpipe) {
        scaled(port, work);
      }
      break;
    case Phase::kResult:  // there is none: mixed blocks make it
      break;
    case Phase::kZeros:
      const Zeros zeros(port, matmul::kTypeC, p.n);
      for (std::uint32_t i = 0; i < p.batch; ++i) zeros.fill({result_of(p, i), p.ldc}, p.m, p.n);
      break;
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// FixPipe multiplies with one number of each column, or of all.
bool by_fixpipe(const QuantMatmulParams& params, const matmul::CoreLimits& limits) {
  if (!matmul::kScaledByFixpipe) return false;
  if (matmul::kTypeC == DataType::kBf16 && !limits.fixpipe_bf16) return false;
  return params.token_scales == 0 && (params.channel_scales == 0 || params.scale == 1) &&
         (params.product.bias == 0 || !matmul::kRealBias);
}

// Batches, and few rows or columns, have one tile whatever their size (ops-nn,
// matmul/quant_batch_matmul_v3/op_host: not its basic blocks).
bool of_one_tile(const matmul::CoreLimits& limits, const MatmulParams& p) {
  constexpr std::uint32_t kFew = 256;
  return !matmul::even_tiles(limits) && (p.batch > 1 || std::min(p.m, p.n) <= kFew);
}

void host(std::uint32_t block_num, OperatorStream& stream, const QuantMatmulParams& params) {
  const MatmulParams& p = params.product;
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;
  QuantWork work;
  work.scales = {params.channel_scales, params.token_scales, params.scale, 0};
  if (const char* const reason = matmul::to_work(p, work.product)) return stream.refuse(reason);
  if (!aligned(params.channel_scales, DataType::kFp32) ||
      !aligned(params.token_scales, DataType::kFp32)) {
    return stream.refuse("addresses of scales must be multiples of 4");
  }
  const bool direct = by_fixpipe(params, stream.limits());
  Launches launches(stream, direct ? CoreKind::kCube : CoreKind::kMixed, block_num);
  if (p.k == 0) return launches.launch(CoreKind::kVector, Phase::kZeros, work, p.m);
  const bool tables = p.bias != 0 || (direct && params.channel_scales != 0);
  const bool found = of_one_tile(stream.limits(), p) &&
                     matmul::choose_fixed(stream, launches, work.product, p.batch, tables ? 2 : 0);
  if (!found && !matmul::choose(stream, launches, work.product, p.batch, tables ? 2 : 0)) return;
  const std::uint64_t tiles = matmul::tiles_of(work.product) * p.batch;
  if (direct) return launches.launch(CoreKind::kCube, Phase::kProduct, work, tiles);
  const auto blocks = std::min<std::uint64_t>(tiles, launches.cores(CoreKind::kMixed));
  work.sums = stream.workspace(Mixed::bytes(work.product.tiling, blocks));
  if (work.sums == 0) return;
  launches.launch(CoreKind::kMixed, Phase::kProduct, work, tiles);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::QuantWork, npu::kernels::host,
             npu::operators::QuantMatmulParams)
