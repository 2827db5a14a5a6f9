// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "workloads/programs/support/plain_tensors.hpp"

namespace npu::workloads::plain_tensors {
namespace {

using operators::NormalisedCall;

// Of rows of x the first k ones.
TensorsOf chosen_tensors(const NormalisedCall& call) {
  const std::uint64_t rows = call.sides[0];
  const TensorOf x{rows, call.sides[1], call.type};
  if (call.sides.size() == 2) return {{x}, {{1, rows, DataType::kInt32}}};
  const std::uint64_t k = call.sides[2];
  return {{x}, {{rows, k, call.type}, {rows, k, DataType::kInt32}}};
}
Results chosen(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t columns = call.sides[1];
  const bool values = call.sides.size() > 2;
  const std::uint64_t k = values ? call.sides[2] : 1;
  const bool smallest = call.row->name == "argmin" || call.row->name == "bottom_k";
  Results to(values ? 2 : 1);
  for (std::uint64_t row = 0; row < call.sides[0]; ++row) {
    const double* const x = in[0].data() + row * columns;
    std::vector<std::uint64_t> places(columns);
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), [&](std::uint64_t a, std::uint64_t b) {
      return smallest ? x[a] < x[b] : x[a] > x[b];
    });
    for (std::uint64_t i = 0; i < k; ++i) {
      if (values) to[0].push_back(x[places[i]]);
      to.back().push_back(static_cast<double>(places[i]));
    }
  }
  return to;
}

TensorsOf reduced_tensors(const NormalisedCall& call) {
  return {{{call.sides[0] * call.sides[1], call.sides[2], call.type}},
          {{call.sides[0], call.sides[2], call.out_type}}};
}
Results reduced(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t axis = call.sides[1], inner = call.sides[2];
  const std::string_view how = call.row->name.substr(call.row->name.find('_') + 1);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const double first = how == "max" ? -kNone : how == "min" ? kNone : how == "prod" ? 1 : 0;
  TensorValues to(call.sides[0] * inner, first);
  for (std::uint64_t i = 0; i < in[0].size(); ++i) {
    double& sum = to[i / inner / axis * inner + i % inner];
    const double x = in[0][i];
    sum = how == "max"    ? std::max(sum, x)
          : how == "min"  ? std::min(sum, x)
          : how == "prod" ? sum * x
                          : sum + x;
  }
  // What is too small for the type is 0, whatever else there is.
  if (how == "prod") {
    for (double& sum : to) sum = rounded_to(call.out_type, sum);
  }
  if (how == "mean") {
    for (double& sum : to) sum /= static_cast<double>(axis);
  }
  return {to};
}

TensorsOf turned_tensors(const NormalisedCall& call) {
  const std::uint64_t tokens = call.sides[0], head = call.sides[2];
  const TensorOf x{tokens, call.sides[1] * head, call.type}, table{tokens, head, call.type};
  return {{x, table, table}, {{x.rows, x.columns, call.out_type}}};
}
Results turned(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t heads = call.sides[1], head = call.sides[2];
  const bool neighbours = call.row->name == "rope_interleaved";
  TensorValues to(in[0].size());
  for (std::uint64_t i = 0; i < to.size(); ++i) {
    const std::uint64_t d = i % head, first = i - d, token = i / head / heads;
    const bool second = neighbours ? d % 2 != 0 : d >= head / 2;
    const std::uint64_t step = neighbours ? 1 : head / 2;
    const double other = second ? in[0][first + d - step] : -in[0][first + d + step];
    to[i] = in[0][i] * in[1][token * head + d] + other * in[2][token * head + d];
  }
  return {to};
}

TensorsOf joined_tensors(const NormalisedCall& call) {
  TensorsOf all;
  std::uint64_t axis = 0;
  for (std::size_t i = 2; i < call.sides.size(); ++i) {
    all.inputs.push_back({call.sides[0], call.sides[i] * call.sides[1], call.type});
    axis += call.sides[i];
  }
  all.results.push_back({call.sides[0], axis * call.sides[1], call.out_type});
  return all;
}
Results joined(const NormalisedCall& call, const Inputs& in) {
  TensorValues to;
  for (std::uint64_t outer = 0; outer < call.sides[0]; ++outer) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::uint64_t count = call.sides[i + 2] * call.sides[1];
      const auto from = in[i].begin() + static_cast<std::ptrdiff_t>(outer * count);
      to.insert(to.end(), from, from + static_cast<std::ptrdiff_t>(count));
    }
  }
  return {to};
}

TensorsOf sliced_tensors(const NormalisedCall& call) {
  const auto& side = call.sides;
  const bool pads = call.row->name == "pad";
  const std::uint64_t count = pads ? side[1] + side[3] + side[4] : side[4];
  return {{{side[0], side[1] * side[2], call.type}}, {{side[0], count * side[2], call.out_type}}};
}
Results sliced(const NormalisedCall& call, const Inputs& in) {
  const auto& side = call.sides;
  TensorValues to;
  for (std::uint64_t i = 0; i < side[0] * side[4] * side[2]; ++i) {
    const std::uint64_t outer = i / side[2] / side[4],
                        k = side[3] + i / side[2] % side[4] * side[5];
    to.push_back(in[0][(outer * side[1] + k) * side[2] + i % side[2]]);
  }
  return {to};
}
Results padded(const NormalisedCall& call, const Inputs& in) {
  const auto& side = call.sides;
  const std::uint64_t axis = side[1] + side[3] + side[4];
  TensorValues to;
  for (std::uint64_t i = 0; i < side[0] * axis * side[2]; ++i) {
    const std::uint64_t outer = i / side[2] / axis, k = i / side[2] % axis;
    const bool inside = k >= side[3] && k < side[3] + side[1];
    double value{call.call.scalars[0]};
    if (inside) value = in[0][(outer * side[1] + k - side[3]) * side[2] + i % side[2]];
    to.push_back(rounded_to(call.type, value));
  }
  return {to};
}

}  // namespace

const std::vector<PlainOperator>& choosing_operators() {
  static const std::vector<PlainOperator> kAll{{"argmax", chosen_tensors, chosen},
                                               {"argmin", chosen_tensors, chosen},
                                               {"top_k", chosen_tensors, chosen},
                                               {"bottom_k", chosen_tensors, chosen},
                                               {"reduce_sum", reduced_tensors, reduced},
                                               {"reduce_mean", reduced_tensors, reduced},
                                               {"reduce_max", reduced_tensors, reduced},
                                               {"reduce_min", reduced_tensors, reduced},
                                               {"reduce_prod", reduced_tensors, reduced},
                                               {"rope_half", turned_tensors, turned},
                                               {"rope_interleaved", turned_tensors, turned},
                                               {"concat", joined_tensors, joined},
                                               {"slice", sliced_tensors, sliced},
                                               {"pad", sliced_tensors, padded}};
  return kAll;
}

}  // namespace npu::workloads::plain_tensors
