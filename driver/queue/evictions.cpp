// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/evictions.hpp"

#include <algorithm>
#include <utility>

namespace npu::driver {

using abi::ManagementOpcode;

Picoseconds Evictions::time() const {
  return count_ == 0 ? time_ : time_ + (clock_.now() - since_);
}

// One command stops them all. One that is not answered may be executed later.
Status Evictions::evict(Instant deadline) {
  if (count_++ == 0) since_ = clock_.now();
  const auto& records = queues_.records();
  const auto is_held = [](const auto& record) { return record->held == Held::kYes; };
  if (std::all_of(records.begin(), records.end(), is_held)) return {};
  abi::ManagementCommand suspend;
  suspend.opcode = static_cast<std::uint8_t>(ManagementOpcode::kSuspend);
  suspend.pasid = pasid_.value();
  suspend.scope = static_cast<std::uint8_t>(abi::ManagementScope::kProcess);
  const auto answer = commands_.execute(suspend, deadline, DeadlineOf::kCaller);
  for (const auto& record : records) record->held = answer ? Held::kYes : Held::kUnknown;
  return answer ? Status() : forward_error(answer);
}

// Only those that nothing else holds; all of them have their turn. Without an answer for one the
// process is still evicted; one that the card has refused is for update() to mend.
Status Evictions::restore(Instant deadline) {
  if (count_ == 0) return fail(ErrorCode::kInvalidArgument, "the process is not evicted");
  if (--count_ > 0) return {};
  const auto resumed_all = resume_held(deadline);
  if (!resumed_all && resumed_all.error().code != ErrorCode::kBadDevice) {
    ++count_;
    return resumed_all;
  }
  time_ += clock_.now() - since_;
  return resumed_all;
}

Status Evictions::resume_held(Instant deadline) {
  std::vector<abi::ManagementCommand> wanted;
  std::vector<QueueRecord*> told;
  for (const auto& record : queues_.records()) {
    if (record->held == Held::kNo || record->leaving || !is_active(*record)) continue;
    wanted.push_back(commands_.on_queue(ManagementOpcode::kResume, *record));
    told.push_back(record.get());
  }
  const auto answers = commands_.execute(wanted, deadline, DeadlineOf::kCaller);
  Status status;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (answers[i]) {
      told[i]->note_held(false);
      continue;
    }
    told[i]->held = Held::kUnknown;
    if (status || status.error().code == ErrorCode::kBadDevice) status = forward_error(answers[i]);
  }
  return status;
}

Status Evictions::begin_compaction(Instant deadline) {
  compacting_ = true;
  return evict(deadline);
}

void Evictions::end_compaction() {
  if (!std::exchange(compacting_, false)) return;
  if (restore(commands_.deadline())) return;
  // Nobody would hear that a queue stands still, so it is tried again on an empty ring.
  static_cast<void>(commands_.ring().restart(commands_.deadline()));
  static_cast<void>(restore(commands_.deadline()));
}

Status Evictions::apply(QueueRecord& record, Instant deadline, DeadlineOf whose) {
  const bool hold = !is_active(record);
  if (record.is_known(hold)) return {};
  const auto opcode = hold ? ManagementOpcode::kSuspend : ManagementOpcode::kResume;
  record.held = Held::kUnknown;
  const auto answer = commands_.execute(commands_.on_queue(opcode, record), deadline, whose);
  if (!answer) return forward_error(answer);
  record.note_held(hold);
  return {};
}

}  // namespace npu::driver
