// SPDX-License-Identifier: Apache-2.0
// What the driver finds on the PCI bus, and what finding it costs.
#include <fmt/format.h>

#include "npu/driver/scan.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"

namespace npu::workloads {
namespace programs::enumerate {
namespace {

using driver::CardInfo;

constexpr Figure<CardInfo> kOfCard[] = {
    {"device_id", "", from<&CardInfo::function, &driver::PciFunction::device_id>},
    {"ai_cores", "", from<&CardInfo::ai_cores>, {"AI Cores", 2}},
    {"hbm_bytes", "B", from<&CardInfo::hbm_size>, {"HBM", 2}},
    {"bar0_bytes", "B", from<&CardInfo::register_bar, &driver::Bar::size>, {"size"}},
    {"",
     "",
     [](const CardInfo& card) -> FigureValue {
       return fmt::format("{:#x}", card.memory_bar().base);
     },
     {"BAR2", 1}},
    {"bar2_bytes", "B", from<&CardInfo::memory_bar, &driver::Bar::size>, {"size", 1}},
    {"msix_vectors", "", from<&CardInfo::msix, &driver::MsixInfo::vectors>, {"MSI-X", 2}},
    {"numa_node", "", from<&CardInfo::numa_node>, {"NUMA", 2}}};

struct Scanned {
  driver::ScanResult found;
  MeasuredSpan span;

  std::size_t functions() const { return found.functions.size(); }
  std::size_t cards() const { return found.cards.size(); }
  std::size_t refused() const { return found.refused.size(); }
};

constexpr Figure<Scanned> kFigures[] = {
    {"functions", "", from<&Scanned::functions>},
    {"cards", "", from<&Scanned::cards>},
    {"refused", "", from<&Scanned::refused>},
    {"config_reads",
     "",
     from<&Scanned::found, &driver::ScanResult::config_reads>,
     {},
     kFewerIsNoGain},
    {"config_writes", "", from<&Scanned::found, &driver::ScanResult::config_writes>, {}, kNoMore},
    {"time_us", "us", from<&Scanned::span>}};

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
  report_figures(context, "enumerate.", kFigures, {*found, {begin, end}});
  auto& table = add_figure_table(report, "cards", {"index", "function", "id", "BAR0"}, kOfCard);
  for (const auto& card : found->cards) {
    report_figures(context, fmt::format("enumerate.card{}.", card.device_index), kOfCard, card,
                   &table,
                   {std::to_string(card.device_index), to_string(card.bdf()),
                    fmt::format("{:04x}:{:04x}", card.function.vendor_id, card.function.device_id),
                    fmt::format("{:#x}", card.register_bar().base)});
  }
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
          programs::enumerate::run,
          figure_rows(programs::enumerate::kOfCard, programs::enumerate::kFigures)};
}

}  // namespace npu::workloads
