// SPDX-License-Identifier: Apache-2.0
// Classes of activities (activity.hpp): the part of the machine, and the role of an event in a
// request, in its unit's load and on a critical path. Reports and timelines use them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace npu::platform {

// The part of the machine.
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

// The place of an event in the request that is its cause.
enum class Flow : std::uint8_t { kNone, kBegin, kStep, kEnd };

// How an event measures the load of its unit. Only one activity of a unit does; its other events
// lie within that one.
enum class Load : std::uint8_t {
  kNone,
  kTime,       // by its duration
  kBytes,      // TraceEvent::bytes, relative to the unit's capacity
  kWireBytes,  // TraceEvent::detail, relative to the unit's capacity
  kRate,       // none: its bytes lie within other events and appear only as a rate
};

// The role of an event on a critical path.
enum class Path : std::uint8_t {
  kNone,      // none: of memories, links and translations only their effect on a request counts
  kWork,      // work of a unit
  kRequest,   // work of the card for a request, outside of its other events
  kHostWait,  // a host task waits
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
