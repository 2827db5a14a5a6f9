// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/run_stop.hpp"

namespace npu::firmware {

void RunStop::fail(abi::RunStatus status, std::uint32_t task, const Worker* worker,
                   std::uint32_t detail, std::uint32_t cond, std::uint32_t block) {
  auto& port = run_.port();
  why_ = Stop::kFailed;
  const auto failed = static_cast<std::uint32_t>(Stop::kFailed);
  const std::uint64_t before = port.compare_exchange(run_.control(scratch::kStop), 4, 0, failed);
  if (before != 0) {
    why_ = static_cast<Stop>(before);  // what the others go by
    return;
  }
  abi::RunResult failure;
  failure.status = static_cast<std::uint32_t>(status);
  failure.task = task;
  failure.detail = detail;
  failure.cond = cond;
  if (worker != nullptr) {
    failure.worker = worker->index;
    failure.physical_core = worker->physical;
  }
  port.write(run_.control(scratch::kFailedBlock), &block, sizeof block);
  port.write(run_.control(scratch::kFailure), &failure, offsetof(abi::RunResult, started));
}

void RunStop::time_out() {
  const auto timeout = static_cast<std::uint32_t>(Stop::kTimeout);
  run_.port().compare_exchange(run_.control(scratch::kStop), 4, 0, timeout);
}

void RunStop::read_failure(abi::RunResult& result) const {
  auto& port = run_.port();
  port.read(run_.control(scratch::kFailure), &result, offsetof(abi::RunResult, started));
  port.read(run_.control(scratch::kFailedBlock), &result.block, sizeof result.block);
}

}  // namespace npu::firmware
