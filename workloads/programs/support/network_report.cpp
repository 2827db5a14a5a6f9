// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/network_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "workloads/programs/support/measured_spans.hpp"

namespace npu::workloads {
namespace {

using network::NodeTimes;
using network::RunTimes;
using network::passes::PassResult;

constexpr std::size_t kMostTensors = 10;

constexpr Figure<OfNetwork> kOfNetwork[] = {
    {"nodes", "", from<&OfNetwork::nodes>, {"nodes"}},
    {"operators", "", from<&OfNetwork::all, &OfNodes::operators>, {"launches"}},
    {"data_sets", "", from<&OfNetwork::sets>, {"data sets"}},
    {"results_compared", "", from<&OfNetwork::compared>, {"results compared"}},
    {"host_us", "us", length<&OfNetwork::host>, {"host us"}},
    {"wait_us", "us", length<&OfNetwork::waited>, {"wait us"}},
    {"card_us", "us", length<&OfNetwork::all, &OfNodes::card>, {"card us"}},
    {"gap_us", "us", length<&OfNetwork::gap>, {"gap us"}},
    {"prepare_us", "us", length<&OfNetwork::preparing>, {"prepare us"}},
    {"duration_us", "us", length<&OfNetwork::duration>, {"duration us"}}};

constexpr Figure<OfNetwork> kOfMemory[] = {
    {"weight_bytes", "B", from<&OfNetwork::weights>, {"weights B"}},
    {"tensor_bytes", "B", from<&OfNetwork::tensors>, {"tensors B"}},
    {"peak_bytes", "B", from<&OfNetwork::peak>, {"both B"}}};

constexpr Figure<OfNodes> kOfNodes[] = {{"nodes", "", from<&OfNodes::nodes>, {"nodes"}},
                                        {"operators", "", from<&OfNodes::operators>, {"launches"}},
                                        {"host_us", "us", length<&OfNodes::host>, {"host us"}},
                                        {"wait_us", "us", length<&OfNodes::waited>, {"wait us"}},
                                        {"card_us", "us", length<&OfNodes::card>, {"card us"}},
                                        {"gap_us", "us", length<&OfNodes::gap>, {"gap us"}}};

constexpr Figure<OfNodes> kOfLayer[] = {
    {"nodes", "", from<&OfNodes::nodes>, {"nodes"}},
    {"host_us", "us", length<&OfNodes::host>, {"host us"}},
    {"wait_us", "us", length<&OfNodes::waited>, {"wait us"}},
    {"card_us", "us", length<&OfNodes::card>, {"card us"}},
    {"gap_us", "us", length<&OfNodes::gap>, {"gap us"}},
    {"memory_bytes", "B", from<&OfNodes::memory>, {"memory B"}}};

constexpr Figure<OfNodes> kOfHostNode[] = {
    {"instructions", "", from<&OfNodes::computed>, {"instructions"}},
    {"host_us", "us", length<&OfNodes::host>, {"host us"}},
    {"wait_us", "us", length<&OfNodes::waited>, {"wait us"}}};

constexpr Figure<PassResult> kOfPass[] = {
    {"found", "", from<&PassResult::found>, {"found"}},
    {"nodes_before", "", from<&PassResult::nodes_before>, {"nodes before"}},
    {"nodes_after", "", from<&PassResult::nodes_after>, {"after"}}};

}  // namespace

void OfNodes::add(const NodeTimes& times) {
  ++nodes;
  operators += times.operators;
  host.add(times.host);
  waited.add(times.waited);
  card.add(times.card);
  gap.add(times.gap);
  computed += times.computed;
  memory = times.memory;
}

void OfNetwork::add(const RunTimes& times) {
  ++sets;
  for (const auto& node : times.nodes) all.add(node);
  duration.add(times.whole);
  waited.add(times.waited);
  rest.add(times.rest);
  peak = std::max(peak, times.peak);
}

operators::Spans OfNetwork::gap() const {
  auto both = all.gap;
  both.add(rest);
  return both;
}

std::string layer_of(std::string_view name) {
  const auto end = name.rfind('/');
  if (end == std::string_view::npos || end == 0) return {};
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t begin = 1; begin < end;) {
    const auto stop = std::min(name.find('/', begin), end);
    const auto part = name.substr(begin, stop - begin);
    if (std::any_of(part.begin(), part.end(), is_digit)) {
      const auto next = stop == end ? end : std::min(name.find('/', stop + 1), end);
      return std::string(name.substr(0, next));
    }
    begin = stop + 1;
  }
  return std::string(name.substr(0, end));
}

std::string NetworkReport::title_of(std::size_t node) const {
  const auto& name = graph_.nodes[node].name;
  return name.empty() ? fmt::format("node {}", node) : name;
}

