// SPDX-License-Identifier: Apache-2.0
// What `npusim smi` and `npusim metrics` know of a card: answers of libnpudsmi. What it does not
// support has no value.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "dsmi/dsmi_common_interface.h"
#include "tools/cli/failure.hpp"

namespace npu::cli {

struct CardProcessFact {
  int pid = 0;
  std::optional<unsigned long long> memory;  // bytes
};

struct CardFacts {
  int id = 0;
  dsmi_chip_info_stru chip{};
  tag_pcie_idinfo pci{};
  std::optional<unsigned> health;  // 0 .. 3
  std::vector<unsigned> error_codes;
  // Percent, of the interval between the two looks, or since the card's reset; by
  // dsmi_utilization_type.
  std::array<std::optional<unsigned>, DSMI_UTILIZATION_CUBE + 1> uses;
  std::vector<unsigned> cores, vector_cores;  // cube or coupled ones, by number; vector cores
  std::optional<dsmi_aicore_info_stru> core_clock;
  std::optional<dsmi_aicpu_info_stru> aicpus;
  std::optional<dsmi_hbm_info_stru> memory;
  std::optional<dsmi_ecc_info_stru> ecc;
  std::optional<dsmi_ecc_pages_stru> pages;
  std::optional<dsmi_pcie_info_para> link;
  std::optional<npu_dsmi_traffic> traffic, traffic_before;
  std::optional<int> temperature;  // degrees C
  std::optional<unsigned> power;   // 0.1 W
  std::optional<std::vector<CardProcessFact>> processes;
  std::optional<dsmi_soc_total_resource> virtual_total;
  std::optional<dsmi_soc_free_resource> virtual_free;

  std::string bus_address() const;  // "0000:01:00.0"
  std::string name() const;         // "910B2"
};

// Of the attached cards, or of one of them. `again`: waits between two looks, so that what is told
// of an interval is of that one.
tl::expected<std::vector<CardFacts>, Failure> look_at_cards(std::optional<int> only, bool again);

}  // namespace npu::cli
