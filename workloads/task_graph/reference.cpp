// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/reference.hpp"

#include <algorithm>
#include <cmath>

namespace npu::workloads {
namespace {

// `sample` of 0 .. count - 1, the first and the last among them if there are two.
std::vector<std::uint64_t> spread(std::uint64_t count, std::uint64_t sample) {
  std::vector<std::uint64_t> chosen;
  sample = std::min(sample, count);
  for (std::uint64_t i = 0; i < sample; ++i) {
    chosen.push_back(sample == 1 ? 0 : i * (count - 1) / (sample - 1));
  }
  return chosen;
}

// One row of queries against all keys of its sequence.
std::vector<double> attend(const AttentionProblem& p, std::uint64_t sequence, std::uint64_t row) {
  const std::uint64_t head = p.queries.columns;
  std::vector<double> weights;
  for (std::uint64_t block = 0; block < p.blocks; ++block) {
    const std::uint64_t first = p.page(sequence, block) * p.page_rows;
    for (std::uint64_t key = first; key < first + p.page_rows; ++key) {
      double sum = 0;
      for (std::uint64_t i = 0; i < head; ++i) {
        sum += double{p.queries.at(row, i)} * double{p.keys.at(key, i)};
      }
      weights.push_back(sum * p.scale);
    }
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (double& weight : weights) total += weight = std::exp(weight - largest);
  std::vector<double> output(p.values.columns);
  std::size_t next = 0;
  for (std::uint64_t block = 0; block < p.blocks; ++block) {
    const std::uint64_t first = p.page(sequence, block) * p.page_rows;
    for (std::uint64_t key = first; key < first + p.page_rows; ++key) {
      const double weight = weights[next++] / total;
      for (std::uint64_t i = 0; i < output.size(); ++i) {
        output[i] += weight * double{p.values.at(key, i)};
      }
    }
  }
  return output;
}

}  // namespace

ExpectedRows reference_matmul(const Matrix& a, const Matrix& b, bool relu) {
  constexpr std::uint64_t kWork = 1ULL << 30;
  const std::uint64_t per_row = std::max<std::uint64_t>(b.rows * b.columns, 1);
  ExpectedRows expected;
  expected.rows = spread(a.rows, std::max<std::uint64_t>(kWork / per_row, 2));
  expected.values = {expected.rows.size(), b.columns, {}};
  std::vector<double> sums(b.columns);
  for (const auto row : expected.rows) {
    std::fill(sums.begin(), sums.end(), 0);
    for (std::uint64_t i = 0; i < a.columns; ++i) {
      const double factor = a.at(row, i);
      for (std::uint64_t j = 0; j < b.columns; ++j) sums[j] += factor * double{b.at(i, j)};
    }
    for (const double sum : sums) {
      expected.values.values.push_back(static_cast<float>(relu ? std::max(sum, 0.0) : sum));
    }
  }
  return expected;
}

ExpectedRows reference_attention(const AttentionProblem& problem, std::uint64_t sample) {
  ExpectedRows expected;
  expected.values.columns = problem.values.columns;
  for (const auto sequence : spread(problem.queries.rows / problem.rows, sample)) {
    for (std::uint64_t i = 0; i < problem.rows; ++i) {
      const std::uint64_t row = sequence * problem.rows + i;
      expected.rows.push_back(row);
      for (const double value : attend(problem, sequence, row)) {
        expected.values.values.push_back(static_cast<float>(value));
      }
    }
  }
  expected.values.rows = expected.rows.size();
  return expected;
}

}  // namespace npu::workloads
