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

// The rows of a sequence's keys and values, page after page.
std::vector<std::uint64_t> rows_of(const AttentionProblem& p, std::uint64_t sequence) {
  std::vector<std::uint64_t> rows;
  rows.reserve(p.blocks * p.page_rows);
  for (std::uint64_t block = 0; block < p.blocks; ++block) {
    const std::uint64_t first = p.page(sequence, block) * p.page_rows;
    for (std::uint64_t i = 0; i < p.page_rows; ++i) rows.push_back(first + i);
  }
  return rows;
}

// Products of all queries of a sequence with each key: key by key, those of one key together. Loops
// over queries inside leave the order in which a sum grows, and turn into vector instructions.
std::vector<double> scores_of(const AttentionProblem& p, std::uint64_t sequence,
                              const std::vector<std::uint64_t>& keys) {
  const std::uint64_t head = p.queries.columns;
  std::vector<double> queries(head * p.rows), scores(keys.size() * p.rows);
  for (std::uint64_t row = 0; row < p.rows; ++row) {
    for (std::uint64_t i = 0; i < head; ++i) {
      queries[i * p.rows + row] = p.queries.at(sequence * p.rows + row, i);
    }
  }
  double* sums = scores.data();
  for (const auto key : keys) {
    for (std::uint64_t i = 0; i < head; ++i) {
      const double factor = p.keys.at(key, i);
      const double* const query = queries.data() + i * p.rows;
      for (std::uint64_t row = 0; row < p.rows; ++row) sums[row] += query[row] * factor;
    }
    for (std::uint64_t row = 0; row < p.rows; ++row) sums[row] *= p.scale;
    sums += p.rows;
  }
  return scores;
}

// Of each row of `rows` beside each other.
void softmax(std::vector<double>& scores, std::uint64_t rows) {
  for (std::uint64_t row = 0; row < rows; ++row) {
    double largest = scores[row], total = 0;
    for (std::size_t i = row; i < scores.size(); i += rows) largest = std::max(largest, scores[i]);
    for (std::size_t i = row; i < scores.size(); i += rows) {
      total += scores[i] = std::exp(scores[i] - largest);
    }
    for (std::size_t i = row; i < scores.size(); i += rows) scores[i] /= total;
  }
}

// The rows of one sequence, each against all its keys.
std::vector<double> attend(const AttentionProblem& p, std::uint64_t sequence) {
  const auto rows = rows_of(p, sequence);
  auto weights = scores_of(p, sequence, rows);
  softmax(weights, p.rows);
  const std::uint64_t width = p.values.columns;
  std::vector<double> output(p.rows * width), value(width);
  const double* weight = weights.data();
  for (const auto from : rows) {
    std::copy_n(p.values.values.data() + from * width, width, value.data());
    for (std::uint64_t row = 0; row < p.rows; ++row, ++weight) {
      double* const to = output.data() + row * width;
      for (std::uint64_t i = 0; i < width; ++i) to[i] += *weight * value[i];
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
      expected.rows.push_back(sequence * problem.rows + i);
    }
    for (const double value : attend(problem, sequence)) {
      expected.values.values.push_back(static_cast<float>(value));
    }
  }
  expected.values.rows = expected.rows.size();
  return expected;
}

}  // namespace npu::workloads
