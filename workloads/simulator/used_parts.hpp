// SPDX-License-Identifier: Apache-2.0
// What kernels used of a card, part by part, beside what each part could have done in their time;
// the part that needed most of it says how fast the kernels could have been.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/config/system_config.hpp"
#include "tools/timeline/kernel_use.hpp"

namespace npu::workloads {

struct UsedPart {
  std::string name;                 // of a pipe, "l2", "hbm"
  unsigned cores = 0;               // pipes: that used it
  std::optional<Picoseconds> busy;  // pipes: of one of these cores on average
  std::optional<Bytes> bytes;       // pipes: from and to global memory
  double bytes_per_second = 0;      // at most, of these cores or of the memory; 0: not known
  // That it needs at least: a pipe that computes as long as it is busy, others for their bytes.
  Picoseconds least;
};

// Pipes that did anything, L2 and HBM. `l2_rate` and `hbm_rate` in bytes per second.
std::vector<UsedPart> used_parts(const timeline::KernelUse& use, const model::ChipConfig& chip,
                                 std::uint64_t l2_rate, std::uint64_t hbm_rate);

// The part that needs most; null of no parts.
const UsedPart* narrowest(const std::vector<UsedPart>& parts);

}  // namespace npu::workloads
