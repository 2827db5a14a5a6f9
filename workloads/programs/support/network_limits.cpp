// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/network_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/config/link_rate.hpp"
#include "model/config/system_config.hpp"
#include "tools/timeline/critical_path.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/simulator/track_capacities.hpp"

namespace npu::workloads {
namespace {

constexpr Figure<OfKernels> kOfKernels[] = {
    {"operations", "", from<&OfKernels::all>, {"operations"}},
    {"l2_bytes", "B", from<&OfKernels::l2>, {"L2 B"}},
    {"hbm_bytes", "B", from<&OfKernels::hbm>, {"HBM B"}},
    {"tflops", "TFLOP/s", from<&OfKernels::tflops>, {"TFLOP/s"}},
    {"attainable_tflops", "TFLOP/s", from<&OfKernels::allowed>, {"attainable"}},
    {"hbm_gb_per_s", "GB/s", from<&OfKernels::bandwidth>, {"HBM GB/s"}}};

// The least time of these operations on all cubes.
std::uint64_t least_ps(const std::array<std::uint64_t, 6>& operations,
                       const model::ChipConfig& chip) {
  const auto& macs = chip.core.cube;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto type = static_cast<platform::DataType>(i);
    const bool is_single = type == platform::DataType::kFp32 && macs.fp32_macs != 0;
    const std::uint64_t each = type == platform::DataType::kInt8 ? macs.int8_macs
                               : is_single                       ? macs.fp32_macs
                                                                 : macs.fp16_macs;
    // Operations of a microsecond.
    const std::uint64_t rate = 2 * each * chip.ai_cores * (chip.aicore.clock_hz / 1'000'000);
    if (rate != 0) all += operations[i] * 1000 / std::max<std::uint64_t>(rate / 1000, 1);
  }
  return all;
}

}  // namespace

std::uint64_t OfKernels::all() const {
  return std::accumulate(operations.begin(), operations.end(), std::uint64_t{0});
}

Number OfKernels::rate(std::uint64_t count) const {
  const auto time = static_cast<std::uint64_t>(card.count());
  return Number::quotient(count, std::max<std::uint64_t>(time, 1), 3);
}

std::string OfKernels::bound() const {
  const auto longest =
      std::max_element(limits.begin(), limits.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest == limits.end()) return {};
  Picoseconds whole{};
  for (const auto& [name, time] : limits) whole += time;
  return fmt::format("{} {} %", longest->first, (100 * longest->second.count()) / whole.count());
}

NetworkLimits::NetworkLimits(const Context& context)
    : use_([&trace = context.trace](std::uint32_t track) { return trace.track_name(track); }) {}

void NetworkLimits::add(OfKernels& to, const network::NodeTimes& node, Context& context) const {
  const auto name = [&](std::uint32_t track) { return context.trace.track_name(track); };
  const TrackCapacities capacities(context.simulator);
  const auto capacity = [&](const std::string& track) { return capacities.of(track); };
  for (std::size_t i = 0; i < node.operations.size(); ++i) to.operations[i] += node.operations[i];
  to.card += node.card.time();
  for (const auto& kernel : node.kernels) {
    const auto [l2, hbm] = use_.moved_for(kernel.cause);
    to.l2 += l2.read + l2.written;
    to.hbm += hbm.read + hbm.written;
    if (kernel.begin < Instant(Picoseconds(events_.known_from()))) continue;
    const auto path = timeline::launch_path(events_, name, kernel.begin, kernel.end);
    for (const auto& limit :
         timeline::kernel_limits(path, false, traffic_, name, capacity).limits) {
      to.limits[limit.name] += limit.time;
    }
  }
}

void NetworkLimits::report(const network::Graph& graph, const network::RunTimes& run, bool by_node,
                           Context& context) {
  events_.sort([&](std::uint32_t track) { return context.trace.track_name(track); });
  const auto& chip = context.machine->cards[context.parameters.integer("card")];
  const auto write = [&](const std::string& prefix, OfKernels row, Table& table,
                         std::vector<std::string> labels) {
    // What the cubes or the memory take at least.
    const auto hbm = model::hbm_bytes_per_second(chip.hbm) / 1'000'000;
    const auto least = std::max(least_ps(row.operations, chip), row.hbm * 1'000'000 / hbm);
    row.attainable = least == 0 ? 0 : row.all() * 1000 / least;
    labels.push_back(row.bound());
    report_figures(context, prefix, kOfKernels, row, &table, std::move(labels));
  };
  std::map<std::string, OfKernels> rows;
  for (const auto& node : run.nodes) {
    if (!node.kernels.empty()) add(rows[graph.nodes[node.node].op], node, context);
  }
  if (rows.empty()) return;
  auto& table = add_figure_table(context.report, "limits of nodes",
                                 {"operator of ONNX", "bound by"}, kOfKernels);
  for (const auto& [op, row] : rows) write("network." + op + ".", row, table, {op});
  if (!by_node) return;
  auto& single = add_figure_table(context.report, "limits of nodes in order",
                                  {"node", "name", "operator of ONNX", "bound by"}, kOfKernels);
  for (const auto& node : run.nodes) {
    if (node.kernels.empty()) continue;
    OfKernels row;
    add(row, node, context);
    const auto& known = graph.nodes[node.node];
    write(fmt::format("network.node.{}.", node.node), row, single,
          {std::to_string(node.node), known.name, known.op});
  }
}

}  // namespace npu::workloads
