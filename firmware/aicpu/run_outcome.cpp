// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/run_outcome.hpp"

namespace npu::firmware {

void RunOutcome::write(const RunStop& stop, const Progress& progress,
                       const Progress::Totals& totals) {
  if (stop.why() == Stop::kFailed) {
    stop.read_failure(result_);
    if (result_.status == static_cast<std::uint32_t>(abi::RunStatus::kOk)) {
      // The thread that failed has died before it could say of what.
      result_.status = static_cast<std::uint32_t>(abi::RunStatus::kTimeout);
      result_.reason = static_cast<std::uint32_t>(abi::StallReason::kOther);
    }
  } else if (!stop.is_known()) {
    result_.status = static_cast<std::uint32_t>(abi::RunStatus::kOk);
  }
  progress.sum_up(totals, result_);
  result_.ended = port_.system_counter();
  result_.counter_hz = port_.counter_hz();
  if (run_.header().result == 0) return;
  port_.write(run_.header().result, &result_, sizeof result_);
  port_.barrier();
}

}  // namespace npu::firmware
