// SPDX-License-Identifier: Apache-2.0
// Objects that a driver or its user did not free: of the platform (host buffers for DMA, pins of
// imported memory, mappings of BARs, interrupt vectors), of libnpudrv (device buffers, events), and
// those that another driver reported (Platform::note_never_freed()).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/units.hpp"
#include "npu/testing/export.hpp"

namespace npu::testkit {

struct Leak {
  std::string kind;  // singular: "host buffer", "event"
  std::uint64_t count = 0;
  Bytes size = 0;            // total bytes; 0: none
  std::vector<Bytes> sizes;  // of each, if known
};

// "3 host buffers (4KiB, 4KiB, 64KiB), 1 pin never freed"; empty: none.
NPU_TESTING_API std::string describe(const std::vector<Leak>& leaks);

}  // namespace npu::testkit
