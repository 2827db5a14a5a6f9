// SPDX-License-Identifier: Apache-2.0
// Losses: what a network made of each class, against the class that was right.
#include <fmt/format.h>

#include <numeric>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {
namespace {

// Where the elements of the right classes lie. Ignored ones: -1.
struct Targets {
  std::vector<std::int32_t> places;   // in a tensor of N x C x D...
  std::vector<std::int32_t> classes;  // in a table of weights
};

Targets targets_of(Lowering& node, const Value& x) {
  const auto wanted = integers_of(node.steps.download(node.inputs[1]));
  const std::uint64_t rows = x.sides[0], classes = x.sides[1];
  const std::uint64_t inner = product_of(x.sides, 2, x.axes());
  if (wanted.size() != rows * inner) {
    node.steps.refuse(fmt::format("classes for {} of {}", wanted.size(), rows * inner));
    return {};
  }
  const bool ignores = node.node.has("ignore_index");
  const auto ignored = node.node.attribute("ignore_index", std::int64_t{-1});
  Targets targets;
  for (std::uint64_t i = 0; i < wanted.size(); ++i) {
    const auto index = wanted[i];
    if (ignores && index == ignored) {
      targets.places.push_back(-1);
      targets.classes.push_back(-1);
      continue;
    }
    if (index < 0 || static_cast<std::uint64_t>(index) >= classes) {
      node.steps.refuse(fmt::format("class {} of {}", index, classes));
      return {};
    }
    const auto place =
        (i / inner * classes + static_cast<std::uint64_t>(index)) * inner + i % inner;
    targets.places.push_back(static_cast<std::int32_t>(place));
    targets.classes.push_back(static_cast<std::int32_t>(index));
  }
  return targets;
}

// Elements of a table, 0 where a place is -1.
Value taken(Steps& steps, const Value& x, const std::vector<std::int32_t>& places) {
  const auto indices = steps.constant(ElementType::kInt32, {places.size()}, places);
  return steps.view(gather_rows(steps, steps.view(x, {x.elements(), 1}), indices), {places.size()});
}

// Of logarithms of probabilities.
void negative_log_likelihood(Lowering& node, const Value& logarithms) {
  auto& steps = node.steps;
  if (logarithms.axes() < 2) return steps.refuse("no classes");
  const auto targets = targets_of(node, logarithms);
  if (steps.failed()) return;
  const auto type = logarithms.type;
  const std::uint64_t classes = logarithms.sides[1];
  const auto table = node.has(2) ? node.inputs[2]
                                 : cast(steps,
                                        steps.constant<float>(ElementType::kFloat, {classes},
                                                              std::vector<float>(classes, 1)),
                                        type);
  const auto weights = taken(steps, table, targets.classes);
  const auto losses =
      elementwise(steps, "0-a*b", {taken(steps, logarithms, targets.places), weights});
  const auto how = node.node.attribute("reduction", std::string("mean"));
  if (how == "none") {
    node.outputs = {steps.view(losses, node.inputs[1].sides)};
  } else if (how == "sum") {
    node.outputs = {reduce(steps, "sum", losses, {0}, false)};
  } else if (how == "mean") {
    const auto total = reduce(steps, "sum", losses, {0}, false);
    node.outputs = {elementwise(steps, "a/b", {total, reduce(steps, "sum", weights, {0}, false)})};
  } else {
    steps.refuse("reduction " + how);
  }
}

void lower_likelihood(Lowering& node) {
  negative_log_likelihood(node, node.inputs[0]);
}

void lower_cross_entropy(Lowering& node) {
  if (node.inputs[0].axes() < 2) return node.steps.refuse("no classes");
  const auto logarithms = log_softmax(node.steps, node.inputs[0], 1);
  negative_log_likelihood(node, logarithms);
  if (!node.outputs.empty()) node.outputs.push_back(logarithms);
}

}  // namespace

const std::vector<LoweringRow> kLossLowerings{
    {"NegativeLogLikelihoodLoss", lower_likelihood, 2},
    {"SoftmaxCrossEntropyLoss", lower_cross_entropy, 2},
};

}  // namespace npu::network
