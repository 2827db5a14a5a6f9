// SPDX-License-Identifier: Apache-2.0
// C = A x B with elements of 8 or 4 bits and a scale for 32 of them along k, A row by row, B column
// by column: what a cube that scales takes for it. The name of the kernel says how many bits an
// element has. NPU_JIT_ELEMENT_A is int8, bytes of elements; NPU_JIT_ELEMENT_C is half;
// TensorParams. The arithmetic of these types is not modelled, so that only times are right.
#include <string_view>

#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/operand.hpp"
#include "kernels/device/matmul/block_mmad.hpp"
#include "kernels/device/matmul/work.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

using aicore::AicorePort;

static_assert(vector::kTypeA == DataType::kInt8 && vector::kTypeC == DataType::kFp16,
              "elements are told in bytes: NPU_JIT_ELEMENT_A must be int8, NPU_JIT_ELEMENT_C half");

using A = Operand<Layout::kRowMajor, Fixed<DataType::kInt8>>;
using B = Operand<Layout::kColumnMajor, Fixed<DataType::kInt8>>;

constexpr std::uint32_t kInByte =
    std::string_view(NPU_JIT_TEXT(NPU_JIT_KERNEL_NAME)) == "mxfp4_matmul" ? 2 : 1;  // elements
constexpr std::uint32_t kScaled = 32;   // elements with one scale of a byte
constexpr std::uint32_t kPiece = 4096;  // bytes of scales loaded at a time, behind the tiles in L1

struct Work {
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
  std::uint64_t a = 0, b = 0, a_scales = 0, b_scales = 0, c = 0;
  std::uint32_t m = 0, n = 0, k = 0, reserved = 0;  // k: bytes
  matmul::Tiling tiling;
};

// Scales of `lines` lines from `first` on; they lie behind each other.
void load_scales(AicorePort& port, std::uint64_t from, std::uint64_t first, std::uint64_t lines,
                 std::uint32_t k) {
  const std::uint64_t each = aicore::divide_up(k * kInByte, kScaled);
  const auto l1 = static_cast<std::uint32_t>(port.buffer_size(platform::LocalBuffer::kL1));
  for (std::uint64_t done = 0; done < lines * each; done += kPiece) {
    platform::CopyIn copy;
    copy.to = {platform::LocalBuffer::kL1, l1 - kPiece};
    copy.from = from + first * each + done;
    copy.row_bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kPiece, lines * each - done));
    port.issue(copy);
  }
}

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  {
    const auto scheduler = matmul::scheduler_of(work.m, work.n, work.tiling);
    matmul::BlockMmad<A, B, Fixed<DataType::kInt8>, Fixed<DataType::kFp16>> block(port,
                                                                                  work.tiling);
    const matmul::Product<A, B> product{{work.a, work.m, work.k, work.k},
                                        {work.b, work.k, work.n, work.k},
                                        work.c,
                                        work.n,
                                        work.m,
                                        work.n,
                                        0,
                                        work.k};
    for (std::uint64_t i = port.call().block; i < scheduler.tiles(); i += port.call().blocks) {
      const auto place = scheduler.place(i);
      const std::uint64_t row = std::uint64_t{place.row} * work.tiling.m;
      const std::uint64_t column = std::uint64_t{place.column} * work.tiling.n;
      load_scales(port, work.a_scales, row, std::min<std::uint64_t>(work.tiling.m, work.m - row),
                  work.k);
      load_scales(port, work.b_scales, column,
                  std::min<std::uint64_t>(work.tiling.n, work.n - column), work.k);
      block.run(product, place.row, place.column);
    }
  }
  port.pipe_barrier(aicore::Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const auto* const side = params.sides;  // m, n, k
  if (side[0] == 0 || side[1] == 0) return;
  for (unsigned i = 0; i < 3; ++i) {
    if (side[i] > kMostSide) return stream.refuse("m, n and k must be below 2^31");
  }
  if (side[2] == 0 || side[2] % (2 * kScaled) != 0)
    return stream.refuse("k must be a multiple of 64");
  for (unsigned i = 0; i < 4; ++i) {
    if (params.inputs[i] == 0) return stream.refuse("an input is not given");
  }
  Work work;
  work.a = params.inputs[0], work.b = params.inputs[1];
  work.a_scales = params.inputs[2], work.b_scales = params.inputs[3], work.c = params.results[0];
  work.m = static_cast<std::uint32_t>(side[0]), work.n = static_cast<std::uint32_t>(side[1]);
  work.k = static_cast<std::uint32_t>(side[2]) / kInByte;
  Launches launches(stream, CoreKind::kCube, block_num);
  CoreLimits limits = stream.limits();
  if (limits.l1 < 2 * kPiece) return stream.refuse("L1 is too small");
  limits.l1 -= kPiece;
  if (!matmul::choose_tiling<A, B>(work.tiling, DataType::kInt8, 1, work.m, work.n, work.k,
                                   launches.cores(CoreKind::kCube), limits)) {
    return stream.refuse("no tile of the product fits into the cores' buffers");
  }
  launches.launch(CoreKind::kCube, 0U, work,
                  matmul::scheduler_of(work.m, work.n, work.tiling).tiles());
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
