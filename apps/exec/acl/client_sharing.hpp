// SPDX-License-Identifier: Apache-2.0
// What a program may have of cards that programs share.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "npu/driver/quota.hpp"
#include "npu/driver/time_slices.hpp"

namespace npu::exec::acl {

struct ClientSharing {
  std::string name;                                     // "p0"
  std::shared_ptr<driver::MemoryQuota> quota;           // null: none
  std::optional<driver::TimeSliceOptions> time_slices;  // nothing: cores at any time
  driver::CoreQuota share;
};

// Programs of kernels in a card's memory.
struct ModuleUse {
  std::uint64_t count = 0;
  Bytes bytes = 0;
};

// What it had of them, over all cards.
struct ClientUse {
  driver::QuotaUse memory;
  Picoseconds busy;  // that it has had AI Cores in its turns
  std::uint64_t time_slices = 0, launches = 0, reclaimed = 0;

  void add(const driver::TimeSliceClientStatistics& more) {
    busy += more.busy;
    time_slices += more.time_slices;
    launches += more.launches;
    reclaimed += more.reclaimed;
  }
};

}  // namespace npu::exec::acl
