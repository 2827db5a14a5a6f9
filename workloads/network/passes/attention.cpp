// SPDX-License-Identifier: Apache-2.0
// softmax(scale * Q x K^T + mask) x V as exporters write it out: one operator that keeps no scores.
#include <optional>

#include "workloads/network/attention_mask.hpp"
#include "workloads/network/passes/pass.hpp"

namespace npu::network::passes {
namespace {

using Places = std::vector<std::size_t>;
using Order = std::vector<std::int64_t>;

// One pattern, from its last product upwards. `places` has the nodes that were walked over.
class Attention {
 public:
  Attention(const GraphEdit& edit, std::size_t product) : edit_(edit) {
    places_ = {product};
    found_ = is_op(edit.node(product), "MatMul") && walk(edit.node(product));
  }

  bool found() const { return found_; }
  const Places& places() const { return places_; }
  Node fused() const {
    Node made;
    made.op = "FusedAttention";
    made.inputs = {q_, k_, v_};
    if (!mask_.empty()) made.inputs.push_back(mask_);
    made.attributes["scale"] = scale_;
    made.attributes["axis"] = axis_;
    made.attributes["mask"] = static_cast<std::int64_t>(kind_);
    made.attributes["turned"] = std::int64_t{turned_ ? 1 : 0};
    return made;
  }
  // Q, K and V lie with heads inside of rows, are turned for the products, and `last` turns the
  // result back: the operator can take and leave them as they lie.
  std::optional<Attention> inside(std::size_t last) const {
    static const Order kSwap{0, 2, 1, 3};
    if (!turns(last, kSwap)) return std::nullopt;
    Attention wide = *this;
    for (auto* const value : {&wide.q_, &wide.v_}) {
      if (!wide.step_over(*value, kSwap)) return std::nullopt;
    }
    if (!wide.turned_ && !wide.step_over(wide.k_, kSwap)) return std::nullopt;
    wide.turned_ = false;
    wide.places_.push_back(last);
    return wide;
  }

 private:
  bool turns(std::size_t place, const Order& order) const {
    const auto& node = edit_.node(place);
    return is_op(node, "Transpose") && !node.prepared && node.attribute("perm", Order{}) == order;
  }
  bool step_over(std::string& value, const Order& order) {
    const auto place = edit_.maker(value);
    if (!place || !turns(*place, order)) return false;
    places_.push_back(*place);
    value = edit_.node(*place).inputs[0];
    return true;
  }
  bool is_fixed(const std::string& value) const {
    if (edit_.constant(value) != nullptr) return true;
    const auto place = edit_.maker(value);
    return place && edit_.node(*place).prepared;
  }
  // One number that x is multiplied by, or divided.
  bool step_over_scale(std::string& value) {
    const auto place = edit_.maker(value);
    if (!place) return false;
    const auto& node = edit_.node(*place);
    const bool divides = is_op(node, "Div");
    if ((!divides && !is_op(node, "Mul")) || node.prepared) return false;
    for (const std::size_t side : {1, 0}) {
      const auto number = edit_.number(node.inputs[side]);
      if (!number || !(*number > 0) || (divides && side == 0)) continue;
      if (edit_.constant(node.inputs[side])->sides.size() > 1) continue;
      scale_ = divides ? scale_ / *number : scale_ * *number;
      places_.push_back(*place);
      value = node.inputs[1 - side];
      return true;
    }
    return false;
  }
  void step_over_scales(std::string& value) {
    while (step_over_scale(value)) {
    }
  }

