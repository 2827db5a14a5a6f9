// SPDX-License-Identifier: Apache-2.0
// Evaluates what a graph file says, with the first mistake kept as NodeReader does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workloads/task_graph/graph_spec.hpp"

namespace npu::workloads {

class Evaluator {
 public:
  // Parameters' values, then those of loops, innermost last.
  std::vector<std::int64_t> values;

  void refuse(const SourcePlace& place, const std::string& key, const std::string& problem);
  const std::optional<model::ConfigError>& mistake() const { return mistake_; }

  std::int64_t number(const PlacedExpression& expression);
  // Between `least` and `most`, else a mistake and `least`.
  std::int64_t number(const PlacedExpression& expression, const std::string& key,
                      std::int64_t least, std::int64_t most);
  std::string text(const NameTemplate& name);
  // Calls `body` for each round of the loops from `first` on, unless `when` is 0 there.
  void rounds(const std::vector<Loop>& loops, const std::optional<PlacedExpression>& when,
              const std::function<void()>& body, std::size_t first = 0);

 private:
  std::optional<model::ConfigError> mistake_;
  std::uint64_t rounds_ = 0;
};

}  // namespace npu::workloads
