// SPDX-License-Identifier: Apache-2.0
// Runs a network, node by node, on a card.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workloads/network/graph.hpp"
#include "workloads/network/steps.hpp"

namespace npu::network {

using Tensors = std::map<std::string, Tensor>;

// kUnsupported: the card has no operators for some nodes, of which the context names each.
Status check_mapped(const Graph& graph);

// Called behind each node: its number, and how many operators it was made of.
using NodeListener = std::function<void(std::size_t node, std::uint64_t operators)>;

// The outputs, by name. `inputs` has one of each of the graph's inputs, of its type.
// kInvalidArgument: it has not. kUnsupported: a node cannot be mapped, or does what the operators
// cannot; the context says why. Also errors of the card.
Result<Tensors> run_network(const Graph& graph, const Tensors& inputs, Steps& steps,
                            const NodeListener& listener = {});

}  // namespace npu::network
