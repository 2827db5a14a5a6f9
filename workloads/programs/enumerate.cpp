// SPDX-License-Identifier: Apache-2.0
// What the driver finds on the PCI bus, and what finding it costs.
#include <fmt/format.h>

#include "npu/driver/scan.hpp"
#include "workloads/framework/measurement.hpp"
#include "workloads/programs/programs.hpp"

namespace npu::workloads {
namespace programs::enumerate {
namespace {

void report_card(Report& report, Table& table, const driver::CardInfo& card) {
  const std::string prefix = fmt::format("enumerate.card{}.", card.device_index);
  report.add_metric(prefix + "device_id", Number::count(card.function.device_id), "");
  report.add_metric(prefix + "ai_cores", Number::count(card.ai_cores), "");
  report.add_metric(prefix + "hbm_bytes", Number::count(card.hbm_size), "B");
  report.add_metric(prefix + "bar0_bytes", Number::count(card.register_bar().size), "B");
  report.add_metric(prefix + "bar2_bytes", Number::count(card.memory_bar().size), "B");
  report.add_metric(prefix + "msix_vectors", Number::count(card.msix.vectors), "");
  report.add_metric(prefix + "numa_node", Number::integer(card.numa_node()), "");
  table.rows.push_back(
      {std::to_string(card.device_index), to_string(card.bdf()),
       fmt::format("{:04x}:{:04x}", card.function.vendor_id, card.function.device_id),
       fmt::format("{:#x}", card.register_bar().base), size_name(card.register_bar().size),
       fmt::format("{:#x}", card.memory_bar().base), size_name(card.memory_bar().size),
       std::to_string(card.ai_cores), size_name(card.hbm_size), std::to_string(card.msix.vectors),
       std::to_string(card.numa_node())});
}

Status run(Context& context) {
  driver::ScanOptions options;
  options.exhaustive = context.parameters.flag("exhaustive");
  context.step("scanning", 0, 1);
  const Instant begin = context.platform.clock().now();
  auto found = driver::scan(context.platform, options);
  if (!found) return forward_error(found);
  const Instant end = context.platform.clock().now();
  const Picoseconds elapsed = end - begin;
  auto& report = context.report;
  report.add_metric("enumerate.functions", Number::count(found->functions.size()), "");
  report.add_metric("enumerate.cards", Number::count(found->cards.size()), "");
  report.add_metric("enumerate.refused", Number::count(found->refused.size()), "");
  report.add_metric("enumerate.config_reads", Number::count(found->config_reads), "");
  report.add_metric("enumerate.config_writes", Number::count(found->config_writes), "");
  report.add_metric("enumerate.time_us", Number::microseconds(elapsed), "us");
  mark(context.platform.tracer(), "enumerate.time_us", {begin, end});
  auto& table = report.add_table("cards", {"index", "function", "id", "BAR0", "size", "BAR2",
                                           "size", "AI Cores", "HBM", "MSI-X", "NUMA"});
  for (const auto& card : found->cards) report_card(report, table, card);
  for (const auto& refusal : found->refused) {
    report.add_note("refused " + to_string(refusal.bdf) + ": " + refusal.error.message());
  }
  report.add_note(
      fmt::format("{} functions and {} cards found in {} us by {} configuration reads "
                  "and {} writes",
                  found->functions.size(), found->cards.size(),
                  Number::microseconds(elapsed).text(), found->config_reads, found->config_writes));
  return {};
}

}  // namespace
}  // namespace programs::enumerate

Workload enumerate() {
  return {"enumerate",
          "Functions and cards found by configuration reads alone, and the time that takes",
          {{"exhaustive", ParameterType::kFlag, "", "off",
            "read all 256 x 32 x 8 functions instead of stepping over absent ones", 0, 1}},
          programs::enumerate::run};
}

}  // namespace npu::workloads
