// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/attention_reference.hpp"

#include <algorithm>

#include "kernels/operators/operations.hpp"
#include "workloads/programs/support/row_reference.hpp"

namespace npu::workloads {

double dot(const double* a, std::uint64_t step_a, const double* b, std::uint64_t step_b,
           std::uint64_t count) {
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += a[i * step_a] * b[i * step_b];
  return sum;
}

std::vector<double> attention_reference(const operators::NormalisedCall& call,
                                        const std::vector<double>& q, const std::vector<double>& k,
                                        const std::vector<double>& v) {
  const auto& side = call.sides;
  const std::uint64_t heads = side[1], kv = side[2], queries = side[3], keys = side[4],
                      width = side[5];
  const bool inside = call.call.heads_inside;
  const std::uint64_t key_pitch = inside ? kv * width : width;
  std::vector<double> to;
  to.reserve(side[0] * heads * queries * width);
  for (std::uint64_t row = 0; row < side[0] * heads * queries; ++row) {
    const std::uint64_t batch = row / (heads * queries);
    const std::uint64_t head = inside ? row % heads : row / queries % heads;
    const std::uint64_t query = inside ? row / heads % queries : row % queries;
    const std::uint64_t group = head / (heads / kv);
    const std::uint64_t seen = operators::keys_seen(call, query);
    const std::uint64_t first = (batch * kv * keys + group * (inside ? 1 : keys)) * width;
    const double* const group_keys = k.data() + first;
    const double* const group_values = v.data() + first;
    std::vector<double> part;
    part.reserve(seen);
    for (std::uint64_t key = 0; key < seen; ++key) {
      const double score = dot(q.data() + row * width, 1, group_keys + key * key_pitch, 1, width);
      part.push_back(call.call.scale * score);
    }
    const double sum = seen == 0 ? 1 : exponentials(part);
    for (std::uint64_t i = 0; i < width; ++i) {
      to.push_back(dot(part.data(), 1, group_values + i, key_pitch, seen) / sum);
    }
  }
  return to;
}

}  // namespace npu::workloads
