// SPDX-License-Identifier: Apache-2.0
// What a card counts, each counter a row: where it is read and what `npusim smi`, its JSON and
// Prometheus call it.
#pragma once

#include "tools/cli/smi/card_facts.hpp"

namespace npu::cli {

// Bytes of TLPs since the card's reset.
struct LinkCounter {
  unsigned long long npu_dsmi_traffic::*bytes;
  const char* direction;  // of the JSON's DIRECTION_bytes, and a label
  const char* kind;
  const char* exporter;  // npu_chip_info_pcie_NAME_bw
  const char* text;
};

inline constexpr LinkCounter kLinkCounters[] = {
    {&npu_dsmi_traffic::rx_posted, "received", "posted", "rx_p", "Received posted(bytes)"},
    {&npu_dsmi_traffic::rx_non_posted, "received", "non_posted", "rx_np",
     "Received non-posted(bytes)"},
    {&npu_dsmi_traffic::rx_completion, "received", "completion", "rx_cpl",
     "Received completions(bytes)"},
    {&npu_dsmi_traffic::tx_posted, "sent", "posted", "tx_p", "Sent posted(bytes)"},
    {&npu_dsmi_traffic::tx_non_posted, "sent", "non_posted", "tx_np", "Sent non-posted(bytes)"},
    {&npu_dsmi_traffic::tx_completion, "sent", "completion", "tx_cpl", "Sent completions(bytes)"}};

// Errors of the HBM, in a part of a card's answers; a `kind` is a label of the metric.
template <class Part>
struct ErrorCounter {
  unsigned int Part::*count;
  const char* json;
  const char* text;
  const char* metric;
  const char* type;
  const char* help;
  const char* kind = nullptr;
};

inline constexpr ErrorCounter<dsmi_ecc_info_stru> kErrorsSinceReset[] = {
    {&dsmi_ecc_info_stru::single_bit_error_count, "single_bit", "HBM Single Bit Error Count",
     "npu_chip_info_hbm_ecc_single_bit_error_cnt", "gauge", "corrected errors since the reset"},
    {&dsmi_ecc_info_stru::double_bit_error_count, "double_bit", "HBM Double Bit Error Count",
     "npu_chip_info_hbm_ecc_double_bit_error_cnt", "gauge", "other errors since the reset"}};

inline constexpr const char* kErrorsHelp = "errors of the HBM on record";
inline constexpr const char* kIsolatedHelp = "pages of 2 MiB out of use";
inline constexpr ErrorCounter<dsmi_ecc_pages_stru> kErrorsOnRecord[] = {
    {&dsmi_ecc_pages_stru::corrected_ecc_errors_aggregate_total, "recorded_single_bit",
     "HBM Single Bit Aggregate Total Err", "npusim_hbm_errors_total", "counter", kErrorsHelp,
     "corrected"},
    {&dsmi_ecc_pages_stru::uncorrected_ecc_errors_aggregate_total, "recorded_double_bit",
     "HBM Double Bit Aggregate Total Err", "npusim_hbm_errors_total", "counter", kErrorsHelp,
     "uncorrected"},
    {&dsmi_ecc_pages_stru::isolated_pages_single_bit_error, "isolated_pages_single_bit",
     "HBM Single Bit Isolated Pages", "npusim_hbm_isolated_pages", "gauge", kIsolatedHelp,
     "corrected"},
    {&dsmi_ecc_pages_stru::isolated_pages_double_bit_error, "isolated_pages_double_bit",
     "HBM Double Bit Isolated Pages", "npusim_hbm_isolated_pages", "gauge", kIsolatedHelp,
     "uncorrected"}};

}  // namespace npu::cli
