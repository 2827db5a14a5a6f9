// SPDX-License-Identifier: Apache-2.0
// What the library keeps of streams' waits.
#pragma once

#include <atomic>
#include <cstdint>

#include "apps/compat/acl/helper_thread.hpp"

namespace npu::compat {

// Looks at device memory for streams that wait for it.
HelperThread& value_thread();
// Milliseconds of streams' waits for events (aclrtSetOpWaitTimeout()); 0: for ever.
inline std::atomic<std::uint64_t>& wait_limit() {
  static std::atomic<std::uint64_t> limit{0};
  return limit;
}

}  // namespace npu::compat
