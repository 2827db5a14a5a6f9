// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/process_mapping.hpp"

#include <algorithm>

#include "driver/queue/signals_impl.hpp"
#include "driver/support/impl_of.hpp"

namespace npu::driver {

using abi::ManagementOpcode;

void ProcessMapping::note_unmapped() {
  mapped_ = unmapping_ = false;
  manager_.note_mapped(-1);
}

Status ProcessMapping::map() {
  if (unmapping_) {
    if (!tell_to_forget(commands_.deadline(), DeadlineOf::kDriver)) {
      return fail(ErrorCode::kTimeout, "the card has not yet forgotten the process");
    }
    note_unmapped();
  }
  if (mapped_) return {};
  abi::ManagementCommand map;
  map.opcode = static_cast<std::uint8_t>(ManagementOpcode::kMapProcess);
  map.pasid = resources_.pasid.value();
  map.vmid = static_cast<std::uint8_t>(resources_.vmid);
  map.page = resources_.page.value();
  map.vector = resources_.vector_number;
  const auto answer = commands_.execute(map, commands_.deadline());
  if (answer) {
    mapped_ = true;
    impl_of(*resources_.signals).connect(true);
    manager_.note_mapped(1);
    return {};
  }
  if (may_be_done(answer.error())) static_cast<void>(forget());
  return forward_error(answer);
}

// False: the card may still know its ids.
bool ProcessMapping::tell_to_forget(Instant deadline, DeadlineOf whose) {
  impl_of(*resources_.signals).connect(false);
  abi::ManagementCommand unmap;
  unmap.opcode = static_cast<std::uint8_t>(ManagementOpcode::kUnmapProcess);
  unmap.pasid = resources_.pasid.value();
  auto& ring = commands_.ring();
  auto answer = ring.execute(unmap, deadline, whose);
  if (!answer && answer.error().code == ErrorCode::kAborted) {
    answer = ring.execute(unmap, deadline, whose);
  }
  // It may not know the process: an attempt that was given up has been executed.
  return answer && (answer->status == abi::ManagementStatus::kSuccess ||
                    answer->status == abi::ManagementStatus::kInvalidProcess);
}

bool ProcessMapping::forget() {
  if (tell_to_forget(commands_.deadline(), DeadlineOf::kDriver)) return true;
  manager_.note_left_behind();
  if (!link_.lost()) {
    resources_.page.lose();
    resources_.pasid.lose();
    withheld_ = true;
  }
  return false;
}

void ProcessMapping::unmap(Instant end, DeadlineOf whose) {
  if (!mapped_) return;
  unmapping_ = true;
  if (whose == DeadlineOf::kDriver) {
    static_cast<void>(forget());
  } else if (!tell_to_forget(std::min(commands_.deadline(), end), whose)) {
    return;
  }
  note_unmapped();
}

void ProcessMapping::close() {
  if (!mapped_) return;  // or its last queue's end has not been answered in time
  static_cast<void>(forget());
  mapped_ = false;
  manager_.note_mapped(-1);
}

}  // namespace npu::driver
