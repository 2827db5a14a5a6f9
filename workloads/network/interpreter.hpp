// SPDX-License-Identifier: Apache-2.0
// Runs a network, node by node, on a card.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workloads/network/graph.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/steps.hpp"

namespace npu::network {

using Tensors = std::map<std::string, Tensor>;

// kUnsupported: the card has no operators for some nodes that the host does not compute, of which
// the context names each.
Status check_mapped(const Graph& graph);

// Told of nodes when they are submitted, by their places in the graph.
class NetworkListener {
 public:
  virtual ~NetworkListener() = default;
  virtual void begin(std::size_t node) = 0;
  // `operators`: how many it was made of.
  virtual void end(std::size_t node, std::uint64_t operators) = 0;
  // Of a node's result, or of an input of the network, which has no node: new memory.
  virtual void made(const std::string& value, Bytes bytes) = 0;
  virtual void gone(const std::string& value) = 0;  // nothing takes it any more
};

class Network {
 public:
  // All outlive it; `listener` may be null.
  Network(const Graph& graph, Steps& steps, NetworkListener* listener = nullptr);

  // Constants go to the card, and what depends on them alone is computed. Before the first run.
  // kUnsupported: a node cannot be mapped, or does what the operators cannot; the context says why.
  // Also errors of the card.
  Status prepare();
  // The outputs, by name. `inputs` has one of each of the graph's inputs, of its type.
  // kInvalidArgument: it has not.
  // Also errors of prepare(). Another run may follow.
  Result<Tensors> run(const Tensors& inputs);

 private:
  using Uses = std::map<std::string, std::size_t>;
  static void count(const Node& node, Uses& uses, std::size_t by);
  void read_mask(const Node& node);
  Status visit(std::size_t place);
  Status take_inputs(const Tensors& inputs);
  Status run_node(const Node& node);
  Status lower(Lowering& lowering);
  void run_on_host(Lowering& lowering);
  Status run_parts(const Node& node);
  Status fail_in(const std::string& where) const;
  void keep(const std::string& name, Value value, const std::vector<Value>& inputs);
  void let_go(const std::string& name);
  Result<Tensors> outputs();

  const Graph& graph_;
  Steps& steps_;
  NetworkListener* const listener_;
  Uses uses_;                          // by nodes and outputs
  std::map<std::string, Value> kept_;  // over runs
  // Of a run.
  std::map<std::string, Value> values_;
  Uses left_;
  struct Visit {
    std::uint64_t first;  // step
    std::size_t node;
  };
  std::vector<Visit> visits_;
};

}  // namespace npu::network
