// SPDX-License-Identifier: Apache-2.0
// Options of queues that a card must take.
#pragma once

#include "npu/driver/queue_types.hpp"
#include "tests/fuzz/random.hpp"

namespace npu::attack {

// With a core that there is on all cards.
driver::CoreMask any_core_mask(fuzz::Random& random);
driver::QueueOptions any_queue_options(fuzz::Random& random);

}  // namespace npu::attack
