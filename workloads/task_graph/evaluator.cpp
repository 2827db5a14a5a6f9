// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/evaluator.hpp"

namespace npu::workloads {
namespace {

// All rounds of a graph together: far more than a graph has tasks and edges.
constexpr std::uint64_t kMostRounds = 32'000'000;

}  // namespace

void Evaluator::refuse(const SourcePlace& place, const std::string& key,
                       const std::string& problem) {
  if (!mistake_) mistake_ = model::error_at(place, key, problem);
}

std::int64_t Evaluator::number(const PlacedExpression& expression) {
  const auto result = expression.expression.evaluate(values);
  if (result) return *result;
  SourcePlace place = expression.place;
  place.column += static_cast<int>(result.error().offset);
  refuse(place, "", result.error().problem);
  return 0;
}

std::int64_t Evaluator::number(const PlacedExpression& expression, const std::string& key,
                               std::int64_t least, std::int64_t most) {
  const std::int64_t value = number(expression);
  if (value >= least && value <= most) return value;
  refuse(expression.place, key,
         "is " + std::to_string(value) + "; allowed: " + std::to_string(least) + ".." +
             std::to_string(most));
  return least;
}

std::string Evaluator::text(const NameTemplate& name) {
  std::string text = name.pieces.front();
  for (std::size_t i = 0; i < name.expressions.size(); ++i) {
    text += std::to_string(number(name.expressions[i])) + name.pieces[i + 1];
  }
  return text;
}

void Evaluator::rounds(const std::vector<Loop>& loops, const std::optional<PlacedExpression>& when,
                       const std::function<void()>& body, std::size_t first) {
  if (first == loops.size()) {
    if ((!when || number(*when) != 0) && !mistake_) body();
    return;
  }
  const Loop& loop = loops[first];
  const std::int64_t begin = number(loop.first), end = number(loop.end);
  values.push_back(begin);
  for (std::int64_t i = begin; i < end && !mistake_; ++i) {
    if (++rounds_ > kMostRounds) {
      refuse(loop.end.place, "for", "more than " + std::to_string(kMostRounds) + " rounds in all");
    }
    values.back() = i;
    rounds(loops, when, body, first + 1);
  }
  values.pop_back();
}

}  // namespace npu::workloads
