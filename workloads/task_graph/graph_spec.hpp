// SPDX-License-Identifier: Apache-2.0
// A graph file (schema npusim.graph/1, workloads/graphs/README.md) as it was read: names resolved,
// expressions understood, nothing evaluated yet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/config/yaml_document.hpp"
#include "npu/driver/task_graph.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/task_graph/expression.hpp"
#include "workloads/task_graph/kernel_table.hpp"

namespace npu::workloads {

using model::SourcePlace;

// An expression, and where in the file its text begins.
struct PlacedExpression {
  Expression expression;
  SourcePlace place;
};

// Text with expressions in it: "qk_{i}_{j - 1}". Piece k stands before expression k.
struct NameTemplate {
  SourcePlace place;
  std::vector<std::string> pieces = {""};
  std::vector<PlacedExpression> expressions;
};

// A tensor, "c", or one of its tiles, "c[i]" and "c[i, j]".
struct TileReference {
  SourcePlace place;
  std::size_t tensor = 0;  // in GraphSpec::tensors
  std::vector<PlacedExpression> index;
};

// What an element is: a number, or the value of an integer expression over a number.
struct Contents {
  double number = 0;
  std::optional<PlacedExpression> expression;  // of the parameters, `row` and `column`
  double over = 1;
};

struct Loop {
  std::string variable;
  PlacedExpression first, end;  // first .. end - 1
};

struct TensorSpec {
  std::string name;
  SourcePlace place;
  DataType type = DataType::kFp32;
  PlacedExpression rows, columns;
  std::optional<std::pair<PlacedExpression, PlacedExpression>> tile;  // rows, columns of a tile
  std::optional<Contents> contents;                                   // none: as it was found
};

struct ArgumentSpec {
  SourcePlace place;
  std::optional<TileReference> tile;
  bool ordered = true;  // the task waits for the tile's writer
  std::optional<PlacedExpression> integer;
  double number = 0;
  platform::VectorOp operation = platform::VectorOp::kCopy;
};

struct AfterSpec {
  std::vector<Loop> loops;
  std::optional<PlacedExpression> when;
  NameTemplate task;
};

// A task, or entries that share loops.
struct TaskEntry {
  SourcePlace place;
  std::vector<Loop> loops;
  std::optional<PlacedExpression> when;
  std::vector<TaskEntry> group;  // not empty: the rest is not used

  std::optional<NameTemplate> name;
  const Kernel* kernel = nullptr;  // null: nothing runs
  driver::TaskShape shape = driver::TaskShape::kNone;
  PlacedExpression blocks;
  bool cooperative = false;
  std::optional<TileReference> predicate;
  std::vector<std::optional<ArgumentSpec>> arguments;  // as in Kernel::arguments
  std::vector<AfterSpec> after;
};

struct TensorCheck {
  SourcePlace place;
  std::size_t tensor = 0;
  std::optional<Contents> equals;
  // Else what the host computes: "matmul" of tensors a, b; "attention" of queries, keys, values.
  std::string formula;
  std::map<std::string, std::size_t> tensors;
  std::map<std::string, PlacedExpression> integers;
  std::map<std::string, double> numbers;
  double tolerance = 0;  // relative to the largest expected value of the tensor
};

struct CheckSpec {
  std::optional<PlacedExpression> tasks, edges, longest_path;
  std::vector<TensorCheck> tensors;
};

struct GraphSpec {
  std::string file;
  std::string about;
  std::vector<std::string> parameters;  // names, values in the same order
  std::vector<std::int64_t> values;
  std::vector<TensorSpec> tensors;
  std::vector<TaskEntry> tasks;
  CheckSpec check;
};

}  // namespace npu::workloads
