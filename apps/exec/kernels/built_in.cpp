// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/kernels/built_in.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/device/shipped/elementwise.hpp"
#include "kernels/device/shipped/matmul.hpp"
#include "kernels/device/shipped/random.hpp"

namespace npu::exec {
namespace {

using platform::DataType;
using platform::VectorOp;
using Words = Result<std::vector<std::uint64_t>>;

// As npusim_kernels.h has them.
struct ElementwiseArguments {
  std::uint64_t to, a, b, count, type;
};
struct MatmulArguments {
  std::uint64_t a, b, c;
  std::uint32_t m, n, k, type;
};
struct SpinArguments {
  std::uint64_t clocks;
};
struct RandomArguments {
  std::uint64_t to, counter, seed, count, a, b;
  std::uint32_t distribution, type;
};

// aclDataType (docs/sources/acl.md L2).
std::optional<DataType> type_of(std::uint64_t type) {
  switch (type) {
    case 0:
      return DataType::kFp32;
    case 1:
      return DataType::kFp16;
    case 2:
      return DataType::kInt8;
    case 27:
      return DataType::kBf16;
    default:
      return std::nullopt;
  }
}

template <class T>
Result<T> read(const BuiltInKernel& kernel, ConstByteSpan arguments) {
  T all{};
  if (arguments.size != sizeof all) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {} bytes of arguments, it has {}",
                                                         kernel.name, arguments.size, sizeof all));
  }
  std::memcpy(&all, arguments.data, sizeof all);
  return all;
}

Words elementwise(const BuiltInKernel& kernel, ConstByteSpan arguments, std::uint32_t* blocks) {
  const auto all = read<ElementwiseArguments>(kernel, arguments);
  if (!all) return forward_error(all);
  const auto type = type_of(all->type);
  kernels::vector::Elementwise work;
  work.to = all->to, work.a = all->a, work.b = all->b;
  work.count = all->count;
  work.op = static_cast<VectorOp>(kernel.operation);
  if (work.op == VectorOp::kMuls) {
    const auto bits = static_cast<std::uint32_t>(all->b);
    std::memcpy(&work.scalar, &bits, sizeof work.scalar);
    work.b = 0;
  }
  if (type) work.type = *type;
  if (!type || *type == DataType::kInt8 || !kernels::vector::valid(work)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: type {}, {} elements", kernel.name, all->type, all->count));
  }
  // Less than this is not worth one more core.
  constexpr Bytes kSmallest = 512;
  const Bytes wanted = all->count * platform::bytes_of(*type) / kSmallest;
  *blocks = static_cast<std::uint32_t>(std::clamp<Bytes>(wanted, 1, *blocks));
  const auto words = kernels::vector::to_words(work);
  return std::vector<std::uint64_t>(words.begin(), words.end());
}

Words matmul(const BuiltInKernel& kernel, ConstByteSpan arguments, std::uint32_t* blocks) {
  const auto all = read<MatmulArguments>(kernel, arguments);
  if (!all) return forward_error(all);
  const auto type = type_of(all->type);
  kernels::gemm::Problem problem;
  problem.a = all->a, problem.b = all->b, problem.c = all->c;
  problem.m = all->m, problem.n = all->n, problem.k = all->k;
  problem.lda = all->k;
  problem.ldb = problem.ldc = all->n;
  if (!type || all->m == 0 || all->n == 0 || all->k == 0) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: type {}, {} x {} x {}", kernel.name,
                                                         all->type, all->m, all->n, all->k));
  }
  problem.type = *type;
  problem.to_type = *type == DataType::kInt8 ? DataType::kInt32 : *type;
  kernels::gemm::choose_tiles(problem, *blocks);
  const std::uint64_t tiles =
      kernels::matmul::scheduler_of(problem.m, problem.n, problem.tiling).tiles();
  *blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(tiles, *blocks));
  const auto words = kernels::gemm::to_words(problem);
  return std::vector<std::uint64_t>(words.begin(), words.end());
}

Words spin(const BuiltInKernel& kernel, ConstByteSpan arguments, std::uint32_t* blocks) {
  static_cast<void>(blocks);
  const auto all = read<SpinArguments>(kernel, arguments);
  if (!all) return forward_error(all);
  return std::vector<std::uint64_t>{all->clocks};
}

// aclDataType; 0xFF: none that there are numbers of.
kernels::random::Number random_type(std::uint32_t type) {
  using kernels::random::Number;
  switch (type) {
    case 0:
      return Number::kFp32;
    case 1:
      return Number::kFp16;
    case 3:
      return Number::kInt32;
    case 8:
      return Number::kUint32;
    case 9:
      return Number::kInt64;
    case 10:
      return Number::kUint64;
    case 27:
      return Number::kBf16;
    default:
      return static_cast<Number>(0xFF);
  }
}

Words random(const BuiltInKernel& kernel, ConstByteSpan arguments, std::uint32_t* blocks) {
  const auto all = read<RandomArguments>(kernel, arguments);
  if (!all) return forward_error(all);
  kernels::random::Request request;
  request.to = all->to, request.counter = all->counter;
  request.seed = all->seed, request.count = all->count;
  request.a = all->a, request.b = all->b;
  request.distribution = aicore::enumerator<kernels::random::Distribution>(
      all->distribution, kernels::random::kDistributions);
  request.type = random_type(all->type);
  if (!kernels::random::valid(request) || request.count == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: type {}, {} numbers", kernel.name, all->type, all->count));
  }
  // Less than this is not worth one more core.
  constexpr std::uint64_t kFewest = 64;
  *blocks =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(request.count / kFewest, 1, *blocks));
  const auto words = kernels::random::to_words(request);
  return std::vector<std::uint64_t>(words.begin(), words.end());
}

constexpr unsigned number(VectorOp op) {
  return static_cast<unsigned>(op);
}

constexpr BuiltInKernel kKernels[] = {
    {"add", "elementwise", false, elementwise, number(VectorOp::kAdd)},
    {"sub", "elementwise", false, elementwise, number(VectorOp::kSub)},
    {"mul", "elementwise", false, elementwise, number(VectorOp::kMul)},
    {"muls", "elementwise", false, elementwise, number(VectorOp::kMuls)},
    {"max", "elementwise", false, elementwise, number(VectorOp::kMax)},
    {"min", "elementwise", false, elementwise, number(VectorOp::kMin)},
    {"copy", "elementwise", false, elementwise, number(VectorOp::kCopy)},
    {"relu", "elementwise", false, elementwise, number(VectorOp::kRelu)},
    {"exp", "elementwise", false, elementwise, number(VectorOp::kExp)},
    {"matmul", "matmul", true, matmul, 0},
    {"spin", "spin", false, spin, 0, true},
    {"random", "random", false, random, 0},
};

}  // namespace

const BuiltInKernel* find_built_in(std::string_view name) {
  for (const auto& kernel : kKernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace npu::exec
