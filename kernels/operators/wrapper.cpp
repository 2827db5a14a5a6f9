// SPDX-License-Identifier: Apache-2.0
// The wrapper: what users write, checked and in the templates' words.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kernels/operators/axes.hpp"
#include "kernels/operators/call.hpp"
#include "kernels/operators/formula.hpp"
#include "npu/base/shortened.hpp"
#include "npu/operators/params.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::operators {
namespace {

constexpr std::uint64_t kMostSide = (std::uint64_t{1} << 31) - 1;
constexpr std::uint64_t kMostElements = (std::uint64_t{1} << 44) - 1;

tl::unexpected<Error> refuse(const OperatorCall& call, const std::string& reason) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", call.name, reason));
}

bool is_product(Family family) {
  return family == Family::kMatmul || family == Family::kBatched || family == Family::kGrouped ||
         family == Family::kSplitK || family == Family::kQuant;
}

bool has_halves(Family family) {
  return family == Family::kSwiGlu || family == Family::kDequantSwigluQuant;
}
// Into int8, with a scale for each row.
bool quantises(Family family) {
  return family == Family::kDynamicQuant || family == Family::kAddRmsNormDynamicQuant ||
         family == Family::kDequantSwigluQuant;
}

bool only_moves(Family family) {
  return family == Family::kTranspose || family == Family::kGather || family == Family::kCacheWrite;
}
bool has_axes(Family family) {
  return family == Family::kBroadcast || family == Family::kTranspose;
}
bool is_flat(Family family) {
  return family == Family::kVector || family == Family::kAdamW;
}

Status check_numbers(const OperatorCall& call, const OperatorRow& row) {
  if (has_axes(row.family)) {
    for (const auto* sides : {&call.shape, &call.other_shape, &call.condition_shape}) {
      if (sides->size() <= kMostAxes && !call.shape.empty()) continue;
      return refuse(call, fmt::format("{} sides; 1 to {} are possible", sides->size(), kMostAxes));
    }
    return {};
  }
  const auto& names = row.sides;
  const auto wanted = static_cast<std::size_t>(std::count(names.begin(), names.end(), ',')) + 1;
  const bool optional = names.front() == '[';  // the first side may be left out
  const bool more = names.back() == '.';       // there may be more of the last one
  const std::size_t least = optional ? wanted - 1 : wanted;
  const std::size_t most = more ? wanted - 1 + kTensorInputs : wanted;
  if (call.shape.size() >= least && call.shape.size() <= most) return {};
  return refuse(call, fmt::format("a shape of {} numbers; {} are wanted: {}", call.shape.size(),
                                  least == most ? fmt::format("{}", wanted)
                                  : more        ? fmt::format("{} to {}", least, most)
                                                : fmt::format("{} or {}", least, most),
                                  names));
}

// Sides that fit each other; those of a broadcast become the result's.
Status check_sides(const OperatorCall& call, NormalisedCall& to) {
  const Family family = to.row->family;
  if (family == Family::kBroadcast) {
    auto sides = broadcast_sides(call.shape, call.other_shape);
    if (sides) sides = broadcast_sides(*sides, call.condition_shape);
    if (!sides) return refuse(call, sides.error().context);
    to.sides = *sides;
  }
  if (family == Family::kTranspose && !is_order(call.order, call.shape.size())) {
    return refuse(call, fmt::format("the order is not one of axes 0 to {}", call.shape.size() - 1));
  }
  if (family == Family::kGroupNorm && (to.sides[3] == 0 || to.sides[1] % to.sides[3] != 0)) {
    return refuse(call,
                  fmt::format("{} groups do not divide {} channels", to.sides[3], to.sides[1]));
  }
  const bool counted =
      has_axes(family) || family == Family::kGroupNorm || family == Family::kSoftmaxAxis;
  const std::size_t sides = family == Family::kGroupNorm ? 3 : to.sides.size();
  if (counted && product_of(to.sides, sides) > kMostElements) {
    return refuse(call, fmt::format("more than {} elements", kMostElements));
  }
  if (has_halves(family) && to.sides[1] % 2 != 0) {
    return refuse(call, fmt::format("{} columns; an even number has halves", to.sides[1]));
  }
  return {};
}

