// SPDX-License-Identifier: Apache-2.0
// What the queues hold while commands are decided.
#pragma once

#include "model/hbm/request_queue.hpp"

namespace npu::model::hbm {

// kReads, kWrites: split queues with nothing but reads, or writes, which are served. An argument
// that the compiler knows, so that the questions it answers are not asked.
enum class Traffic : std::uint8_t { kAny, kReads, kWrites };

// Whether one is a write that is `write` if that is not known.
inline bool is_write(bool write, Traffic traffic) {
  return traffic == Traffic::kAny ? write : traffic == Traffic::kWrites;
}
inline bool is_write(const Request& request, Traffic traffic) {
  return is_write(request.write, traffic);
}

}  // namespace npu::model::hbm
