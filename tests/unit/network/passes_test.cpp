// SPDX-License-Identifier: Apache-2.0
// What passes put together, and what they leave. tests/networks/whole.py compares what is computed.
#include "workloads/network/passes/pass.hpp"

#include <gmock/gmock.h>

namespace npu::network {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Node node(const std::string& op, std::vector<std::string> inputs, const std::string& output) {
  Node made;
  made.op = op;
  made.inputs = std::move(inputs);
  made.outputs = {output};
  return made;
}

class Passes : public ::testing::Test {
 protected:
  Passes() { graph_.inputs = {{"x", ElementType::kFloat, false, {}}}; }
  void constant(const std::string& name, const std::vector<float>& values) {
    Sides sides;
    if (values.size() > 1) sides = {values.size()};
    graph_.constants[name] = Tensor::of(ElementType::kFloat, sides, values);
  }
  void output(const std::string& name) {
    graph_.outputs.push_back({name, ElementType::kFloat, false, {}});
  }
  std::size_t run(const std::string& pass) {
    const auto results = passes::run_passes(graph_, {pass});
    EXPECT_EQ(results.size(), 1U) << pass;
    return results.at(0).found;
  }
  std::vector<std::string> ops() const {
    std::vector<std::string> all;
    for (const auto& each : graph_.nodes) all.push_back(each.op);
    return all;
  }
  std::string expression(std::size_t place) const {
    return graph_.nodes.at(place).attribute("expression", std::string());
  }

