// SPDX-License-Identifier: Apache-2.0
// Contents, references and comparisons against values that are known in closed form.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/matchers.hpp"
#include "tests/unit/graphs/graph_text.hpp"
#include "workloads/task_graph/graph_check.hpp"
#include "workloads/task_graph/reference.hpp"

namespace npu::workloads {
namespace {

using test::FailsWith;
using test::must;
using testing::ElementsAre;

const std::string kTask = "tasks:\n  - name: t\n";

GraphSpec spec_of(const std::string& text) {
  auto spec = parse_graph(kHead + text, "g.yaml", "");
  EXPECT_TRUE(spec) << spec.error().message();
  return spec ? std::move(*spec) : GraphSpec{};
}

Matrix matrix(std::uint64_t rows, std::uint64_t columns, std::vector<float> values) {
  return {rows, columns, std::move(values)};
}

TEST(GraphCheck, ContentsFollowTheirExpressionAndTiles) {
  const auto spec = spec_of(
      "tensors:\n  x: {type: int8, rows: 2, columns: 4, tile: [1, 2], contents: {expression: row * "
      "10 + column}}\n" +
      kTask);
  const auto tensor = make_tensors(spec)->front();
  const auto values = must(evaluate(spec, tensor, *tensor.spec->contents));
  EXPECT_THAT(values.values, ElementsAre(0, 1, 2, 3, 10, 11, 12, 13));
  const auto bytes = encode(tensor, values);
  EXPECT_THAT(bytes, ElementsAre(std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3},
                                 std::byte{10}, std::byte{11}, std::byte{12}, std::byte{13}));
  EXPECT_EQ(decode(tensor, bytes).values, values.values);
}

TEST(GraphCheck, AColumnOfTilesChangesTheOrderInMemory) {
  const auto spec = spec_of(
      "tensors:\n  x: {type: int8, rows: 2, columns: 4, tile: [2, 2], contents: {expression: row * "
      "10 + column}}\n" +
      kTask);
  const auto tensor = make_tensors(spec)->front();
  const auto bytes = encode(tensor, *evaluate(spec, tensor, *tensor.spec->contents));
  EXPECT_THAT(bytes, ElementsAre(std::byte{0}, std::byte{1}, std::byte{10}, std::byte{11},
                                 std::byte{2}, std::byte{3}, std::byte{12}, std::byte{13}));
}

TEST(GraphCheck, AProductIsSumsOfProducts) {
  const auto a = matrix(2, 2, {1, 2, -3, 4}), b = matrix(2, 2, {5, 6, 7, 8});
  EXPECT_THAT(reference_matmul(a, b, false).values.values, ElementsAre(19, 22, 13, 14));
  const auto negative = matrix(2, 2, {-5, 6, 7, 8});
  EXPECT_THAT(reference_matmul(a, negative, true).values.values, ElementsAre(9, 22, 43, 14));
}

TEST(GraphCheck, AttentionToEqualKeysIsTheMeanOfTheValues) {
  const auto queries = matrix(1, 2, {3, -1}), keys = matrix(4, 2, {1, 1, 1, 1, 1, 1, 1, 1});
  const auto values = matrix(4, 1, {1, 2, 3, 10});
  AttentionProblem problem{
      queries, keys, values, 1,
      2,       2,    0.5,    [](std::uint64_t, std::uint64_t block) { return block; }};
  EXPECT_THAT(reference_attention(problem, 1).values.values, ElementsAre(4));
}

TEST(GraphCheck, AttentionWeightsAreExponentials) {
  // Scores 0 and ln 3: weights 1/4 and 3/4.
  const auto queries = matrix(1, 1, {1});
  const auto keys = matrix(2, 1, {0, static_cast<float>(std::log(3.0))});
  const auto values = matrix(2, 1, {4, 8});
  AttentionProblem problem{
      queries, keys, values, 1, 1, 2, 1, [](std::uint64_t, std::uint64_t block) { return block; }};
  EXPECT_FLOAT_EQ(reference_attention(problem, 1).values.values.at(0), 7);
}

class TensorCheckTest : public testing::Test {
 protected:
  Result<CheckOutcome> check(float found, double tolerance) {
    const auto spec = spec_of("tensors:\n  x: {type: fp32, rows: 1, columns: 2}\n" + kTask +
                              "check:\n  tensors:\n    - {tensor: x, equals: 4, tolerance: " +
                              std::to_string(tolerance) + "}\n");
    const auto tensors = make_tensors(spec);
    return check_tensors(spec, *tensors, [&](const Tensor& tensor) {
      return Result<std::vector<std::byte>>(encode(tensor, matrix(1, 2, {4, found})));
    });
  }
};

TEST_F(TensorCheckTest, EqualTensorsHaveNoError) {
  const auto outcome = must(check(4, 0));
  EXPECT_EQ(outcome.elements, 2U);
  EXPECT_EQ(outcome.largest_error, 0);
}

TEST_F(TensorCheckTest, TheErrorIsRelativeToTheLargestExpectedValue) {
  const auto outcome = must(check(4.5F, 0.125));
  EXPECT_EQ(outcome.largest_error, 0.125);
}

TEST_F(TensorCheckTest, AnErrorBeyondTheToleranceNamesTheElement) {
  EXPECT_THAT(check(4.5F, 0.124),
              FailsWith(ErrorCode::kWrongData, "g.yaml:9: element (0, 1) is 4.5, expected 4"));
}

TEST_F(TensorCheckTest, NotANumberIsNeverRight) {
  EXPECT_THAT(check(std::nanf(""), 1), FailsWith(ErrorCode::kWrongData, "element (0, 1)"));
}

}  // namespace
}  // namespace npu::workloads
