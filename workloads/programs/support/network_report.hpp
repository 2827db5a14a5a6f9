// SPDX-License-Identifier: Apache-2.0
// The report of `run network`: what a network cost in all, by operator, by layer, by node, and
// where its memory went.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/framework/figures.hpp"
#include "workloads/network/graph.hpp"
#include "workloads/network/node_times.hpp"
#include "workloads/network/passes/pass.hpp"

namespace npu::workloads {

// In what nodes are counted together.
struct OfNodes {
  std::uint64_t nodes = 0, operators = 0, computed = 0;
  operators::Spans host, waited, card, gap;
  Bytes memory = 0;  // when the last of them has been submitted

  void add(const network::NodeTimes& times);
};

struct OfNetwork {
  std::uint64_t nodes = 0, sets = 0, compared = 0;
  OfNodes all;
  operators::Spans preparing, duration, waited, rest;
  Bytes weights = 0, peak = 0;

  void add(const network::RunTimes& times);
  // The host works or waits, and kernels run or do not: each two are the duration.
  operators::Spans host() const { return duration.without(waited); }
  operators::Spans gap() const;
  Bytes tensors() const { return peak - weights; }
};

// The part of an exporter's name, such as /model/layer.3/attention/MatMul, that says which layer it
// is in: up to the part behind the first one with a number, without the last one. Empty: none.
std::string layer_of(std::string_view name);

class NetworkReport {
 public:
  // Both outlive it.
  NetworkReport(Context& context, const network::Graph& graph) : context_(context), graph_(graph) {}

  // `by_node`: nodes one by one, too. Of runs in their order.
  void write(OfNetwork figures, const std::vector<network::RunTimes>& runs, bool by_node);
  void write(const std::vector<network::passes::PassResult>& passes);
  static std::vector<FigureRow> rows();

 private:
  std::string title_of(std::size_t node) const;
  void by_operator(const std::vector<network::RunTimes>& runs);
  void by_layer(const std::vector<network::RunTimes>& runs);
  void by_node(const network::RunTimes& run);
  void on_host(const network::RunTimes& run);
  void largest_tensors(const network::RunTimes& run);

  Context& context_;
  const network::Graph& graph_;
};

}  // namespace npu::workloads
