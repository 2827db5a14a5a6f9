// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/kernel_table.hpp"

#include <fmt/format.h>

#include "kernels/device/shipped/attention.hpp"
#include "kernels/device/shipped/elementwise.hpp"
#include "kernels/device/shipped/matmul.hpp"
#include "kernels/device/shipped/matmul_relu.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {
namespace {

using platform::DataType;
using platform::VectorOp;

KernelWords wrong(std::size_t argument, std::string problem) {
  KernelWords words;
  words.problem = std::move(problem);
  words.argument = argument;
  return words;
}

std::string shape_of(const Tile& tile) {
  return fmt::format("{} x {} {}", tile.rows, tile.columns, name_of(tile.type));
}

// Empty, or what is wrong with the tile.
std::string misfit(const Tile& tile, std::uint32_t rows, std::uint32_t columns) {
  if (tile.rows == rows && tile.columns == columns) return {};
  return fmt::format("is {}; {} x {} is needed", shape_of(tile), rows, columns);
}
std::string misfit(const Tile& tile, DataType type) {
  if (tile.type == type) return {};
  return fmt::format("is {}; {} is needed", shape_of(tile), name_of(type));
}
std::string misfit(const Tile& tile, std::uint32_t rows, std::uint32_t columns, DataType type) {
  std::string shape = misfit(tile, rows, columns);
  return shape.empty() ? misfit(tile, type) : shape;
}

// Words that are addresses of the arguments named, the others scalars.
template <class Words>
KernelWords with_addresses(const Words& words, const BoundArguments& arguments,
                           std::initializer_list<std::pair<unsigned, unsigned>> word_argument) {
  KernelWords made;
  for (const auto word : words) made.words.push_back(driver::scalar(word));
  for (const auto& [word, argument] : word_argument) {
    if (arguments[argument].given) made.words[word] = arguments[argument].address();
  }
  return made;
}

kernels::gemm::Problem multiplication(const Tile& a, const Tile& b, const Tile& c) {
  kernels::gemm::Problem p;
  p.m = a.rows;
  p.k = p.lda = a.columns;
  p.n = p.ldb = p.ldc = b.columns;
  p.type = a.type;
  p.to_type = c.type;
  p.tiling = kernels::gemm::usual_tiling(p.type);
  return p;
}

KernelWords matmul_words(const BoundArguments& arguments) {
  const Tile &a = arguments[0].tile, &b = arguments[1].tile, &c = arguments[2].tile;
  if (const auto problem = misfit(b, a.columns, b.columns, a.type); !problem.empty()) {
    return wrong(1, problem);
  }
  if (const auto problem = misfit(c, a.rows, b.columns); !problem.empty()) return wrong(2, problem);
  const bool integers = a.type == DataType::kInt8;
  if (a.type == DataType::kInt32) return wrong(0, "is int32, which the cube cannot multiply");
  if (integers != (c.type == DataType::kInt32)) {
    return wrong(2, "int8 multiplies to int32, everything else to floating point");
  }
  const auto words = kernels::gemm::to_words(multiplication(a, b, c));
  return with_addresses(words, arguments, {{0, 0}, {1, 1}, {2, 2}});
}

KernelWords matmul_relu_words(const BoundArguments& arguments) {
  const Tile &a = arguments[0].tile, &b = arguments[1].tile;
  if (const auto problem = misfit(b, a.columns, b.columns, a.type); !problem.empty()) {
    return wrong(1, problem);
  }
  if (a.type == DataType::kInt8 || a.type == DataType::kInt32) {
    return wrong(0, "is of integers; a floating point type is needed");
  }
  for (const unsigned i : {2U, 3U}) {
    const auto problem = misfit(arguments[i].tile, a.rows, b.columns, DataType::kFp32);
    if (!problem.empty()) return wrong(i, problem);
  }
  const auto words = kernels::gemm::to_words(multiplication(a, b, arguments[2].tile));
  auto made = with_addresses(words, arguments, {{0, 0}, {1, 1}, {2, 2}});
  made.words.push_back(arguments[3].address());
  return made;
}

KernelWords elementwise_words(const BoundArguments& arguments) {
  const auto &operation = arguments[0], &to = arguments[1], &a = arguments[2], &b = arguments[3];
  unsigned operands = 0;
  for (const auto& known : vector_operations()) {
    if (known.operation == operation.operation) operands = known.operands;
  }
  if (operands >= 1 && !a.given) return wrong(2, "is missing");
  if (operands >= 2 && !b.given) return wrong(3, "is missing");
  if (operands < 2 && b.given) return wrong(3, "this operation has one operand");
  for (const unsigned i : {2U, 3U}) {
    if (!arguments[i].given) continue;
    const auto problem = misfit(arguments[i].tile, to.tile.rows, to.tile.columns, to.tile.type);
    if (!problem.empty()) return wrong(i, problem);
  }
  kernels::vector::Elementwise work;
  work.count = to.tile.elements();
  work.op = operation.operation;
  work.type = to.tile.type;
  work.scalar = static_cast<float>(arguments[4].number);
  // An operation without operands loads what it is about to overwrite.
  work.a = to.tile.address;
  return with_addresses(kernels::vector::to_words(work), arguments, {{0, 1}, {1, 2}, {2, 3}});
}

KernelWords scores_words(const BoundArguments& arguments) {
  const Tile &queries = arguments[0].tile, &keys = arguments[1].tile, &to = arguments[2].tile;
  if (queries.type != DataType::kFp16 && queries.type != DataType::kBf16 &&
      queries.type != DataType::kFp32) {
    return wrong(0, "is of integers; a floating point type is needed");
  }
  auto problem = misfit(keys, keys.rows, queries.columns, queries.type);
  if (!problem.empty()) return wrong(1, problem);
  problem = misfit(to, queries.rows, keys.rows, DataType::kFp32);
  if (!problem.empty()) return wrong(2, problem);
  kernels::attention::Scores work;
  work.rows = queries.rows;
  work.count = keys.rows;
  work.head = queries.columns;
  work.type = queries.type;
  const std::uint64_t words[] = {0, 0, 0, work.shape(), work.depth()};
  return with_addresses(words, arguments, {{0, 0}, {1, 1}, {2, 2}});
}

KernelWords softmax_words(const BoundArguments& arguments) {
  const Tile &scores = arguments[0].tile, &weights = arguments[1].tile;
  auto problem = misfit(scores, DataType::kFp32);
  if (!problem.empty()) return wrong(0, problem);
  problem = misfit(weights, scores.rows, scores.columns);
  if (!problem.empty()) return wrong(1, problem);
  problem = misfit(arguments[2].tile, 2, scores.rows, DataType::kFp32);
  if (!problem.empty()) return wrong(2, problem);
  kernels::attention::Softmax work;
  work.rows = scores.rows;
  work.count = scores.columns;
  work.type = weights.type;
  if (arguments[3].given) work.scale = static_cast<float>(arguments[3].number);
  const std::uint64_t words[] = {
      0, 0, 0, work.shape(), static_cast<std::uint64_t>(work.type), work.scale_bits()};
  return with_addresses(words, arguments, {{0, 0}, {1, 1}, {2, 2}});
}

KernelWords update_words(const BoundArguments& arguments) {
  const Tile& output = arguments[0].tile;
  auto problem = misfit(output, DataType::kFp32);
  if (!problem.empty()) return wrong(0, problem);
  problem = misfit(arguments[2].tile, output.rows, output.columns, DataType::kFp32);
  if (!problem.empty()) return wrong(2, problem);
  for (const unsigned i : {1U, 3U}) {
    problem = misfit(arguments[i].tile, 2, output.rows, DataType::kFp32);
    if (!problem.empty()) return wrong(i, problem);
  }
  kernels::attention::Update work;
  work.rows = output.rows;
  work.head = output.columns;
  work.first = arguments[4].integer != 0;
  work.last = arguments[5].integer != 0;
  const std::uint64_t words[] = {0, 0, 0, 0, work.shape(), work.place()};
  return with_addresses(words, arguments, {{0, 0}, {1, 1}, {2, 2}, {3, 3}});
}

}  // namespace