Status take_shape(const OperatorCall& call, NormalisedCall& to) {
  if (auto ok = check_numbers(call, *to.row); !ok) return ok;
  const Family flat = to.row->family;
  const std::uint64_t most =
      is_flat(flat) || has_axes(flat) || to.row->sides == "count" ? kMostElements : kMostSide;
  for (const std::uint64_t side : call.shape) {
    if (side > most) {
      return refuse(call, fmt::format("a side of {}; 0 .. {} are possible", side, most));
    }
  }
  to.sides = call.shape;
  if (auto ok = check_sides(call, to); !ok) return ok;
  if (!is_product(to.row->family)) return {};
  const std::size_t first = call.shape.size() - 3;
  if (first == 1) to.batch = static_cast<std::uint32_t>(call.shape[0]);
  to.m = static_cast<std::uint32_t>(call.shape[first]);
  to.n = static_cast<std::uint32_t>(call.shape[first + 1]);
  to.k = static_cast<std::uint32_t>(call.shape[first + 2]);
  return {};
}

bool is_real(DataType type) {
  return is_real_type(type);
}

DataType usual_result(Family family, DataType type) {
  if (family == Family::kQuant) return DataType::kFp32;
  if (quantises(family)) return DataType::kInt8;
  const bool sums = is_product(family) || family == Family::kGemv;
  return sums && type == DataType::kInt8 ? DataType::kInt32 : type;
}

// What is possible instead; empty: it can be.
std::string impossible(Family family, DataType from, DataType to) {
  if (family == Family::kQuant) {
    if (from == DataType::kInt8 && is_real(to)) return {};
    return "int8 into float16, bfloat16 or float32";
  }
  if (family == Family::kDequantSwigluQuant) {
    if ((is_real(from) || from == DataType::kInt32) && to == DataType::kInt8) return {};
    return "float16, bfloat16, float32 and int32 into int8";
  }
  if (quantises(family)) {
    if (is_real(from) && to == DataType::kInt8) return {};
    return "float16, bfloat16 and float32 into int8";
  }
  if (only_moves(family)) return from == to ? "" : "any type into itself";
  if (family == Family::kAdamW) {
    return is_real(from) && from == to ? "" : "float16, bfloat16 and float32 into themselves";
  }
  if (family == Family::kVector || family == Family::kBroadcast) {
    if ((from == DataType::kInt64) == (to == DataType::kInt64)) return {};
    return "int64 into int64 alone";
  }
  if (family == Family::kTensors) return {};  // the operator itself knows
  if (is_real(from) && is_real(to)) return {};
  if (family == Family::kGemv) {
    if ((from == DataType::kInt8 || from == DataType::kInt32) && to == DataType::kInt32) return {};
    return "float16, bfloat16 and float32 into any of them, and int8 and int32 into int32";
  }
  if (!is_product(family)) return "float16, bfloat16 and float32 into any of them";
  if (from == DataType::kInt8 && to == DataType::kInt32) return {};
  return "float16, bfloat16 and float32 into any of them, and int8 into int32";
}

// The cube begins with its own type, or with half; quantised products may have a real one.
Status take_bias(const OperatorCall& call, NormalisedCall& to) {
  const Family family = to.row->family;
  to.bias_type = to.type == DataType::kInt8 ? DataType::kInt32 : DataType::kFp32;
  if (call.bias_dtype.empty()) return {};
  const auto type = parse_type(call.bias_dtype);
  if (!type) return refuse(call, "bias_dtype: " + type.error().context);
  if (!is_product(family)) return refuse(call, "only products have a bias");
  if (*type == to.bias_type) return {};
  to.bias_type = *type;
  if (family == Family::kQuant) {
    if (is_real(*type)) return {};
    return refuse(call, "bias_dtype: int32, float16, bfloat16 or float32");
  }
  if (is_real(to.type) && *type == DataType::kFp16) return {};
  return refuse(call, is_real(to.type) ? "bias_dtype: float32 or float16 of reals"
                                       : "bias_dtype: int32 of int8");
}

