// SPDX-License-Identifier: Apache-2.0
// The steps of npudemo. Each gives the figures of its line, or the error that made it fail.
#pragma once

#include <string>
#include <vector>

#include "apps/demo/session.hpp"

namespace npu::demo {

struct Step {
  const char* name;
  const char* what;  // for --list
  bool needs_card;   // the session is opened before it
  Result<std::string> (*run)(Session&);
};

// In the order in which they run.
const std::vector<Step>& steps();
// Not among them: work until the card is lost, because it is taken away, or because it has an
// uncorrectable error, after which it can be opened again.
Result<std::string> removal(Session& session);
Result<std::string> recovery(Session& session);

// What the steps are made of.
Result<std::string> scan_bus(Session& session);
Result<std::string> show_identity(Session& session);
Result<std::string> show_bars(Session& session);
Result<std::string> show_link(Session& session);
Result<std::string> allocate_memory(Session& session);
Result<std::string> exhaust_memory(Session& session);
Result<std::string> copy_both_ways(Session& session);
Result<std::string> copy_on_device(Session& session);
Result<std::string> press_the_ring(Session& session);
Result<std::string> wait_polling(Session& session);
Result<std::string> wait_interrupt(Session& session);
Result<std::string> wait_adaptive(Session& session);
Result<std::string> use_queues(Session& session);
Result<std::string> fault_unmapped(Session& session);
Result<std::string> fault_read_only(Session& session);
Result<std::string> fault_after_unmap(Session& session);
Result<std::string> fault_past_the_end(Session& session);
Result<std::string> fault_device_address(Session& session);
Result<std::string> fault_freed_memory(Session& session);
Result<std::string> reset_during_copy(Session& session);

}  // namespace npu::demo