void NetworkReport::write(OfNetwork figures, const std::vector<RunTimes>& runs, bool by_node) {
  figures.nodes = graph_.nodes.size();
  for (const auto& run : runs) figures.add(run);
  auto& whole = add_figure_table(context_.report, "network", {}, kOfNetwork);
  report_figures(context_, "network.", kOfNetwork, figures, &whole, {});
  by_operator(runs);
  by_layer(runs);
  if (by_node) this->by_node(runs.back());
  on_host(runs.back());
  auto& memory = add_figure_table(context_.report, "memory", {}, kOfMemory);
  report_figures(context_, "network.", kOfMemory, figures, &memory, {});
  largest_tensors(runs.back());
  if (figures.compared == 0) {
    context_.report.add_note("results are not compared: there are none beside the model");
  }
}

void NetworkReport::by_operator(const std::vector<RunTimes>& runs) {
  std::map<std::string, OfNodes> rows;
  for (const auto& run : runs) {
    for (const auto& node : run.nodes) rows[graph_.nodes[node.node].op].add(node);
  }
  auto& table = add_figure_table(context_.report, "nodes", {"operator of ONNX"}, kOfNodes);
  for (const auto& [op, row] : rows) {
    report_figures(context_, "network." + op + ".", kOfNodes, row, &table, {op});
  }
}

// In the order of their first nodes.
void NetworkReport::by_layer(const std::vector<RunTimes>& runs) {
  std::vector<std::pair<std::string, OfNodes>> rows;
  std::map<std::string, std::size_t> places;
  for (const auto& run : runs) {
    for (const auto& node : run.nodes) {
      const auto layer = layer_of(graph_.nodes[node.node].name);
      const auto [place, is_new] = places.try_emplace(layer, rows.size());
      if (is_new) rows.emplace_back(layer, OfNodes());
      rows[place->second].second.add(node);
    }
  }
  if (rows.size() < 2) return;
  auto& table = add_figure_table(context_.report, "layers", {"layer"}, kOfLayer);
  for (const auto& [layer, row] : rows) {
    const std::string name = layer.empty() ? "other" : layer;
    report_figures(context_, "network.layer." + name + ".", kOfLayer, row, &table, {name});
  }
}

// Numbers before names, which need not be different.
void NetworkReport::by_node(const RunTimes& run) {
  auto& table = add_figure_table(context_.report, "nodes in order",
                                 {"node", "name", "operator of ONNX"}, kOfLayer);
  for (const auto& node : run.nodes) {
    OfNodes row;
    row.add(node);
    report_figures(
        context_, fmt::format("network.node.{}.", node.node), kOfLayer, row, &table,
        {std::to_string(node.node), graph_.nodes[node.node].name, graph_.nodes[node.node].op});
  }
}

// Those that unmapped=host has placed there.
void NetworkReport::on_host(const RunTimes& run) {
  std::vector<const NodeTimes*> found;
  for (const auto& node : run.nodes) {
    if (graph_.nodes[node.node].on_host) found.push_back(&node);
  }
  if (found.empty()) return;
  auto& table = add_figure_table(context_.report, "nodes on the host",
                                 {"node", "name", "operator of ONNX"}, kOfHostNode);
  for (const auto* const node : found) {
    OfNodes row;
    row.add(*node);
    report_figures(
        context_, fmt::format("network.on_host.{}.", node->node), kOfHostNode, row, &table,
        {std::to_string(node->node), graph_.nodes[node->node].name, graph_.nodes[node->node].op});
  }
}

void NetworkReport::largest_tensors(const RunTimes& run) {
  auto tensors = run.tensors;
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  tensors.resize(std::min(tensors.size(), kMostTensors));
  if (tensors.empty() || run.nodes.empty()) return;
  auto& table =
      context_.report.add_table("largest tensors", {"tensor", "B", "first node", "last node"});
  for (const auto& each : tensors) {
    const bool leaves = each.last == run.nodes.size();
    table.rows.push_back({each.value, std::to_string(each.bytes),
                          title_of(run.nodes[each.first].node),
                          leaves ? "result" : title_of(run.nodes[each.last].node)});
  }
}

void NetworkReport::write(const std::vector<PassResult>& passes) {
  const bool any =
      std::any_of(passes.begin(), passes.end(), [](const auto& each) { return each.found != 0; });
  auto* const table =
      any ? &add_figure_table(context_.report, "passes", {"pass", "what"}, kOfPass) : nullptr;
  for (const auto& each : passes) {
    report_figures(context_, fmt::format("network.pass.{}.", each.name), kOfPass, each,
                   each.found == 0 ? nullptr : table,
                   {std::string(each.name), std::string(each.what)});
  }
}

std::vector<FigureRow> NetworkReport::rows() {
  return figure_rows(kOfNetwork, kOfMemory, kOfNodes, kOfLayer, kOfHostNode, kOfPass);
}

}  // namespace npu::workloads
