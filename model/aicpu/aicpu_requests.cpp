// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/aicpu_requests.hpp"

namespace npu::model {

void AicpuRequests::read(std::uint64_t address, Bytes length) {
  thread_.synchronise();
  rounds_.acted();
  await_answer(Access::kRead, address, length);
  check_answer(Access::kRead, address);
}

bool AicpuRequests::translate(Access access, std::uint64_t address) {
  const bool write = access == Access::kTranslateWrite;
  if (shared_.memory.knows(thread_.space(), address, write)) return false;
  await_answer(access, address, 1);
  check_answer(access, address);
  thread_.synchronise();
  return true;
}

void AicpuRequests::await_writes(std::uint64_t address, Bytes length) {
  const SimTime arrival = shared_.arrival(thread_.space(), address, length);
  if (arrival <= thread_.local()) return;
  rounds_.acted();
  thread_.set_local(arrival);
  thread_.synchronise();
}

void AicpuRequests::await_answer(Access access, std::uint64_t address, Bytes length) {
  waiting_ = true;
  shared_.request(number_, access, thread_.space(), address, length, thread_.block().cause);
  while (waiting_) shared_.sim.agenda.wait(answer_);
}

void AicpuRequests::check_answer(Access access, std::uint64_t address) {
  thread_.reach(sim_now());
  thread_.check();
  if (completion_ == Completion::kSuccess) return;
  thread_.fault(device_fault(completion_), address, access == Access::kTranslateWrite);
}

void AicpuRequests::answered(Completion completion) {
  completion_ = completion;
  waiting_ = false;
  shared_.sim.agenda.notify(answer_);
}

}  // namespace npu::model