const std::vector<Kernel>& kernel_table() {
  using Type = ArgumentType;
  using driver::TaskShape;
  static const std::vector<Kernel> kTable = {
      {"matmul",
       TaskShape::kAic,
       {{"a", Type::kRead, true}, {"b", Type::kRead, true}, {"c", Type::kWrite, true}},
       matmul_words},
      {"elementwise",
       TaskShape::kAiv,
       {{"op", Type::kOperation, true},
        {"to", Type::kWrite, true},
        {"a", Type::kRead, false},
        {"b", Type::kRead, false},
        {"scalar", Type::kNumber, false}},
       elementwise_words},
      {"attention_scores",
       TaskShape::kAic,
       {{"queries", Type::kRead, true},
        {"keys", Type::kRead, true},
        {"scores", Type::kWrite, true}},
       scores_words},
      {"attention_softmax",
       TaskShape::kAiv,
       {{"scores", Type::kRead, true},
        {"weights", Type::kWrite, true},
        {"statistics", Type::kWrite, true},
        {"scale", Type::kNumber, false}},
       softmax_words},
      {"attention_update",
       TaskShape::kAiv,
       {{"output", Type::kUpdate, true},
        {"total", Type::kUpdate, true},
        {"values", Type::kRead, true},
        {"statistics", Type::kRead, true},
        {"first", Type::kInteger, true},
        {"last", Type::kInteger, true}},
       update_words},
      {"matmul_relu",
       TaskShape::kMixed,
       {{"a", Type::kRead, true},
        {"b", Type::kRead, true},
        {"c", Type::kWrite, true},
        {"d", Type::kWrite, true}},
       matmul_relu_words},
  };
  return kTable;
}

const Kernel* find_kernel(std::string_view name) {
  for (const auto& kernel : kernel_table()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

driver::KernelId id_of(const Kernel& kernel) {
  return {static_cast<std::uint32_t>(&kernel - kernel_table().data())};
}

const std::vector<NamedOperation>& vector_operations() {
  static const std::vector<NamedOperation> kOperations = {
      {"add", VectorOp::kAdd, 2},
      {"sub", VectorOp::kSub, 2},
      {"mul", VectorOp::kMul, 2},
      {"div", VectorOp::kDiv, 2},
      {"max", VectorOp::kMax, 2},
      {"min", VectorOp::kMin, 2},
      {"adds", VectorOp::kAdds, 1},
      {"muls", VectorOp::kMuls, 1},
      {"maxs", VectorOp::kMaxs, 1},
      {"mins", VectorOp::kMins, 1},
      {"exp", VectorOp::kExp, 1},
      {"ln", VectorOp::kLn, 1},
      {"sqrt", VectorOp::kSqrt, 1},
      {"rsqrt", VectorOp::kRsqrt, 1},
      {"abs", VectorOp::kAbs, 1},
      {"relu", VectorOp::kRelu, 1},
      {"copy", VectorOp::kCopy, 1},
      {"reciprocal", VectorOp::kReciprocal, 1},
      {"duplicate", VectorOp::kDuplicate, 0},
  };
  return kOperations;
}

}  // namespace npu::workloads
