// SPDX-License-Identifier: Apache-2.0
// ProcessContext: eviction and restoration of all queues of a process.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/queue/process_impl.hpp"

namespace npu::driver {

using abi::ManagementOpcode;

// One command stops them all. One that is not answered may be executed later.
Status ProcessContext::Impl::evict(Instant deadline) {
  if (evictions++ == 0) evicted_since = device.platform.clock().now();
  const auto is_held = [](const auto& record) { return record->held == Held::kYes; };
  if (std::all_of(queues.begin(), queues.end(), is_held)) return {};
  abi::ManagementCommand suspend;
  suspend.opcode = static_cast<std::uint8_t>(ManagementOpcode::kSuspend);
  suspend.pasid = pasid.value();
  suspend.scope = static_cast<std::uint8_t>(abi::ManagementScope::kProcess);
  const auto answer = command(suspend, deadline, DeadlineOf::kCaller);
  for (const auto& record : queues) record->held = answer ? Held::kYes : Held::kUnknown;
  return answer ? Status() : forward_error(answer);
}

// Only those that nothing else holds; all of them have their turn. Without an answer for one the
// process is still evicted; one that the card has refused is for update() to mend.
Status ProcessContext::Impl::restore(Instant deadline) {
  if (evictions == 0) {
    return fail(ErrorCode::kInvalidArgument, "the process is not evicted");
  }
  if (--evictions > 0) return {};
  const auto resumed_all = resume_held(deadline);
  if (!resumed_all && resumed_all.error().code != ErrorCode::kBadDevice) {
    ++evictions;
    return resumed_all;
  }
  evicted_time += device.platform.clock().now() - evicted_since;
  return resumed_all;
}

Status ProcessContext::Impl::resume_held(Instant deadline) {
  std::vector<abi::ManagementCommand> wanted;
  std::vector<QueueRecord*> told;
  for (const auto& record : queues) {
    if (record->held == Held::kNo || record->leaving || !is_active(*record)) continue;
    wanted.push_back(on_queue(ManagementOpcode::kResume, *record));
    told.push_back(record.get());
  }
  const auto answers = commands(wanted, deadline, DeadlineOf::kCaller);
  Status status;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (answers[i]) {
      note_held(*told[i], false);
      continue;
    }
    told[i]->held = Held::kUnknown;
    if (status || status.error().code == ErrorCode::kBadDevice) status = forward_error(answers[i]);
  }
  return status;
}

Status ProcessContext::Impl::hold(Instant deadline) {
  const TimedMutexHolder holder(*mutex, deadline);
  if (!holder) return others_too_long();
  compacting = true;
  return evict(deadline);
}

void ProcessContext::Impl::let_go() {
  const MutexHolder holder(*mutex);
  if (!std::exchange(compacting, false)) return;
  if (restore(command_deadline())) return;
  // Nobody would hear that a queue stands still, so it is tried again on an empty ring.
  static_cast<void>(manager.ring().restart(command_deadline()));
  static_cast<void>(restore(command_deadline()));
}

}  // namespace npu::driver
