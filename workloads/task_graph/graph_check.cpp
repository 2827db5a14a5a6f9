// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/graph_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/programs/support/elements.hpp"
#include "workloads/task_graph/evaluator.hpp"
#include "workloads/task_graph/reference.hpp"

namespace npu::workloads {
namespace {

class Checker {
 public:
  Checker(const GraphSpec& spec, const std::vector<Tensor>& tensors, const ReadTensor& read)
      : spec_(spec), tensors_(tensors), read_(read) {
    values_.values = spec.values;
  }

  Status run(const TensorCheck& check, CheckOutcome& outcome) {
    const Tensor& tensor = tensors_[check.tensor];
    auto expected = check.equals ? constant(check, tensor) : formula(check, tensor);
    if (!expected) return forward_error(expected);
    auto bytes = read_(tensor);
    if (!bytes) return forward_error(bytes);
    return compare(check, *expected, decode(tensor, *bytes), outcome);
  }

 private:
  tl::unexpected<Error> refuse(const TensorCheck& check, const std::string& problem) const {
    return fail(ErrorCode::kInvalidArgument,
                model::error_at(check.place, "check.tensors", problem).message());
  }

  Result<ExpectedRows> constant(const TensorCheck& check, const Tensor& tensor) const {
    auto matrix = evaluate(spec_, tensor, *check.equals);
    if (!matrix) return fail(ErrorCode::kInvalidArgument, matrix.error().message());
    ExpectedRows expected;
    for (std::uint64_t row = 0; row < tensor.rows; ++row) expected.rows.push_back(row);
    expected.values = std::move(*matrix);
    return expected;
  }

  // As it was sent to the card: rounded to the tensor's type.
  Result<Matrix> initial(const TensorCheck& check, const std::string& argument) const {
    const Tensor& tensor = tensors_[check.tensors.at(argument)];
    if (!tensor.spec->contents) {
      return refuse(check, "'" + tensor.spec->name + "' has no contents to compute with");
    }
    auto matrix = evaluate(spec_, tensor, *tensor.spec->contents);
    if (!matrix) return fail(ErrorCode::kInvalidArgument, matrix.error().message());
    return decode(tensor, encode(tensor, *matrix));
  }

  Result<ExpectedRows> formula(const TensorCheck& check, const Tensor& tensor) {
    auto expected = check.formula == "attention" ? attention(check) : product(check);
    if (!expected) return expected;
    const bool inside = expected->rows.empty() || expected->rows.back() < tensor.rows;
    if (!inside || expected->values.columns != tensor.columns) {
      return refuse(check, "the formula has another shape than '" + tensor.spec->name + "'");
    }
    return expected;
  }

  Result<ExpectedRows> product(const TensorCheck& check) const {
    const auto a = initial(check, "a"), b = initial(check, "b");
    if (!a) return forward_error(a);
    if (!b) return forward_error(b);
    if (a->columns != b->rows) return refuse(check, "a's columns are not b's rows");
    return reference_matmul(*a, *b, check.formula == "matmul_relu");
  }

  Result<ExpectedRows> attention(const TensorCheck& check) {
    const auto queries = initial(check, "queries"), keys = initial(check, "keys"),
               values = initial(check, "values");
    for (const auto* matrix : {&queries, &keys, &values}) {
      if (!*matrix) return forward_error(*matrix);
    }
    const Tensor& pages = tensors_[check.tensors.at("keys")];
    if (keys->columns != queries->columns || values->rows != keys->rows) {
      return refuse(check, "queries, keys and values do not fit each other");
    }
    values_.values = spec_.values;
    values_.values.resize(spec_.values.size() + 2);
    AttentionProblem problem{*queries, *keys, *values};
    problem.rows = tensors_[check.tensors.at("queries")].tile_rows;
    problem.page_rows = pages.tile_rows;
    constexpr std::int64_t kMost = 1 << 20;
    problem.blocks = positive(check, "blocks", kMost);
    problem.scale = check.numbers.at("scale");
    problem.page = [&](std::uint64_t sequence, std::uint64_t block) {
      values_.values[spec_.values.size()] = static_cast<std::int64_t>(sequence);
      values_.values.back() = static_cast<std::int64_t>(block);
      const auto last = static_cast<std::int64_t>(pages.grid_rows()) - 1;
      return static_cast<std::uint64_t>(
          values_.number(check.integers.at("page"), "check.page", 0, last));
    };
    auto expected = reference_attention(problem, positive(check, "sample", kMost));
    if (values_.mistake()) {
      return fail(ErrorCode::kInvalidArgument, values_.mistake()->message());
    }
    return expected;
  }
  std::uint64_t positive(const TensorCheck& check, const std::string& name, std::int64_t most) {
    return static_cast<std::uint64_t>(
        values_.number(check.integers.at(name), "check." + name, 1, most));
  }

  static Status compare(const TensorCheck& check, const ExpectedRows& expected, const Matrix& found,
                        CheckOutcome& outcome) {
    double largest = 0;
    for (const float value : expected.values.values) {
      largest = std::max(largest, finite_size(double{value}));
    }
    double worst = 0;
    std::uint64_t worst_row = 0, worst_column = 0;
    std::size_t next = 0;
    for (const auto row : expected.rows) {
      for (std::uint64_t column = 0; column < found.columns; ++column) {
        const double error =
            distance_of(double{found.at(row, column)}, double{expected.values.values[next++]});
        if (error <= worst) continue;
        worst = error;
        worst_row = row;
        worst_column = column;
      }
    }
    const double relative = largest > 0 ? worst / largest : worst;
    outcome.elements += next;
    outcome.largest_error = std::max(outcome.largest_error, relative);
    if (relative <= check.tolerance) return {};
    const auto at = static_cast<std::size_t>(
        std::find(expected.rows.begin(), expected.rows.end(), worst_row) - expected.rows.begin());
    return fail(ErrorCode::kWrongData,
                fmt::format("{}:{}: element ({}, {}) is {}, expected {}; the error of {:.3g} "
                            "exceeds {:.3g} of the largest value expected",
                            check.place.file, check.place.line, worst_row, worst_column,
                            found.at(worst_row, worst_column), expected.values.at(at, worst_column),
                            relative, check.tolerance));
  }

  const GraphSpec& spec_;
  const std::vector<Tensor>& tensors_;
  const ReadTensor& read_;
  Evaluator values_;
};

}  // namespace

Result<CheckOutcome> check_tensors(const GraphSpec& spec, const std::vector<Tensor>& tensors,
                                   const ReadTensor& read) {
  CheckOutcome outcome;
  Checker checker(spec, tensors, read);
  for (const auto& check : spec.check.tensors) {
    if (auto ok = checker.run(check, outcome); !ok) return forward_error(ok);
  }
  return outcome;
}

}  // namespace npu::workloads
