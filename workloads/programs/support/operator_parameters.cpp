// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/operator_parameters.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "npu/base/shortened.hpp"
#include "workloads/framework/launch_limits.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/cache_state.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {
namespace {

using operators::OperatorCall;

constexpr std::uint64_t kMostSide = (std::uint64_t{1} << 31) - 1;

// Those that the sources of operators read; value is s, too.
constexpr const char* kCallNumbers[] = {"epsilon", "scale", "value"};

// Empty: no number, or one that a float has not.
std::optional<float> call_number(const ParameterSet& parameters, const char* name) {
  const std::string& text = parameters.choice(name);
  float number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::vector<ParameterSpec> parameters_of_run() {
  return {
      list_by_place({"condition_shape", ParameterType::kIntegerList, "", "1",
                     "of where: sides of the condition", 0, kMostSide}),
      {"sets", ParameterType::kInteger, "", "0", "of buffers of copy, 1 or 2; 0: 2", 0, 2},
      {"tile", ParameterType::kInteger, "", "0",
       "bytes of a tile of copy and hadamard; 0: the operator chooses", 0, 1 << 20},
      {"cores", ParameterType::kInteger, "", "0", "to use; 0: all", 0, 65'536},
      {"calls", ParameterType::kInteger, "", "2", "in this process; the last counts", 1, 1'000'000},
      {"peer", ParameterType::kFlag, "", "off",
       "the first tensor lies in the memory of another card, card 1 or 0"},
      {"buffers", ParameterType::kInteger, "", "1",
       "sets of tensors that calls take in turn, so that all of them are more than the L2 holds", 1,
       64},
      cache_state_parameter("calls"),
      choice_parameter("cache", "none",
                       "folder: kernels are kept where NPUSIM_JIT_CACHE_DIR says, or in "
                       "~/.cache/npusim/jit",
                       {"none", "folder"}),
      card_parameter()};
}

}  // namespace

OperatorCall operator_call_of(const ParameterSet& parameters) {
  OperatorCall call;
  call.name = parameters.choice("name");
  call.shape = parameters.integers("shape");
  call.dtype = parameters.choice("dtype");
  const auto& out = parameters.choice("out_dtype");
  call.out_dtype = out == "auto" ? "" : out;
  call.transpose_a = parameters.flag("transpose_a");
  call.transpose_b = parameters.flag("transpose_b");
  call.format_a = parameters.choice("format_a");
  call.format_b = parameters.choice("format_b");
  const auto row = operators::find_operator(call.name);
  const bool repeats = row && (*row)->family == operators::Family::kBroadcast;
  if (repeats) call.other_shape = parameters.integers("other_shape");
  if (call.name == "where") call.condition_shape = parameters.integers("condition_shape");
  if (call.name == "transpose") call.order = parameters.integers("order");
  if (call.name == "elementwise" || call.name == "broadcast") {
    call.expression = parameters.choice("expression");
  }
  call.epsilon = call_number(parameters, "epsilon").value_or(call.epsilon);
  call.scale = call_number(parameters, "scale").value_or(call.scale);
  call.scalars = {call_number(parameters, "value").value_or(0.5F), 2, -1, 4};
  call.causal = parameters.flag("causal");
  call.whole_mask = parameters.flag("whole_mask");
  call.heads_inside = parameters.choice("layout") == "bsnd";
  call.activate_left = parameters.flag("activate_left");
  call.maximize = parameters.flag("maximize");
  call.slice_k = parameters.choice("slice") == "k";
  if (parameters.choice("bias") != "none") call.bias_dtype = parameters.choice("bias");
  call.splits = static_cast<std::uint32_t>(parameters.integer("splits"));
  call.sets = static_cast<std::uint32_t>(parameters.integer("sets"));
  call.tile = static_cast<std::uint32_t>(parameters.integer("tile"));
  call.cores = static_cast<std::uint32_t>(parameters.integer("cores"));
  return call;
}

Status check_call_numbers(const ParameterSet& parameters) {
  for (const auto* const name : kCallNumbers) {
    if (call_number(parameters, name)) continue;
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: found '{}'; allowed: a number", name,
                                                         shortened(parameters.choice(name))));
  }
  return {};
}

