// SPDX-License-Identifier: Apache-2.0
// What a driver, or who used it, has not given back: objects of the platform that are still there
// (host buffers for DMA, pins of memory that somebody else keeps, mappings of BARs, interrupt
// vectors), what users of libnpudrv have of it (device buffers, events), and what another driver
// has told of (Platform::note_never_freed()).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/units.hpp"
#include "npu/testing/export.hpp"

namespace npu::testkit {

struct Leak {
  std::string kind;  // of one: "host buffer", "event"
  std::uint64_t count = 0;
  Bytes size = 0;            // of all of them; 0: they have none
  std::vector<Bytes> sizes;  // of each, where they are known
};

// "3 host buffers (4KiB, 4KiB, 64KiB), 1 pin never freed"; empty: there are none.
NPU_TESTING_API std::string describe(const std::vector<Leak>& leaks);

}  // namespace npu::testkit
