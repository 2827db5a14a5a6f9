// SPDX-License-Identifier: Apache-2.0
// What a card says of itself in numbers, each a row: the member of DSMI's answers that it is, and
// what `npusim smi`, its JSON and Prometheus call it.
#pragma once

#include <cstdint>

#include "tools/cli/smi/card_facts.hpp"
#include "tools/cli/smi/metrics_text.hpp"

namespace npu::cli {

using CardValue = std::optional<std::int64_t>;  // nothing: it is not known

// Lines of what `npusim smi info -t` prints.
enum class Page : std::uint8_t { kNone, kMemoryUse, kCoreUse, kMemory, kEcc, kLink, kTraffic };
// Metrics come in the order of their places, in one place in that of the rows.
enum class Place : std::uint8_t { kUse, kAllUse, kUnitUse, kState, kMemory, kRate, kHealth, kOwn };

// Columns of a row; each may be missing.
namespace card_counters {

// A member of `object`, such as "ecc"; "a/b" is b of a of it.
struct Json {
  const char *object = "", *name = "";
};

struct Line {
  Page page = Page::kNone;
  const char* name = "";
  int by = 1;  // that the value is divided by
};

struct Metric {
  Place place = Place::kUse;
  const char *name = nullptr, *help = nullptr;
  struct Label {
    const char *name = nullptr, *value = nullptr;
  } labels[2] = {};
  double times = 1, by = 1;  // of the value
};

}  // namespace card_counters

struct CardCounter {
  CardValue (*of)(const CardFacts&);
  card_counters::Json json = {};
  card_counters::Line line = {};
  card_counters::Metric metrics[2] = {};  // those with a name

