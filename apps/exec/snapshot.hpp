// SPDX-License-Identifier: Apache-2.0
// What a server is doing just now, for who looks from outside of the machine: at no simulated time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/exec/acl/client_sharing.hpp"

namespace npu::exec {

// A program on a card.
struct ClientSnapshot {
  std::string program;  // "p0"
  std::uint32_t device = 0;
  driver::QuotaUse memory;  // over all cards
  bool in_turns = false;
  driver::TimeSliceClientStatistics turn;
  bool managed = false;  // it has managed memory, and these are of it
  std::uint64_t page_faults = 0, fault_errors = 0, fault_warnings = 0;
  acl::ModuleUse modules;
  driver::DeviceFeatures features;
};

// A thread in a call.
struct CallSnapshot {
  std::string thread;     // "p0.t1"
  std::string_view call;  // "aclrtSynchronizeStream"
  Instant began;
};

struct ServerSnapshot {
  std::vector<ClientSnapshot> clients;  // that have a device
  std::vector<std::pair<std::uint32_t, driver::TimeSliceSchedulerStatistics>>
      schedulers;  // by device
  std::vector<CallSnapshot> calls;
};

}  // namespace npu::exec
