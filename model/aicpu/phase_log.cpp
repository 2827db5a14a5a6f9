// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/phase_log.hpp"

namespace npu::model {

using platform::Activity;
using platform::AicpuPhase;

void PhaseLog::begin() {
  phase_ = AicpuPhase::kIdle;
  at_begin_ = statistics_.work();
}

void PhaseLog::enter(AicpuPhase phase, std::uint32_t task) {
  if (phase == phase_ && task == task_) return;
  end();
  phase_ = phase;
  task_ = task;
  since_ = thread_.local();
}

void PhaseLog::end() {
  static constexpr std::array<Activity, kAicpuPhases> kActivities{
      Activity::kAicpuIdle,     Activity::kAicpuHandshake, Activity::kAicpuWiring,
      Activity::kAicpuDispatch, Activity::kAicpuComplete,  Activity::kAicpuDrain,
      Activity::kAicpuDump,     Activity::kPagerTakeFault, Activity::kPagerMapPage,
      Activity::kPagerEvictPage};
  statistics_.phases[static_cast<std::size_t>(phase_)] += statistics_.work().since(at_begin_);
  at_begin_ = statistics_.work();
  const SimTime now = thread_.local();
  if (phase_ == AicpuPhase::kIdle || now <= since_) return;
  sim_.emit(track_, kActivities[static_cast<std::size_t>(phase_)], since_, now,
            thread_.block().cause, 0, task_);
}

}  // namespace npu::model
