// SPDX-License-Identifier: Apache-2.0
// The tensors of an operator's call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/operators/call.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {

// `count` matrices; their elements are exact_value()s.
struct OperatorTensor {
  std::uint64_t rows = 1, columns = 0;
  std::string layout = "RowMajor";
  DataType type{};
  std::uint64_t count = 1;
  bool given = true;
  bool positive = false;                        // sizes of exact_value()s, and a 64th more
  std::optional<double> number = std::nullopt;  // all elements are this one
  std::uint64_t indices_below = 0;              // elements are index_of()s of so many rows
  // Not 0: strictly lower triangular squares of this side, beside each other.
  std::uint64_t lower = 0;
};

// In the order of the operator's row.
struct OperatorTensors {
  std::vector<OperatorTensor> inputs, results;
  bool in_place = false;  // results lie where the first inputs do
};

struct OperatorOptions {
  // Of a grouped product, as many as there are groups, each not before the one before and within
  // the side that is sliced; empty: groups of about one size.
  std::vector<std::uint64_t> group_ends;
  bool quant_scales = false;                        // of dequant_swiglu_quant
  bool channel_scales = true, token_scales = true;  // of quant_matmul
  std::uint64_t calls = 1;                          // before the check, of what changes in place
};

// Of row i of a table, from its end on; `once`: -1 if there are none left.
constexpr std::int64_t index_of(std::uint64_t i, std::uint64_t below, bool once) {
  return once && i >= below ? -1 : static_cast<std::int64_t>(below - 1 - i % below);
}

// A product has a bias if the call names its type.
OperatorTensors tensors_of(const operators::NormalisedCall& call, const OperatorOptions& options);

}  // namespace npu::workloads
