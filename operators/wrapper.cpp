// SPDX-License-Identifier: Apache-2.0
// The wrapper: what users write, checked and in the templates' words.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "npu/base/shortened.hpp"
#include "operators/call.hpp"

namespace npu::operators {
namespace {

constexpr std::uint64_t kMostSide = (std::uint64_t{1} << 31) - 1;

tl::unexpected<Error> refuse(const OperatorCall& call, const std::string& reason) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", call.name, reason));
}

Status take_shape(const OperatorCall& call, NormalisedCall& to) {
  const bool batched = to.row->family == Family::kBatched;
  const std::size_t wanted = batched ? 4 : 3;
  if (call.shape.size() != wanted) {
    return refuse(call, fmt::format("a shape of {} numbers; {} are wanted: {}", call.shape.size(),
                                    wanted, batched ? "batch, m, n, k" : "m, n, k"));
  }
  for (const std::uint64_t side : call.shape) {
    if (side > kMostSide) {
      return refuse(call, fmt::format("a side of {}; 0 .. {} are possible", side, kMostSide));
    }
  }
  const auto* sides = call.shape.data() + (batched ? 1 : 0);
  if (batched) to.batch = static_cast<std::uint32_t>(call.shape[0]);
  to.m = static_cast<std::uint32_t>(sides[0]);
  to.n = static_cast<std::uint32_t>(sides[1]);
  to.k = static_cast<std::uint32_t>(sides[2]);
  return {};
}

Status take_types(const OperatorCall& call, NormalisedCall& to) {
  const auto type = parse_type(call.dtype);
  if (!type) return refuse(call, "dtype: " + type.error().context);
  to.type = *type;
  to.out_type = *type == DataType::kInt8 ? DataType::kInt32 : *type;
  if (!call.out_dtype.empty()) {
    const auto out = parse_type(call.out_dtype);
    if (!out) return refuse(call, "out_dtype: " + out.error().context);
    to.out_type = *out;
  }
  const auto is_real = [](DataType t) {
    return t == DataType::kFp16 || t == DataType::kBf16 || t == DataType::kFp32;
  };
  const bool possible = is_real(to.type) ? is_real(to.out_type)
                                         : to.row->integers && to.type == DataType::kInt8 &&
                                               to.out_type == DataType::kInt32;
  if (!possible) {
    return refuse(call, fmt::format("{} into {}: the cores multiply float16, bfloat16 and float32 "
                                    "into any of them, and int8 into int32",
                                    macro_name(to.type), macro_name(to.out_type)));
  }
  return {};
}

Status take_layout(const OperatorCall& call, const char* name, const std::string& format,
                   bool transposed, std::string& to) {
  std::string upper = format;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (upper == "ND") {
    to = transposed ? "ColumnMajor" : "RowMajor";
  } else if (upper == "NZ") {
    to = transposed ? "nZ" : "zN";
  } else {
    return refuse(call, fmt::format("{} \"{}\" is no format: ND or NZ", name, shortened(format)));
  }
  return {};
}

Status take_addresses(const OperatorCall& call, NormalisedCall& to) {
  to.a = call.a, to.b = call.b, to.c = call.c;
  const auto misaligned = [](std::uint64_t address, DataType type) {
    return address % platform::bytes_of(type) != 0;
  };
  if (misaligned(to.a, to.type) || misaligned(to.b, to.type) || misaligned(to.c, to.out_type)) {
    return refuse(call, "an address is no multiple of its elements' size");
  }
  return {};
}

}  // namespace

Result<NormalisedCall> normalise(const OperatorCall& call) {
  const auto row = find_operator(call.name);
  if (!row) return forward_error(row);
  NormalisedCall result;
  result.row = *row;
  result.splits = call.splits;
  result.cores = call.cores;
  if (call.splits != 0 && result.row->family != Family::kSplitK) {
    return refuse(call, "only splitk_matmul splits k");
  }
  if (auto ok = take_shape(call, result); !ok) return forward_error(ok);
  if (auto ok = take_types(call, result); !ok) return forward_error(ok);
  auto ok = take_layout(call, "format_a", call.format_a, call.transpose_a, result.layout_a);
  if (!ok) return forward_error(ok);
  ok = take_layout(call, "format_b", call.format_b, call.transpose_b, result.layout_b);
  if (!ok) return forward_error(ok);
  if (ok = take_addresses(call, result); !ok) return forward_error(ok);
  return result;
}

}  // namespace npu::operators
