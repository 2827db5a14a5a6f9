// SPDX-License-Identifier: Apache-2.0
// Norms as exporters write them out, node by node, along the last axis.
#include <algorithm>
#include <array>

#include "workloads/network/passes/pass.hpp"

namespace npu::network::passes {
namespace {

using Places = std::vector<std::size_t>;

// A node of two inputs where either may come first.
struct Sided {
  std::size_t place;
  std::string other;
};

// The maker of one input of the node, and the other input.
std::optional<Sided> either(const GraphEdit& edit, const Node& node, std::string_view op) {
  for (const std::size_t side : {0, 1}) {
    const auto place = edit.maker(node.inputs[side], op);
    if (place) return Sided{*place, node.inputs[1 - side]};
  }
  return std::nullopt;
}

// One that is a constant of one axis.
bool is_row(const GraphEdit& edit, const std::string& value) {
  const auto* const tensor = edit.constant(value);
  return tensor != nullptr && tensor->sides.size() == 1;
}

bool is_mean_of_rows(const GraphEdit& edit, const Node& node) {
  auto axes = node.attribute("axes", std::vector<std::int64_t>{});
  if (node.inputs.size() > 1) {
    const auto* const given = edit.constant(node.inputs[1]);
    if (given != nullptr) axes = integers_of(*given);
  }
  return axes == std::vector<std::int64_t>{-1} && node.attribute("keepdims", std::int64_t{1}) == 1;
}

// x of x * x or x^2.
std::optional<std::string> squared(const GraphEdit& edit, const Node& node) {
  if (is_op(node, "Mul") && node.inputs[0] == node.inputs[1]) return node.inputs[0];
  const bool is_two = is_op(node, "Pow") && edit.number(node.inputs[1]) == 2.0F;
  return is_two ? std::optional(node.inputs[0]) : std::nullopt;
}

// sqrt(mean(x * x) + epsilon).
struct Root {
  std::string x;
  float epsilon = 0;
  Places places;
};
std::optional<Root> root_of_mean(const GraphEdit& edit, const std::string& value) {
  const auto root = edit.maker(value, "Sqrt");
  if (!root) return std::nullopt;
  const auto sum = edit.maker(edit.node(*root).inputs[0], "Add");
  if (!sum) return std::nullopt;
  const auto mean = either(edit, edit.node(*sum), "ReduceMean");
  if (!mean || !is_mean_of_rows(edit, edit.node(mean->place))) return std::nullopt;
  const auto epsilon = edit.number(mean->other);
  const auto square = edit.maker(edit.node(mean->place).inputs[0]);
  if (!epsilon || !square) return std::nullopt;
  const auto x = squared(edit, edit.node(*square));
  if (!x) return std::nullopt;
  return Root{*x, *epsilon, {*root, *sum, mean->place, *square}};
}

// x / root, as a quotient or as a product with 1 / root.
struct Quotient {
  std::string x;
  Root root;
};
std::optional<Quotient> quotient(const GraphEdit& edit, std::size_t place) {
  const auto& node = edit.node(place);
  if (is_op(node, "Div")) {
    auto root = root_of_mean(edit, node.inputs[1]);
    if (!root) return std::nullopt;
    root->places.push_back(place);
    return Quotient{node.inputs[0], std::move(*root)};
  }
  if (!is_op(node, "Mul")) return std::nullopt;
  for (const std::string_view op : {"Reciprocal", "Div"}) {
    const auto inverse = either(edit, node, op);
    if (!inverse) continue;
    const auto& inputs = edit.node(inverse->place).inputs;
    if (op == "Div" && edit.number(inputs[0]) != 1.0F) continue;
    auto root = root_of_mean(edit, inputs.back());
    if (!root) continue;
    root->places.insert(root->places.end(), {place, inverse->place});
    return Quotient{inverse->other, std::move(*root)};
  }
  return std::nullopt;
}

// What a row is multiplied by: a Mul of a quotient and a constant.
struct Scaled {
  Quotient quotient;
  std::string scale;
};
std::optional<Scaled> scaled(const GraphEdit& edit, const Node& node) {
  if (!is_op(node, "Mul")) return std::nullopt;
  for (const std::size_t side : {0, 1}) {
    const auto place = edit.maker(node.inputs[side]);
    if (!place || !is_row(edit, node.inputs[1 - side])) continue;
    auto found = quotient(edit, *place);
    if (found) return Scaled{std::move(*found), node.inputs[1 - side]};
  }
  return std::nullopt;
}

// The x of differences x - mean(x), which both the root and the quotient take.
std::optional<std::string> centred(const GraphEdit& edit, const Quotient& of, Places& places) {
  std::string x;
  for (const auto& value : {of.x, of.root.x}) {
    const auto difference = edit.maker(value, "Sub");
    if (!difference) return std::nullopt;
    const auto& inputs = edit.node(*difference).inputs;
    const auto mean = edit.maker(inputs[1], "ReduceMean");
    if (!mean || !is_mean_of_rows(edit, edit.node(*mean))) return std::nullopt;
    if (edit.node(*mean).inputs[0] != inputs[0] || (!x.empty() && x != inputs[0])) {
      return std::nullopt;
    }
    x = inputs[0];
    places.insert(places.end(), {*difference, *mean});
  }
  return x;
}

bool fuse(GraphEdit& edit, Places places, std::string_view op, std::vector<std::string> inputs,
          float epsilon) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (!edit.is_closed(places)) return false;
  Node fused;
  fused.op = op;
  fused.inputs = std::move(inputs);
  fused.attributes["epsilon"] = epsilon;
  edit.fuse(std::move(places), std::move(fused));
  return true;
}

}  // namespace

// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias
std::size_t find_layer_norms(GraphEdit& edit) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < edit.size(); ++i) {
    const auto& sum = edit.node(i);
    if (!is_op(sum, "Add")) continue;
    const auto product = either(edit, sum, "Mul");
    if (!product || !is_row(edit, product->other)) continue;
    const auto found = scaled(edit, edit.node(product->place));
    if (!found) continue;
    auto places = found->quotient.root.places;
    places.insert(places.end(), {i, product->place});
    const auto x = centred(edit, found->quotient, places);
    if (!x) continue;
    count += fuse(edit, places, "FusedLayerNormalization", {*x, found->scale, product->other},
                  found->quotient.root.epsilon)
                 ? 1
                 : 0;
  }
  return count;
}

// x / sqrt(mean(x^2) + epsilon) * scale
std::size_t find_rms_norms(GraphEdit& edit) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < edit.size(); ++i) {
    const auto found = scaled(edit, edit.node(i));
    if (!found || found->quotient.x != found->quotient.root.x) continue;
    auto places = found->quotient.root.places;
    places.push_back(i);
    count += fuse(edit, places, "FusedRmsNormalization", {found->quotient.x, found->scale},
                  found->quotient.root.epsilon)
                 ? 1
                 : 0;
  }
  return count;
}

}  // namespace npu::network::passes