  bool step_over_mask(std::string& value) {
    const auto place = edit_.maker(value);
    if (!place || edit_.node(*place).prepared) return false;
    const auto& node = edit_.node(*place);
    if (is_op(node, "Add")) {
      const std::size_t side = is_product(node.inputs[0]) ? 1 : 0;
      if (!is_product(node.inputs[1 - side])) return false;
      mask_ = node.inputs[side];
      value = node.inputs[1 - side];
      kind_ = MaskKind::kAdded;
    } else if (is_op(node, "Where") && is_fixed(node.inputs[0])) {
      const bool hides = is_hidden(node.inputs[1]);
      if (!hides && !is_hidden(node.inputs[2])) return false;
      mask_ = node.inputs[0];
      value = node.inputs[hides ? 2 : 1];
      kind_ = hides ? MaskKind::kTrueHides : MaskKind::kTrueShows;
    } else {
      return false;
    }
    places_.push_back(*place);
    return true;
  }
  // A product, scaled or not.
  bool is_product(std::string value) const {
    for (;;) {
      const auto place = edit_.maker(value);
      if (!place || edit_.node(*place).prepared) return false;
      const auto& node = edit_.node(*place);
      if (is_op(node, "MatMul")) return true;
      const bool divides = is_op(node, "Div");
      if (!divides && !is_op(node, "Mul")) return false;
      const std::size_t side = edit_.number(node.inputs[1]) ? 1 : 0;
      if ((divides && side == 0) || !edit_.number(node.inputs[side])) return false;
      value = node.inputs[1 - side];
    }
  }
  bool is_hidden(const std::string& value) const {
    const auto number = edit_.number(value);
    return number && *number <= kHidden;
  }

  bool walk(const Node& product) {
    v_ = product.inputs[1];
    const auto softmax = edit_.maker(product.inputs[0], "Softmax");
    if (!softmax) return false;
    const auto& node = edit_.node(*softmax);
    axis_ = node.attribute("axis", std::int64_t{edit_.opset() < 13 ? 1 : -1});
    places_.push_back(*softmax);
    auto scores = node.inputs[0];
    step_over_mask(scores);
    step_over_scales(scores);
    const auto place = edit_.maker(scores, "MatMul");
    if (!place || edit_.node(*place).prepared) return false;
    places_.push_back(*place);
    q_ = edit_.node(*place).inputs[0];
    k_ = edit_.node(*place).inputs[1];
    step_over_scales(q_);
    step_over_scales(k_);
    if (q_ == k_) return false;
    turned_ = step_over(k_, {0, 2, 3, 1});
    return turned_ || step_over(k_, {0, 1, 3, 2}) || step_over(k_, {0, 2, 1});
  }

  const GraphEdit& edit_;
  Places places_;
  std::string q_, k_, v_, mask_;
  float scale_ = 1;
  std::int64_t axis_ = -1;
  MaskKind kind_ = MaskKind::kNone;
  bool turned_ = false;  // K lies with heads inside of rows
  bool found_ = false;
};

// The node that alone takes the value.
std::optional<std::size_t> taker(const GraphEdit& edit, const std::string& value,
                                 std::size_t behind) {
  if (edit.uses(value) != 1 || edit.is_output(value)) return std::nullopt;
  for (std::size_t i = behind + 1; i < edit.size(); ++i) {
    for (const auto& input : edit.node(i).inputs) {
      if (input == value && edit.maker(edit.node(i).outputs.at(0)) == i) return i;
    }
  }
  return std::nullopt;
}

}  // namespace

std::size_t find_attention(GraphEdit& edit) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < edit.size(); ++i) {
    if (edit.node(i).outputs.empty() || edit.maker(edit.node(i).outputs[0]) != i) continue;
    const Attention attention(edit, i);
    if (!attention.found()) continue;
    const auto last = taker(edit, edit.node(i).outputs[0], i);
    const auto inside = last ? attention.inside(*last) : std::nullopt;
    if (inside && edit.is_closed(inside->places())) {
      auto node = inside->fused();
      node.attributes["inside"] = std::int64_t{1};
      edit.fuse(inside->places(), std::move(node));
    } else if (edit.is_closed(attention.places())) {
      edit.fuse(attention.places(), attention.fused());
    } else {
      continue;
    }
    ++found;
  }
  return found;
}

}  // namespace npu::network::passes