  constexpr void put(card_counters::Json column) { json = column; }
  constexpr void put(card_counters::Line column) { line = column; }
  constexpr void put(card_counters::Metric column) {
    metrics[metrics[0].name == nullptr ? 0 : 1] = column;
  }
};

namespace card_counters {

using Facts = CardFacts;
using Hbm = dsmi_hbm_info_stru;
using Ecc = dsmi_ecc_info_stru;
using Pages = dsmi_ecc_pages_stru;
using Traffic = npu_dsmi_traffic;

template <class... Columns>
constexpr CardCounter row(CardValue (*of)(const Facts&), Columns... columns) {
  CardCounter row{of};
  (row.put(columns), ...);
  return row;
}

template <auto kFact>
CardValue of(const Facts& card) {
  const auto& fact = card.*kFact;
  return fact ? CardValue(*fact) : std::nullopt;
}
template <auto kPart, auto kMember>
CardValue of(const Facts& card) {
  const auto& part = card.*kPart;
  return part ? CardValue((*part).*kMember) : std::nullopt;
}
template <int kType>
CardValue use(const Facts& card) {
  const auto& use = card.uses[kType];
  return use ? CardValue(*use) : std::nullopt;
}
inline CardValue is_well(const Facts& card) {
  return card.health ? CardValue(*card.health == 0) : std::nullopt;
}

// Bytes of TLPs.
template <auto kMember>
constexpr CardCounter tlps(const char* json, const char* line, const char* rate,
                           const char* direction, const char* kind) {
  return row(of<&Facts::traffic, kMember>, Json{"pcie", json}, Line{Page::kTraffic, line},
             Metric{Place::kRate, rate, "bytes of TLPs, MB/s"},
             Metric{Place::kOwn,
                    "npusim_pcie_bytes_total",
                    "bytes of TLPs, as the card sees them",
                    {{"direction", direction}, {"kind", kind}}});
}
// On record.
template <auto kMember>
constexpr CardCounter record(const char* json, const char* line, const char* metric,
                             const char* help, const char* kind) {
  return row(of<&Facts::pages, kMember>, Json{"ecc", json}, Line{Page::kEcc, line},
             Metric{Place::kOwn, metric, help, {{"kind", kind}}});
}
template <auto kMember>
constexpr CardCounter moved(const char* direction) {
  return row(of<&Facts::traffic, kMember>, Metric{Place::kOwn,
                                                  "npusim_hbm_bytes_total",
                                                  "bytes that requests have moved",
                                                  {{"direction", direction}}});
}

inline constexpr CardCounter kRows[] = {
    row(of<&Facts::health>, Json{"health", "health"},
        Metric{Place::kHealth, "npusim_health", "0 good, 1 minor, 2 major, 3 critical"}),
    row(of<&Facts::temperature>, Json{"state", "temperature_c"},
        Metric{Place::kState, "npu_chip_info_temperature", "degrees Celsius"}),
    row(of<&Facts::power>, Json{"state", "power_deciwatt"},
        Metric{Place::kState, "npu_chip_info_power", "watt", {}, 1, 10}),
    row(of<&Facts::core_clock, &dsmi_aicore_info_stru::freq>, Json{"ai_core_mhz", "rated"}),
    row(of<&Facts::core_clock, &dsmi_aicore_info_stru::curfreq>, Json{"ai_core_mhz", "now"},
        Metric{Place::kState, "npu_chip_info_aicore_current_freq", "AI Core clock, MHz"}),
    row(is_well, Metric{Place::kState, "npu_chip_info_health_status", "1: no alarm, 0: there are"}),
    row(of<&Facts::memory, &Hbm::memory_size>, Line{Page::kMemoryUse, "HBM Capacity(MB)", 1024}),
    row(of<&Facts::memory, &Hbm::memory_size>, Json{"hbm", "size_kb"},
        Line{Page::kMemory, "HBM Capacity(KB)"},
        Metric{Place::kMemory, "npu_chip_info_hbm_total_memory", "HBM, MB", {}, 1, 1024},
        Metric{Place::kOwn, "npusim_hbm_size_bytes", "HBM that can be allocated", {}, 1024}),
    row(of<&Facts::memory, &Hbm::memory_usage>, Json{"hbm", "used_kb"},
        Line{Page::kMemory, "HBM Usage(KB)"},
        Metric{Place::kMemory, "npu_chip_info_hbm_used_memory", "HBM in use, MB", {}, 1, 1024},
        Metric{Place::kOwn, "npusim_hbm_used_bytes", "HBM in use", {}, 1024}),
    row(of<&Facts::memory, &Hbm::freq>, Json{"hbm", "mhz"},
        Line{Page::kMemory, "HBM Clock Speed(MHz)"}),
    row(use<DSMI_UTILIZATION_CORE>, Json{"use_percent", "ai_core"},
        Line{Page::kCoreUse, "Aicore Usage Rate(%)"},
        Metric{Place::kUse, "npu_chip_info_utilization", "AI Cores in use, percent"}),
    row(use<DSMI_UTILIZATION_VECTOR>, Json{"use_percent", "vector"},
        Line{Page::kCoreUse, "Aivector Usage Rate(%)"},
        Metric{Place::kUnitUse, "npu_chip_info_vector_utilization",
               "vector cores in use, percent"}),
    row(use<DSMI_UTILIZATION_CUBE>, Json{"use_percent", "cube"},
        Line{Page::kCoreUse, "Aicube Usage Rate(%)"},
        Metric{Place::kUnitUse, "npu_chip_info_cube_utilization", "cube cores in use, percent"}),
    row(use<DSMI_UTILIZATION_OVERALL>, Json{"use_percent", "overall"},
        Line{Page::kCoreUse, "NPU Utilization(%)"},
        Metric{Place::kAllUse, "npu_chip_info_overall_utilization", "all cores in use, percent"}),
    row(use<DSMI_UTILIZATION_AICPU>, Json{"use_percent", "aicpu"},
        Line{Page::kCoreUse, "Aicpu Usage Rate(%)"}),
    row(use<DSMI_UTILIZATION_HBM>, Json{"use_percent", "hbm"},
        Line{Page::kMemoryUse, "HBM Usage Rate(%)"},
        Metric{Place::kMemory, "npu_chip_info_hbm_utilization", "HBM in use, percent"}),
    row(use<DSMI_UTILIZATION_HBM_BANDWIDTH>, Json{"use_percent", "hbm_bandwidth"},
        Line{Page::kMemoryUse, "HBM Bandwidth Usage Rate(%)"},
        Metric{Place::kMemory, "npu_chip_info_hbm_bandwidth_utilization",
               "of the HBM's peak rate, percent"}),
    row(of<&Facts::ecc, &Ecc::enable_flag>, Line{Page::kEcc, "HBM ECC Enable Flag"},
        Metric{Place::kMemory, "npu_chip_info_hbm_ecc_enable_flag", "1: errors are corrected"}),
    row(of<&Facts::ecc, &Ecc::single_bit_error_count>, Json{"ecc", "single_bit"},
        Line{Page::kEcc, "HBM Single Bit Error Count"},
        Metric{Place::kMemory, "npu_chip_info_hbm_ecc_single_bit_error_cnt",
               "corrected errors since the reset"}),
    row(of<&Facts::ecc, &Ecc::double_bit_error_count>, Json{"ecc", "double_bit"},
        Line{Page::kEcc, "HBM Double Bit Error Count"},
        Metric{Place::kMemory, "npu_chip_info_hbm_ecc_double_bit_error_cnt",
               "other errors since the reset"}),
    record<&Pages::corrected_ecc_errors_aggregate_total>(
        "recorded_single_bit", "HBM Single Bit Aggregate Total Err", "npusim_hbm_errors_total",
        "errors of the HBM on record", "corrected"),
    record<&Pages::uncorrected_ecc_errors_aggregate_total>(
        "recorded_double_bit", "HBM Double Bit Aggregate Total Err", "npusim_hbm_errors_total",
        "errors of the HBM on record", "uncorrected"),
    record<&Pages::isolated_pages_single_bit_error>(
        "isolated_pages_single_bit", "HBM Single Bit Isolated Pages", "npusim_hbm_isolated_pages",
        "pages of 2 MiB out of use", "corrected"),
    record<&Pages::isolated_pages_double_bit_error>(
        "isolated_pages_double_bit", "HBM Double Bit Isolated Pages", "npusim_hbm_isolated_pages",
        "pages of 2 MiB out of use", "uncorrected"),
    row(of<&Facts::link, &dsmi_pcie_info_para::rate_mode>, Json{"pcie", "generation"},
        Line{Page::kLink, "Link Generation"}),
    row(of<&Facts::link, &dsmi_pcie_info_para::lane_num>, Json{"pcie", "lanes"},
        Line{Page::kLink, "Link Lanes"}),
    moved<&Traffic::hbm_read>("read"),
    moved<&Traffic::hbm_written>("written"),
    tlps<&Traffic::rx_posted>("received_bytes/posted", "Received posted(bytes)",
                              "npu_chip_info_pcie_rx_p_bw", "received", "posted"),
    tlps<&Traffic::rx_non_posted>("received_bytes/non_posted", "Received non-posted(bytes)",
                                  "npu_chip_info_pcie_rx_np_bw", "received", "non_posted"),
    tlps<&Traffic::rx_completion>("received_bytes/completion", "Received completions(bytes)",
                                  "npu_chip_info_pcie_rx_cpl_bw", "received", "completion"),
    tlps<&Traffic::tx_posted>("sent_bytes/posted", "Sent posted(bytes)",
                              "npu_chip_info_pcie_tx_p_bw", "sent", "posted"),
    tlps<&Traffic::tx_non_posted>("sent_bytes/non_posted", "Sent non-posted(bytes)",
                                  "npu_chip_info_pcie_tx_np_bw", "sent", "non_posted"),
    tlps<&Traffic::tx_completion>("sent_bytes/completion", "Sent completions(bytes)",
                                  "npu_chip_info_pcie_tx_cpl_bw", "sent", "completion"),
    row(of<&Facts::traffic, &Traffic::time_ns>,
        Metric{Place::kOwn, kDeviceSeconds, kDeviceSecondsHelp, {}, 1, 1e9})};

}  // namespace card_counters

inline constexpr auto& kCardCounters = card_counters::kRows;

}  // namespace npu::cli
