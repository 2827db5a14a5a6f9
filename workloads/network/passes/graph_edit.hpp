// SPDX-License-Identifier: Apache-2.0
// A graph while a pass changes it: who makes a value, who takes it, and nodes that become one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/network/graph.hpp"

namespace npu::network::passes {

class GraphEdit {
 public:
  // `graph` outlives it.
  explicit GraphEdit(Graph& graph) : graph_(graph) { index(); }

  std::int64_t opset() const { return graph_.opset; }
  std::size_t size() const { return graph_.nodes.size(); }
  Node& node(std::size_t place) { return graph_.nodes[place]; }
  const Node& node(std::size_t place) const { return graph_.nodes[place]; }
  std::map<std::string, Tensor>& constants() { return graph_.constants; }

  // The place of the node that makes the value; with `op` only one of that name of the standard's
  // domain, fused ones among them.
  std::optional<std::size_t> maker(const std::string& value, std::string_view op = {}) const;
  // By nodes, and once more if it is an output of the network.
  std::size_t uses(const std::string& value) const;
  bool is_output(const std::string& value) const;
  // Null: it is none.
  const Tensor* constant(const std::string& value) const;
  // Of a constant of one real number, of float, half or bfloat16.
  std::optional<float> number(const std::string& value) const;

  // Whether results of these nodes, in any order, are used by no others, but the first result of
  // the last node in the graph's order.
  bool is_closed(const std::vector<std::size_t>& places) const;
  // They become the parts of `fused`, which stands where the last of them did and has its results.
  void fuse(std::vector<std::size_t> places, Node fused);
  // The node goes, and those behind it take `other` for `value`.
  void drop(std::size_t place, const std::string& value, const std::string& other);
  // Takes what has gone out of the graph, and constants that nobody takes; places change.
  void finish();

 private:
  void index();

  Graph& graph_;
  std::map<std::string, std::size_t> makers_, uses_;
  std::vector<bool> gone_;
};

// Of standard and fused nodes, none of them in a domain of its own.
bool is_op(const Node& node, std::string_view op);

}  // namespace npu::network::passes