std::vector<ParameterSpec> operator_parameters() {
  const std::vector<std::string> types{"float16", "bfloat16", "float32", "int8", "int32", "int64"};
  const std::vector<std::string> outs{"auto", "float16", "bfloat16", "float32",
                                      "int8", "int32",   "int64"};
  std::vector<ParameterSpec> parameters{
      {"name", ParameterType::kText, "", "basic_matmul",
       "of the operator; `npusim operators` lists them"},
      list_by_place({"shape", ParameterType::kIntegerList, "", "256,256,256",
                     "of the operator's sides, as `npusim operators` names them", 0, kMostSide}),
      choice_parameter("dtype", "float16", "of the inputs", types),
      choice_parameter("out_dtype", "auto",
                       "of the result; auto: int32 of int8, float32 of "
                       "quant_matmul, int8 of what quantises, else dtype",
                       outs),
      {"transpose_a", ParameterType::kFlag, "", "off", "A lies as k x m"},
      {"transpose_b", ParameterType::kFlag, "", "off", "B lies as n x k"},
      choice_parameter("format_a", "ND", "of A; NZ: in fractals", {"ND", "NZ"}),
      choice_parameter("format_b", "ND", "of B", {"ND", "NZ"}),
      {"expression", ParameterType::kText, "", "a*s+b",
       "of elementwise, over a to d, s=0.5, s1=2, s2=-1, s3=4 (docs/writing-an-operator.md); of "
       "broadcast over a and b"},
      list_by_place({"other_shape", ParameterType::kIntegerList, "", "1",
                     "of broadcast, where, comparisons and so on: sides of b; shape has those of a",
                     0, kMostSide}),
      list_by_place({"order", ParameterType::kIntegerList, "", "1,0",
                     "of transpose: axis i of the result is this one of x", 0, 7}),
      {"epsilon", ParameterType::kText, "", "1e-6", "a number of norms and of one's own operators"},
      {"scale", ParameterType::kText, "", "1",
       "a number of quant_matmul, flash_attention and one's own operators"},
      {"value", ParameterType::kText, "", "0.5",
       "a number of pad and of one's own operators; s of expressions"},
      {"maximize", ParameterType::kFlag, "", "off", "apply_adam_w: against the gradient"},
      {"activate_left", ParameterType::kFlag, "", "on",
       "dequant_swiglu_quant: silu is of the left half of each row"},
      {"quant_scales", ParameterType::kFlag, "", "off",
       "dequant_swiglu_quant: each column has a number before it is quantised"},
      choice_parameter("scales", "both",
                       "of quant_matmul: of rows and columns, of columns, one for all",
                       {"both", "columns", "one"}),
      choice_parameter("bias", "none",
                       "of products, by its type: float32 or float16 of reals, int32 of int8; "
                       "quant_matmul adds reals last",
                       {"none", "float16", "bfloat16", "float32", "int32"}),
      {"causal", ParameterType::kFlag, "", "off",
       "flash_attention: the last query sees all keys, query i the first keys - queries + i + 1"},
      {"whole_mask", ParameterType::kFlag, "", "off",
       "causal flash_attention: keys that no query sees are multiplied, too, as with a mask of all "
       "queries and keys"},
      choice_parameter("layout", "bnsd", "of flash_attention: b batch, n heads, s rows, d head",
                       {"bnsd", "bsnd"}),
      choice_parameter("slice", "m", "of grouped_matmul: groups are rows of A, or parts of k",
                       {"m", "k"}),
      list_by_place({"group_ends", ParameterType::kIntegerList, "", "0",
                     "of grouped_matmul: where each group ends; 0: groups of one size", 0,
                     1ULL << 31}),
      {"splits", ParameterType::kInteger, "", "0",
       "parts of k of splitk_matmul; 0: as many as keep cores busy", 0, 65'536}};
  const auto of_run = parameters_of_run();
  parameters.insert(parameters.end(), of_run.begin(), of_run.end());
  return parameters;
}

}  // namespace npu::workloads
