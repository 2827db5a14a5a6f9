// SPDX-License-Identifier: Apache-2.0
// Products of groups that are slices of one matrix (params.hpp, GroupedMatmulParams).
// NPU_JIT_ELEMENT_A, _B, _C; NPU_JIT_LAYOUT_A, _B. Where groups end is in device memory: the kernel
// reads it and deals out the tiles of all groups, one group's after the other's.
#include "kernels/device/common/zeros.hpp"
#include "kernels/device/matmul/block_mmad.hpp"
#include "kernels/device/matmul/host.hpp"

namespace npu::kernels {
namespace {

using matmul::Phase;

static_assert(matmul::kConvertedByFixpipe,
              "a product of int8 is int32, float or half: NPU_JIT_ELEMENT_C is none");
static_assert(matmul::kBiasOfCube,
              "a bias of reals is float or half, of int8 int32: NPU_JIT_ELEMENT_BIAS is none");

struct GroupedWork {
  matmul::Work whole;
  std::uint64_t ends = 0;
  std::uint32_t groups = 0;
  GroupSlice slice = GroupSlice::kM;
};

struct Group {
  std::uint32_t index = 0, begin = 0, end = 0;
};

// Calls run(group) for each; false: ends that cannot be.
template <class Run>
bool for_groups(AicorePort& port, const GroupedWork& work, Run run) {
  const std::uint32_t all = work.slice == GroupSlice::kM ? work.whole.m : work.whole.k;
  Group group;
  for (; group.index < work.groups; ++group.index) {
    const std::uint64_t at = work.ends + 8 * std::uint64_t{group.index};
    if (group.index == 0 || at % abi::kCacheLine == 0) port.clean_invalidate(at);
    const std::uint64_t end = port.load(at, 8);
    if (end < group.begin || end > all) return false;
    group.end = static_cast<std::uint32_t>(end);
    run(group);
    group.begin = group.end;
  }
  return true;
}

std::uint64_t result_of(const GroupedWork& work, const Group& group) {
  const matmul::Work& p = work.whole;
  const std::uint64_t elements =
      work.slice == GroupSlice::kM ? group.begin * p.ldc : group.index * p.stride_c;
  return p.c + elements * platform::bytes_of(matmul::kTypeC);
}

bool products(AicorePort& port, const GroupedWork& work) {
  const matmul::Work& p = work.whole;
  const bool rows = work.slice == GroupSlice::kM;
  matmul::BlockMmad<matmul::OperandA, matmul::OperandB, Fixed<matmul::kTypeA>,
                    Fixed<matmul::kTypeC>, 1, matmul::Tables::kBias, matmul::kTypeBias>
      block(port, p.tiling);
  std::uint64_t next = port.call().block;  // tile of all groups
  std::uint64_t before = 0;                // tiles of the groups before
  return for_groups(port, work, [&](const Group& group) {
    const std::uint32_t length = group.end - group.begin;
    if (length == 0) return;
    const std::uint64_t b =
        rows ? group.index * p.stride_b * platform::bytes_of(matmul::kTypeB) : 0;
    matmul::Product<matmul::OperandA, matmul::OperandB> product{
        {p.a, p.m, p.k, p.lda}, {p.b + b, p.k, p.n, p.ldb},
        result_of(work, group), p.ldc,
        rows ? length : p.m,    p.n,
        rows ? 0 : group.begin, rows ? p.k : group.end,
        rows ? group.begin : 0};
    if (p.bias != 0) {
      product.bias = p.bias + group.index * p.stride_bias * platform::bytes_of(matmul::kTypeBias);
    }
    const auto scheduler = matmul::scheduler_of(product.m, p.n, p.tiling);
    for (; next < before + scheduler.tiles(); next += port.call().blocks) {
      const auto place = scheduler.place(next - before);
      block.run(product, place.row, place.column);
    }
    before += scheduler.tiles();
  });
}

// C of groups without columns, or all rows of groups if there is no k at all.
bool zeros(AicorePort& port, const GroupedWork& work) {
  const matmul::Work& p = work.whole;
  const Zeros zeros(port, matmul::kTypeC, p.n);
  return for_groups(port, work, [&](const Group& group) {
    const std::uint32_t length = group.end - group.begin;
    if (work.slice == GroupSlice::kM) {
      if (length != 0) zeros.fill({result_of(work, group), p.ldc}, length, p.n);
    } else if (length == 0) {
      zeros.fill({result_of(work, group), p.ldc}, p.m, p.n);
    }
  });
}

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<GroupedWork>);
  const auto work = work_from<GroupedWork>(arguments);
  const bool product = arguments.word(0) == static_cast<std::uint64_t>(Phase::kProduct);
  const bool good = product ? products(port, work) : zeros(port, work);
  port.pipe_barrier(Pipe::kAll);
  return good ? 0 : aicore::kBadArguments;
}

// Fractals along the side that is sliced cannot be cut where a group ends.
const char* cut_reason(GroupSlice slice) {
  constexpr Layout kA = matmul::kLayoutA, kB = matmul::kLayoutB;
  if (slice == GroupSlice::kM && kA == Layout::kNz) {
    return "groups of rows cannot be cut out of A in nZ: use zN or a layout without fractals";
  }
  if (slice == GroupSlice::kK && (kA == Layout::kZn || kB == Layout::kNz)) {
    return "groups of k cannot be cut out of A in zN or B in nZ: use nZ for A, zN for B";
  }
  return slice == GroupSlice::kM || slice == GroupSlice::kK ? nullptr : "slice must be kM or kK";
}

void host(std::uint32_t block_num, OperatorStream& stream, const GroupedMatmulParams& params) {
  MatmulParams p = params.whole;
  if (p.batch > 1) return stream.refuse("grouped_matmul has groups in place of a batch");
  if (p.m == 0 || p.n == 0 || p.batch == 0 || params.groups == 0) return;
  if (const char* const reason = cut_reason(params.slice)) return stream.refuse(reason);
  if (params.group_ends % 8 != 0) return stream.refuse("group_ends must be a multiple of 8");
  const bool rows = params.slice == GroupSlice::kM;
  if (p.bias != 0 && !rows) return stream.refuse("groups of k have no bias");
  // C of each group is a matrix of its own with slice kK only.
  p.batch = rows ? 1 : params.groups;
  GroupedWork work;
  work.ends = params.group_ends, work.groups = params.groups, work.slice = params.slice;
  if (const char* const reason = matmul::to_work(p, work.whole)) return stream.refuse(reason);
  if (!matmul::addressable(params.groups, p.stride_b) ||
      !matmul::addressable(params.groups, p.stride_bias)) {
    return stream.refuse("strides must stay within the address space");
  }
  Launches launches(stream, CoreKind::kCube, block_num);
  if (rows ? p.k == 0 : true) {
    launches.launch(CoreKind::kVector, Phase::kZeros, work, p.m);
    if (p.k == 0) return;
  }
  const std::uint64_t pieces = rows ? 1 : params.groups;
  const std::uint32_t tables = p.bias != 0 ? 2 : 0;
  if (!matmul::choose_fixed(stream, launches, work.whole, pieces, tables) &&
      !matmul::choose(stream, launches, work.whole, pieces, tables)) {
    return;
  }
  // Where a group of rows ends is known to the kernel alone: each may have a tile row more.
  const std::uint64_t columns = aicore::divide_up(p.n, work.whole.tiling.n);
  launches.launch(CoreKind::kCube, Phase::kProduct, work,
                  matmul::tiles_of(work.whole) * pieces + (rows ? params.groups * columns : 0));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::GroupedWork, npu::kernels::host,
             npu::operators::GroupedMatmulParams)
