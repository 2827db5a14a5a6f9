// SPDX-License-Identifier: Apache-2.0
// One reader of a card's events: which it has seen, and what it wants.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "npu/dsmi/attach.hpp"

namespace npu::dsmi {

// Whether an event is one that the filter lets through.
bool passes(const dms_fault_event& event, const dsmi_event_filter& filter);
dms_fault_event to_dms(const abi::LoggedEvent& event, std::size_t device);

class EventReader {
 public:
  // Number `seen` and those before are none of its business.
  void begin(std::uint32_t seen) { seen_ = seen; }
  // The oldest event that it has not given and that passes. Those that do not are gone. Reaches the
  // card.
  Result<std::optional<dms_fault_event>> next(driver::Management& card, std::size_t device,
                                              const dsmi_event_filter& filter);

 private:
  std::deque<abi::LoggedEvent> waiting_;
  std::uint32_t seen_ = 0;
  int given_ = 0;
};

}  // namespace npu::dsmi
