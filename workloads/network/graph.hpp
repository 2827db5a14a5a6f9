// SPDX-License-Identifier: Apache-2.0
// A network: nodes in an order in which each comes behind those whose results it takes.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "workloads/network/tensor.hpp"

namespace npu::network {

// Of a kind that is not read, graphs for one: std::monostate.
using Attribute =
    std::variant<std::monostate, std::int64_t, float, std::string, std::vector<std::int64_t>,
                 std::vector<float>, std::vector<std::string>, Tensor>;

struct Node {
  std::string name;  // may be empty
  std::string op, domain;
  std::vector<std::string> inputs, outputs;  // names of values; empty: not given
  std::map<std::string, Attribute> attributes;
  // Of a fused node, which a pass has made: the nodes that it stands for, in order. They run
  // instead where its operator cannot.
  std::vector<Node> parts;
  // It depends on constants alone: it runs once, before inputs come.
  bool prepared = false;
  bool on_host = false;  // the host computes it (host_nodes.hpp)

  // Of that name and type, or `usual`.
  template <class T>
  T attribute(const std::string& key, T usual) const {
    const auto found = attributes.find(key);
    if (found == attributes.end()) return usual;
    const auto* const value = std::get_if<T>(&found->second);
    return value == nullptr ? usual : *value;
  }
  bool has(const std::string& key) const { return attributes.count(key) != 0; }
  bool gives(std::size_t output) const {
    return output < outputs.size() && !outputs[output].empty();
  }
};

// An input or an output of the network.
struct NamedValue {
  std::string name;
  ElementType type = ElementType::kFloat;
  bool has_shape = false;
  std::vector<std::int64_t> sides;  // -1: known when the network runs
};

struct Graph {
  std::int64_t opset = 0;  // of the standard's own domain
  std::vector<Node> nodes;
  std::map<std::string, Tensor> constants;
  std::vector<NamedValue> inputs;  // without constants
  std::vector<NamedValue> outputs;
};

}  // namespace npu::network
