// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/passes/graph_edit.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>

namespace npu::network::passes {

namespace {

float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// None of what is no number.
std::optional<float> half_number(std::uint16_t bits) {
  const unsigned exponent = bits >> 10 & 0x1FU, fraction = bits & 0x3FFU;
  const float sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == 0x1F && fraction != 0) return std::nullopt;
  if (exponent == 0x1F) return sign * std::numeric_limits<float>::infinity();
  const int whole = static_cast<int>(exponent == 0 ? fraction : fraction + 0x400);
  return sign *
         std::ldexp(static_cast<float>(whole), static_cast<int>(std::max(exponent, 1U)) - 25);
}

}  // namespace

bool is_op(const Node& node, std::string_view op) {
  return node.domain.empty() && node.op == op;
}

void GraphEdit::index() {
  makers_.clear();
  uses_.clear();
  gone_.assign(graph_.nodes.size(), false);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const auto& output : graph_.nodes[i].outputs) makers_[output] = i;
    for (const auto& input : graph_.nodes[i].inputs) ++uses_[input];
  }
  for (const auto& output : graph_.outputs) ++uses_[output.name];
}

std::optional<std::size_t> GraphEdit::maker(const std::string& value, std::string_view op) const {
  const auto found = makers_.find(value);
  if (value.empty() || found == makers_.end() || gone_[found->second]) return std::nullopt;
  if (!op.empty() && !is_op(node(found->second), op)) return std::nullopt;
  return found->second;
}

std::size_t GraphEdit::uses(const std::string& value) const {
  const auto found = uses_.find(value);
  return found == uses_.end() ? 0 : found->second;
}

bool GraphEdit::is_output(const std::string& value) const {
  return std::any_of(graph_.outputs.begin(), graph_.outputs.end(),
                     [&](const NamedValue& output) { return output.name == value; });
}

const Tensor* GraphEdit::constant(const std::string& value) const {
  const auto found = graph_.constants.find(value);
  return found == graph_.constants.end() ? nullptr : &found->second;
}

std::optional<float> GraphEdit::number(const std::string& value) const {
  const auto* const tensor = constant(value);
  if (tensor == nullptr || tensor->elements() != 1) return std::nullopt;
  switch (tensor->type) {
    case ElementType::kFloat:
      return tensor->values<float>().at(0);
    case ElementType::kFloat16:
      return half_number(tensor->values<std::uint16_t>().at(0));
    case ElementType::kBfloat16:
      return float_of(std::uint32_t{tensor->values<std::uint16_t>().at(0)} << 16);
    default:
      return std::nullopt;
  }
}

bool GraphEdit::is_closed(const std::vector<std::size_t>& places) const {
  std::map<std::string, std::size_t> inside;
  for (const auto place : places) {
    if (gone_[place]) return false;
    for (const auto& input : node(place).inputs) ++inside[input];
  }
  const auto last = *std::max_element(places.begin(), places.end());
  for (const auto place : places) {
    const auto& outputs = node(place).outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const bool leaves = place == last && i == 0;
      if (!leaves && !outputs[i].empty() && uses(outputs[i]) != inside[outputs[i]]) return false;
    }
  }
  return true;
}

void GraphEdit::fuse(std::vector<std::size_t> places, Node fused) {
  std::sort(places.begin(), places.end());
  std::vector<Node> parts;
  for (const auto place : places) {
    const auto& each = node(place);
    if (each.parts.empty()) {
      parts.push_back(each);
    } else {
      parts.insert(parts.end(), each.parts.begin(), each.parts.end());
    }
    for (const auto& input : each.inputs) --uses_[input];
    gone_[place] = true;
  }
  const auto last = places.back();
  gone_[last] = false;
  fused.name = parts.back().name;
  fused.outputs = {parts.back().outputs.front()};
  fused.parts = std::move(parts);
  for (const auto& input : fused.inputs) ++uses_[input];
  node(last) = std::move(fused);
}

void GraphEdit::drop(std::size_t place, const std::string& value, const std::string& other) {
  for (const auto& input : node(place).inputs) --uses_[input];
  gone_[place] = true;
  if (value == other) return;
  for (std::size_t i = place + 1; i < size(); ++i) {
    for (auto& input : node(i).inputs) {
      if (input != value) continue;
      input = other;
      ++uses_[other];
    }
  }
}

void GraphEdit::finish() {
  std::vector<Node> left;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!gone_[i]) left.push_back(std::move(node(i)));
  }
  graph_.nodes = std::move(left);
  index();
  std::set<std::string> used;
  for (const auto& [value, uses] : uses_) {
    if (uses != 0) used.insert(value);
  }
  for (const auto& each : graph_.nodes) {
    for (const auto& part : each.parts) used.insert(part.inputs.begin(), part.inputs.end());
  }
  for (auto at = graph_.constants.begin(); at != graph_.constants.end();) {
    at = used.count(at->first) == 0 ? graph_.constants.erase(at) : std::next(at);
  }
}

}  // namespace npu::network::passes
