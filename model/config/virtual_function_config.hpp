// SPDX-License-Identifier: Apache-2.0
// What a card is cut into, and what cutting costs (abi/partition_registers.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::model {

// Of the card; they are counted, nothing executes on them.
struct MediaUnits {
  unsigned vpc = 0, jpegd = 0, jpege = 0, venc = 0, vdec = 0;
};

struct VirtualTemplateConfig {
  std::string name;
  unsigned ai_cores = 0;  // clusters
  unsigned aicpus = 0;
  Bytes memory = 0;
  MediaUnits media;
};

struct VirtualFunctionConfig {
  unsigned aicpus = 0;    // while the card is divided; data CPUs become some of them
  MediaUnits media;       // that the card has
  Picoseconds command{};  // of the card's firmware, each command
  unsigned dma_weight = 0, hbm_weight = 0, link_weight = 0;  // of the physical function
  unsigned link_usable_percent = 0, hbm_usable_percent = 0;  // what weights divide
  std::uint64_t scrub = 0;  // bytes per second of memory that is given back
  std::vector<VirtualTemplateConfig> templates;
};

}  // namespace npu::model
