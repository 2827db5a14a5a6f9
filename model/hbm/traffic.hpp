// SPDX-License-Identifier: Apache-2.0
// What the queues hold while commands are decided.
#pragma once

#include "model/hbm/request_queue.hpp"

namespace npu::model::hbm {

// kReads: split queues with nothing but reads, which are served. An argument that the compiler
// knows, so that the questions it answers are not asked.
enum class Traffic : bool { kAny, kReads };

inline bool is_write(const Request& request, Traffic traffic) {
  return traffic == Traffic::kAny && request.write;
}

}  // namespace npu::model::hbm