// The description alone says what the results of one's own operator are.
Status take_described_result(const OperatorCall& call, NormalisedCall& to) {
  const OperatorRow& row = *to.row;
  if (!row.described()) return {};
  const auto& first = row.results.front();
  auto wanted = parse_type(first.dtype);
  if (!wanted) wanted = parse_type(row.out);
  const DataType type = wanted.value_or(to.type);
  if (!call.out_dtype.empty() && to.out_type != type) {
    return refuse(call, fmt::format("{}: {}; the operator has {}", first.name,
                                    type_name(to.out_type), type_name(type)));
  }
  to.out_type = type;
  return {};
}

Status take_types(const OperatorCall& call, NormalisedCall& to) {
  const auto type = parse_type(call.dtype);
  if (!type) return refuse(call, "dtype: " + type.error().context);
  to.type = *type;
  const auto fixed = parse_type(to.row->out);
  to.out_type = fixed ? *fixed : usual_result(to.row->family, *type);
  if (!call.out_dtype.empty()) {
    const auto out = parse_type(call.out_dtype);
    if (!out) return refuse(call, "out_dtype: " + out.error().context);
    to.out_type = *out;
  }
  if (auto ok = take_described_result(call, to); !ok) return ok;
  if (auto ok = take_bias(call, to); !ok) return ok;
  if (const auto& types = to.row->types;
      !types.empty() && std::find(types.begin(), types.end(), to.type) == types.end()) {
    std::string known;
    for (const auto each : types) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", type_name(each));
    }
    return refuse(call, fmt::format("dtype {}: it takes {}", type_name(to.type), known));
  }
  const auto possible = impossible(to.row->family, to.type, to.out_type);
  if (possible.empty()) return {};
  return refuse(call, fmt::format("{} into {}: it can do {}", macro_name(to.type),
                                  macro_name(to.out_type), possible));
}

// What is chosen is only moved: an int64 as two int32, since the unit compares none.
void choose_halves(NormalisedCall& to) {
  if (to.row->name != "where" || to.type != DataType::kInt64) return;
  to.type = to.out_type = DataType::kInt32;
  for (auto* sides : {&to.call.shape, &to.call.other_shape, &to.sides}) sides->push_back(2);
  to.call.condition_shape.push_back(1);
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

// What only some operators have.
Status check_options(const OperatorCall& call, const NormalisedCall& to) {
  const Family family = to.row->family;
  if (call.splits != 0 && family != Family::kSplitK) {
    return refuse(call, "only splitk_matmul splits k");
  }
  if (call.slice_k && family != Family::kGrouped) {
    return refuse(call, "only grouped_matmul has slices");
  }
  const bool computes =
      (family == Family::kVector || family == Family::kBroadcast) && to.row->expression.empty();
  if (call.expression.empty() == computes) {
    return refuse(call, computes ? "an expression over a, b, c, d, s, s1, s2, s3 is wanted"
                                 : "only elementwise and broadcast have an expression");
  }
  if (const auto good = check_formula(call, call.scalars.size(), call.name); !good) {
    return refuse(call, good.error().context);
  }
  if (!call.other_shape.empty() && family != Family::kBroadcast) {
    return refuse(call, "only broadcast has another shape, or its like");
  }
  if (!call.condition_shape.empty() && to.row->name != "where") {
    return refuse(call, "only where has a condition");
  }
  if (!call.order.empty() && family != Family::kTranspose) {
    return refuse(call, "only transpose has an order");
  }
  if (call.maximize && family != Family::kAdamW) {
    return refuse(call, "only apply_adam_w maximizes");
  }
  if (call.causal && family != Family::kAttention) {
    return refuse(call, "only flash_attention is causal");
  }
  if (call.whole_mask && !call.causal) {
    return refuse(call, "only a causal flash_attention has a whole mask");
  }
  if ((call.heads_inside || call.page != 0 || call.masked) && family != Family::kAttention) {
    return refuse(call, "only flash_attention has heads inside, pages, or a mask");
  }
  if (call.tile != 0 && to.row->name != "copy" && to.row->name != "hadamard") {
    return refuse(call, "only copy and hadamard have a size of tiles");
  }
  if (call.sets > 2 || (call.sets != 0 && to.row->name != "copy")) {
    return refuse(call, "only copy has one or two sets of buffers");
  }
  if (!call.activate_left && family != Family::kDequantSwigluQuant) {
    return refuse(call, "only dequant_swiglu_quant activates the right half");
  }
  const bool has_b = is_product(family);
  if ((call.transpose_a || to.layout_a != "RowMajor") && !has_b && family != Family::kGemv) {
    return refuse(call, "its inputs lie row by row");
  }
  if (to.layout_b != "RowMajor" && !has_b) return refuse(call, "it has no B");
  return {};
}

// Of an operator whose description has its tensors.
Status check_described(const OperatorCall& call, const NormalisedCall& to) {
  const OperatorRow& row = *to.row;
  const auto check = [&](const TensorRow& tensor, std::uint64_t address, DataType type) -> Status {
    const auto shape = numbers_of(tensor.shape, row, to.sides);
    if (!shape) return refuse(call, tensor.name + ": " + shape.error().context);
    if (!tensor.below.empty()) {
      const auto below = numbers_of(tensor.below, row, to.sides);
      if (!below) return refuse(call, tensor.name + ".below: " + below.error().context);
      if (is_real_type(type)) {
        return refuse(call, fmt::format("{}: indices are integers; the tensor is {}", tensor.name,
                                        type_name(type)));
      }
    }
    if (address % platform::bytes_of(type) == 0) return {};
    return refuse(call, tensor.name + ": an address that is no multiple of its elements' size");
  };
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    if (auto ok = check(row.inputs[i], call.inputs[i], type_of_input(to, i)); !ok) return ok;
  }
  for (std::size_t i = 0; i < row.results.size(); ++i) {
    if (auto ok = check(row.results[i], call.results[i], type_of_result(to, i)); !ok) return ok;
  }
  return {};
}

