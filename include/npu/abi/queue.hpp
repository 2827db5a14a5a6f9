// SPDX-License-Identifier: Apache-2.0
// Compute queues: everything about them (docs/compute-queues.md).
#pragma once

#include "npu/abi/queue_descriptor.hpp"  // IWYU pragma: export
#include "npu/abi/queue_entry.hpp"       // IWYU pragma: export
#include "npu/abi/queue_management.hpp"  // IWYU pragma: export
#include "npu/abi/queue_registers.hpp"   // IWYU pragma: export
