// SPDX-License-Identifier: Apache-2.0
// ProcessContext: eviction and restoration of all queues of a process.
#include <fmt/format.h>

#include <utility>

#include "driver/queue/process_impl.hpp"

namespace npu::driver {

using abi::ManagementOpcode;

// One command stops them all. If it is not answered the card has nevertheless been told: none of
// them starts anything.
Status ProcessContext::Impl::evict(Picoseconds deadline) {
  if (evictions++ > 0) return {};
  evicted_since = device.platform.clock().now();
  bool any = false;
  for (const auto& record : queues) {
    any = any || !record->held;
    record->held = true;
  }
  if (!any) return {};
  abi::ManagementCommand suspend;
  suspend.opcode = static_cast<std::uint8_t>(ManagementOpcode::kSuspend);
  suspend.pasid = pasid.value();
  suspend.scope = static_cast<std::uint8_t>(abi::ManagementScope::kProcess);
  const auto answer = command(suspend, deadline);
  return answer ? Status() : forward_error(answer);
}

// Only those that nothing else holds; all of them have their turn, the first error is reported.
Status ProcessContext::Impl::restore(Picoseconds deadline) {
  if (evictions == 0) {
    return fail(ErrorCode::kInvalidArgument, "the process is not evicted");
  }
  if (--evictions > 0) return {};
  evicted_time += device.platform.clock().now() - evicted_since;
  return resume_held(deadline);
}

Status ProcessContext::Impl::resume_held(Picoseconds deadline) {
  std::vector<abi::ManagementCommand> wanted;
  std::vector<QueueRecord*> told;
  for (const auto& record : queues) {
    if (!record->held || !is_active(*record)) continue;
    wanted.push_back(on_queue(ManagementOpcode::kResume, *record));
    told.push_back(record.get());
  }
  const auto answers = commands(wanted, deadline);
  Status status;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (answers[i]) {
      note_held(*told[i], false);
    } else if (status) {
      status = forward_error(answers[i]);
    }
  }
  return status;
}

Status ProcessContext::Impl::hold(Picoseconds deadline) {
  const MutexHolder holder(*mutex);
  compacting = true;
  return evict(deadline);
}

void ProcessContext::Impl::let_go() {
  const MutexHolder holder(*mutex);
  if (!std::exchange(compacting, false)) return;
  if (restore(command_deadline())) return;
  // Nobody would hear that a queue stands still, so it is tried again on an empty ring.
  static_cast<void>(manager.ring().restart(command_deadline()));
  static_cast<void>(resume_held(command_deadline()));
}

}  // namespace npu::driver
