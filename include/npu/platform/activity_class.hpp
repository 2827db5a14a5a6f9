// SPDX-License-Identifier: Apache-2.0
// How activities (activity.hpp) are told apart: by the part of the machine, and by what an event is
// on the way of a request, for its unit's load and on a critical path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace npu::platform {

// The part of the machine that an activity belongs to.
enum class Category : std::uint8_t {
  kWorkload,
  kDriver,
  kHost,
  kPcie,
  kDma,
  kFault,
  kMmu,
  kQueue,
  kAicore,
  kAicpu,
  kL2,
  kHbm,
  kHccs,
  kCount,
};

// Where an event stands on the way of the request that its cause names.
enum class Flow : std::uint8_t { kNone, kBegin, kStep, kEnd };

// By what measure an event says that its unit is busy. One activity of a unit says so: others of
// the same unit lie within it.
enum class Load : std::uint8_t {
  kNone,
  kTime,       // while the event lasts
  kBytes,      // by TraceEvent::bytes of what the unit could carry
  kWireBytes,  // by TraceEvent::detail of what the unit could carry
  kRate,       // not: its bytes are shown as a rate only, for they lie within others' time
};

// What an event is on a critical path.
enum class Path : std::uint8_t {
  kNone,      // nothing: of memories, links and translations only what a request sees leads on
  kWork,      // what a unit does
  kRequest,   // what the card does for a request, as far as it is no part of another event of it
  kHostWait,  // a host task stands still
  kCall,      // a call of the driver's interface
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(Category::kCount)>
    kCategoryNames{"workload", "driver", "host",  "pcie", "dma", "fault", "mmu",
                   "queue",    "aicore", "aicpu", "l2",   "hbm", "hccs"};

constexpr std::string_view to_string(Category category) {
  const auto index = static_cast<std::size_t>(category);
  return index < kCategoryNames.size() ? kCategoryNames[index] : "?";
}

}  // namespace npu::platform
