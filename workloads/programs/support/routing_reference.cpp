// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "workloads/programs/support/plain_tensors.hpp"
#include "workloads/programs/support/tensor_reference.hpp"

namespace npu::workloads::plain_tensors {
namespace {

using operators::NormalisedCall;

TensorsOf gating_tensors(const NormalisedCall& call) {
  const std::uint64_t rows = call.sides[0], experts = call.sides[1], k = call.sides[2];
  return {{{rows, experts, call.type}, {1, experts, DataType::kFp32}},
          {{rows, k, DataType::kFp32}, {rows, k, DataType::kInt32}}};
}

TensorValues scores_of(const double* logits, std::uint64_t experts, bool sigmoid) {
  TensorValues scores(logits, logits + experts);
  if (sigmoid) {
    for (double& each : scores) each = 1 / (1 + std::exp(-each));
    return scores;
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  for (double& each : scores) each = std::exp(each - largest);
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  for (double& each : scores) each /= sum;
  return scores;
}
// The first `count` places by size, of equal ones the first one first.
std::vector<std::uint64_t> largest_places(const TensorValues& keys, std::uint64_t count) {
  std::vector<std::uint64_t> places(keys.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return keys[a] > keys[b]; });
  places.resize(count);
  return places;
}
void keep_groups(TensorValues& keys, std::uint64_t groups, std::uint64_t kept) {
  const std::uint64_t size = keys.size() / groups;
  TensorValues worth;
  for (std::uint64_t group = 0; group < groups; ++group) {
    const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(group * size);
    TensorValues own(begin, begin + static_cast<std::ptrdiff_t>(size));
    std::sort(own.begin(), own.end(), std::greater<>());
    worth.push_back(own[0] + own[1]);
  }
  const auto best = largest_places(worth, kept);
  for (std::uint64_t i = 0; i < keys.size(); ++i) {
    if (std::find(best.begin(), best.end(), i / size) == best.end()) keys[i] -= 1e30;
  }
}
Results gated(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t experts = call.sides[1], k = call.sides[2];
  Results to(2);
  for (std::uint64_t row = 0; row < call.sides[0]; ++row) {
    const auto scores =
        scores_of(in[0].data() + row * experts, experts, call.row->name == "moe_gating_top_k");
    TensorValues keys = scores;
    for (std::uint64_t i = 0; i < experts; ++i) keys[i] += in[1][i];
    if (call.sides[4] < call.sides[3]) keep_groups(keys, call.sides[3], call.sides[4]);
    const auto places = largest_places(keys, k);
    double sum = 0;
    for (const auto place : places) sum += scores[place];
    for (const auto place : places) {
      to[0].push_back(scores[place] / (call.sides[5] != 0 ? sum : 1) * double{call.call.scale});
      to[1].push_back(static_cast<double>(place));
    }
  }
  return to;
}

TensorsOf routed_tensors(const NormalisedCall& call) {
  const std::uint64_t tokens = call.sides[0], columns = call.sides[1], k = call.sides[2];
  TensorOf experts{tokens, k, DataType::kInt32};
  experts.below = call.sides[3];
  return {{{tokens, columns, call.type}, experts},
          {{tokens * k, columns, call.type},
           {tokens, k, DataType::kInt32},
           {1, call.sides[5], DataType::kInt64}}};
}
// Rows that none of the experts has are not written.
Results routed(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t columns = call.sides[1], k = call.sides[2];
  const std::uint64_t first = call.sides[4], count = call.sides[5];
  const double none = not_written();
  Results to{TensorValues(in[1].size() * columns, none), TensorValues(in[1].size(), -1), {}};
  std::uint64_t next = 0;
  for (std::uint64_t expert = first; expert < first + count; ++expert) {
    for (std::uint64_t i = 0; i < in[1].size(); ++i) {
      if (in[1][i] != static_cast<double>(expert)) continue;
      std::copy_n(in[0].begin() + static_cast<std::ptrdiff_t>(i / k * columns), columns,
                  to[0].begin() + static_cast<std::ptrdiff_t>(next * columns));
      to[1][i] = static_cast<double>(next++);
    }
    to[2].push_back(static_cast<double>(next));
  }
  return to;
}

TensorsOf summed_tensors(const NormalisedCall& call) {
  const std::uint64_t tokens = call.sides[0], columns = call.sides[1], k = call.sides[2];
  TensorOf places{tokens, k, DataType::kInt32};
  places.below = tokens * k;
  return {{{tokens * k, columns, call.type},
           {tokens, k, DataType::kFp32},
           places,
           {tokens, columns, call.out_type}},
          {{tokens, columns, call.out_type}}};
}
Results summed(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t columns = call.sides[1], k = call.sides[2];
  TensorValues to = in[3];
  for (std::uint64_t choice = 0; choice < in[2].size(); ++choice) {
    if (in[2][choice] < 0) continue;
    const auto row = static_cast<std::uint64_t>(in[2][choice]);
    for (std::uint64_t i = 0; i < columns; ++i) {
      to[choice / k * columns + i] += in[1][choice] * in[0][row * columns + i];
    }
  }
  return {to};
}

}  // namespace

const std::vector<PlainOperator>& routing_operators() {
  static const std::vector<PlainOperator> kAll{{"moe_gating_top_k_softmax", gating_tensors, gated},
                                               {"moe_gating_top_k", gating_tensors, gated},
                                               {"moe_init_routing", routed_tensors, routed},
                                               {"moe_finalize_routing", summed_tensors, summed}};
  return kAll;
}

}  // namespace npu::workloads::plain_tensors
