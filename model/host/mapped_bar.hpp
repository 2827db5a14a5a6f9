// SPDX-License-Identifier: Apache-2.0
// Through which BAR an address is mapped, and what is there.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "model/host/host_statistics.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/pci.hpp"

namespace npu::model {

struct MappedBar {
  static constexpr unsigned kNone = HostStatistics::kBars;

  unsigned number = kNone;
  platform::Bdf function;
  std::uint64_t address = 0;  // of the BAR
};

// The name of what makes the card look at memory when it is written; empty: it does not.
using TriggerLookup = std::function<std::string_view(platform::Bdf, unsigned bar, Bytes offset)>;

}  // namespace npu::model