  Graph graph_;
};

TEST_F(Passes, NamesAreSortedOutAndNoneIsAnEmptyChoice) {
  EXPECT_THAT(passes::run_passes(graph_, {"none"}), IsEmpty());
  EXPECT_EQ(passes::run_passes(graph_, {"bias", "identities"}).at(0).name, "identities");
}

TEST_F(Passes, AnIdentityGoesUnlessItMakesAnOutput) {
  graph_.nodes = {node("Identity", {"x"}, "a"), node("Relu", {"a"}, "b"),
                  node("Identity", {"b"}, "y")};
  output("y");
  EXPECT_EQ(run("identities"), 1U);
  EXPECT_THAT(ops(), ElementsAre("Relu", "Identity"));
  EXPECT_THAT(graph_.nodes[0].inputs, ElementsAre("x"));
}

TEST_F(Passes, NodesOfConstantsArePrepared) {
  constant("c", {1, 2});
  graph_.nodes = {node("Neg", {"c"}, "a"), node("Exp", {"a"}, "b"), node("Add", {"x", "b"}, "y")};
  output("y");
  EXPECT_EQ(run("constants"), 2U);
  EXPECT_TRUE(graph_.nodes[1].prepared);
  EXPECT_FALSE(graph_.nodes[2].prepared);
}

TEST_F(Passes, AConstantNodeBecomesAConstant) {
  auto held = node("Constant", {}, "c");
  held.attributes["value"] = Tensor::of<float>(ElementType::kFloat, {}, {3});
  graph_.nodes = {held, node("Mul", {"x", "c"}, "y")};
  output("y");
  EXPECT_EQ(run("constants"), 1U);
  EXPECT_THAT(ops(), ElementsAre("Mul"));
  EXPECT_EQ(graph_.constants.count("c"), 1U);
}

TEST_F(Passes, ABatchNormalizationScalesTheWeights) {
  graph_.constants["w"] = Tensor::of<float>(ElementType::kFloat, {2, 1, 1, 1}, {1, 2});
  constant("scale", {3, 4});
  constant("shift", {10, 20});
  constant("mean", {1, 1});
  constant("variance", {1, 4});
  auto norm = node("BatchNormalization", {"a", "scale", "shift", "mean", "variance"}, "y");
  norm.attributes["epsilon"] = 0.0F;
  graph_.nodes = {node("Conv", {"x", "w"}, "a"), norm};
  output("y");
  EXPECT_EQ(run("batch_norm"), 1U);
  ASSERT_THAT(ops(), ElementsAre("Conv"));
  const auto& conv = graph_.nodes[0];
  EXPECT_THAT(conv.outputs, ElementsAre("y"));
  EXPECT_THAT(graph_.constants.at(conv.inputs.at(1)).values<float>(), ElementsAre(3, 4));
  EXPECT_THAT(graph_.constants.at(conv.inputs.at(2)).values<float>(), ElementsAre(7, 18));
  EXPECT_EQ(graph_.constants.count("w"), 0U);  // nobody takes it
}

TEST_F(Passes, AConvolutionThatOthersTakeStaysAsItIs) {
  graph_.constants["w"] = Tensor::of<float>(ElementType::kFloat, {2, 1, 1, 1}, {1, 2});
  for (const auto* const name : {"scale", "shift", "mean", "variance"}) constant(name, {1, 1});
  graph_.nodes = {node("Conv", {"x", "w"}, "a"),
                  node("BatchNormalization", {"a", "scale", "shift", "mean", "variance"}, "b"),
                  node("Add", {"a", "b"}, "y")};
  output("y");
  EXPECT_EQ(run("batch_norm"), 0U);
  EXPECT_EQ(graph_.nodes.size(), 3U);
}

TEST_F(Passes, AChainIsOneExpression) {
  constant("half", {0.5F});
  graph_.nodes = {node("Sigmoid", {"x"}, "a"), node("Mul", {"x", "a"}, "b"),
                  node("Mul", {"b", "half"}, "y")};
  output("y");
  EXPECT_EQ(run("elementwise"), 1U);
  ASSERT_THAT(ops(), ElementsAre("FusedElements"));
  EXPECT_EQ(expression(0), "(a*(sigmoid(a)))*s");
  EXPECT_THAT(graph_.nodes[0].inputs, ElementsAre("x"));
  EXPECT_EQ(graph_.nodes[0].parts.size(), 3U);
}

// Softsign has its operand twice: a chain ends there, and the value is a tensor.
TEST_F(Passes, AnOperandThatStandsTwiceIsComputedOnce) {
  graph_.nodes = {node("Tanh", {"x"}, "a"), node("Exp", {"a"}, "b"), node("Softsign", {"b"}, "c"),
                  node("Neg", {"c"}, "y")};
  output("y");
  EXPECT_EQ(run("elementwise"), 2U);
  EXPECT_THAT(ops(), ElementsAre("FusedElements", "FusedElements"));
  EXPECT_EQ(expression(1), "0-(a/(abs(a)+1))");
}

TEST_F(Passes, WhatIsAnOutputOrUsedTwiceEndsAChain) {
  graph_.nodes = {node("Exp", {"x"}, "a"), node("Neg", {"a"}, "y")};
  output("a");
  output("y");
  EXPECT_EQ(run("elementwise"), 0U);
  EXPECT_THAT(ops(), ElementsAre("Exp", "Neg"));
}

TEST_F(Passes, ATransposeOfOtherAxesIsNoOperandThatLiesByColumns) {
  auto other = node("Transpose", {"x"}, "t");
  other.attributes["perm"] = std::vector<std::int64_t>{1, 0, 2};
  graph_.nodes = {other, node("MatMul", {"t", "x"}, "y")};
  output("y");
  EXPECT_EQ(run("transpose"), 0U);
  graph_.nodes[0].attributes["perm"] = std::vector<std::int64_t>{0, 2, 1};
  EXPECT_EQ(run("transpose"), 1U);
  ASSERT_THAT(ops(), ElementsAre("FusedMatMul"));
  EXPECT_EQ(graph_.nodes[0].attribute("transA", std::int64_t{0}), 1);
}

Node turned(const std::string& input, const std::string& output, std::vector<std::int64_t> order) {
  auto made = node("Transpose", {input}, output);
  made.attributes["perm"] = std::move(order);
  return made;
}

TEST_F(Passes, AttentionTakesAScaleAndAMaskOfConstants) {
  constant("s", {2});
  constant("m", {0, 0});
  auto softmax = node("Softmax", {"masked"}, "p");
  softmax.attributes["axis"] = std::int64_t{-1};
  graph_.nodes = {turned("k", "kt", {0, 1, 3, 2}),
                  node("MatMul", {"q", "kt"}, "scores"),
                  node("Div", {"scores", "s"}, "scaled"),
                  node("Add", {"scaled", "m"}, "masked"),
                  softmax,
                  node("MatMul", {"p", "v"}, "y")};
  output("y");
  EXPECT_EQ(run("attention"), 1U);
  ASSERT_THAT(ops(), ElementsAre("FusedAttention"));
  EXPECT_THAT(graph_.nodes[0].inputs, ElementsAre("q", "k", "v", "m"));
  EXPECT_EQ(graph_.nodes[0].attribute("scale", 0.0F), 0.5F);
  EXPECT_EQ(graph_.nodes[0].parts.size(), 6U);
}

TEST_F(Passes, AttentionLeavesScoresThatOthersTake) {
  auto softmax = node("Softmax", {"scores"}, "p");
  softmax.attributes["axis"] = std::int64_t{-1};
  graph_.nodes = {turned("k", "kt", {0, 1, 3, 2}), node("MatMul", {"q", "kt"}, "scores"), softmax,
                  node("MatMul", {"p", "v"}, "y")};
  output("y");
  output("scores");
  EXPECT_EQ(run("attention"), 0U);
}

TEST_F(Passes, AttentionTakesMasksOfInputsOnEitherSideOfTheScores) {
  const std::vector<std::vector<std::string>> cases{{"scores", "x"}, {"x", "scores"}, {"x", "x"}};
  for (const auto& sides : cases) {
    auto softmax = node("Softmax", {"masked"}, "p");
    softmax.attributes["axis"] = std::int64_t{-1};
    graph_.nodes = {turned("k", "kt", {0, 1, 3, 2}), node("MatMul", {"q", "kt"}, "scores"),
                    node("Add", sides, "masked"), softmax, node("MatMul", {"p", "v"}, "y")};
    graph_.outputs.clear();
    output("y");
    const bool has_scores = sides[0] != sides[1];
    EXPECT_EQ(run("attention"), has_scores ? 1U : 0U);
    if (has_scores) {
      EXPECT_THAT(graph_.nodes[0].inputs, ElementsAre("q", "k", "v", "x"));
    }
  }
}

TEST_F(Passes, AttentionTakesHeadsAsTheyLieWhereAllAreTurned) {
  auto softmax = node("Softmax", {"scores"}, "p");
  softmax.attributes["axis"] = std::int64_t{3};
  graph_.nodes = {turned("q", "qt", {0, 2, 1, 3}),
                  turned("k", "kt", {0, 2, 3, 1}),
                  turned("v", "vt", {0, 2, 1, 3}),
                  node("MatMul", {"qt", "kt"}, "scores"),
                  softmax,
                  node("MatMul", {"p", "vt"}, "out"),
                  turned("out", "y", {0, 2, 1, 3})};
  output("y");
  EXPECT_EQ(run("attention"), 1U);
  ASSERT_THAT(ops(), ElementsAre("FusedAttention"));
  EXPECT_THAT(graph_.nodes[0].inputs, ElementsAre("q", "k", "v"));
  EXPECT_EQ(graph_.nodes[0].attribute("inside", std::int64_t{0}), 1);
}

}  // namespace
}  // namespace npu::network