// Scales, which are fp32 whatever the type, and ends of groups are looked at by the operator
// itself.
Status check_addresses(const OperatorCall& call, const NormalisedCall& to) {
  if (to.row->described()) return check_described(call, to);
  const Family family = to.row->family;
  const bool indexed = family == Family::kGather || family == Family::kCacheWrite;
  const std::size_t typed = family == Family::kDequantSwigluQuant || indexed ? 1
                            : is_product(family)                             ? 2
                            : family == Family::kBroadcast                   ? 2
                            : family == Family::kAttention                   ? 3
                                                                             : call.inputs.size();
  bool aligned = call.results[0] % platform::bytes_of(to.out_type) == 0;
  for (std::size_t i = 0; i < typed; ++i) {
    aligned = aligned && call.inputs[i] % platform::bytes_of(to.type) == 0;
  }
  const std::size_t in_place = family == Family::kAdamW        ? call.results.size()
                               : family == Family::kCacheWrite ? 1
                                                               : 0;
  for (std::size_t i = 0; i < in_place; ++i) {
    if (call.results[i] == call.inputs[i]) continue;
    return refuse(call, "results take the place of the first inputs");
  }
  return aligned ? Status{} : refuse(call, "an address is no multiple of its elements' size");
}

}  // namespace

DataType type_of_input(const NormalisedCall& call, std::size_t i) {
  return parse_type(call.row->inputs[i].dtype).value_or(call.type);
}
DataType type_of_result(const NormalisedCall& call, std::size_t i) {
  if (i == 0) return call.out_type;
  return parse_type(call.row->results[i].dtype).value_or(call.type);
}

Result<NormalisedCall> normalise(const OperatorCall& call) {
  const auto row = find_operator(call.name);
  if (!row) return forward_error(row);
  NormalisedCall result;
  result.row = *row;
  result.call = call;
  if (auto ok = take_shape(call, result); !ok) return forward_error(ok);
  if (auto ok = take_types(call, result); !ok) return forward_error(ok);
  auto ok = take_layout(call, "format_a", call.format_a, call.transpose_a, result.layout_a);
  if (!ok) return forward_error(ok);
  ok = take_layout(call, "format_b", call.format_b, call.transpose_b, result.layout_b);
  if (!ok) return forward_error(ok);
  if (ok = check_options(call, result); !ok) return forward_error(ok);
  if (ok = check_addresses(call, result); !ok) return forward_error(ok);
  if (!result.row->expression.empty()) result.call.expression = result.row->expression;
  choose_halves(result);
  return result;
}

}  // namespace npu::operators
