// SPDX-License-Identifier: Apache-2.0
// Clock and tasks of a Linux process.
#pragma once

#include "npu/platform/time.hpp"

namespace npu::driver::vfio {

// CLOCK_MONOTONIC, counted from the making of the object: picoseconds since boot would leave the
// range of 64 bits after 106 days.
class LinuxClock : public platform::Clock {
 public:
  LinuxClock();
  Instant now() override;
  void relax(ConstByteSpan watched, Instant deadline) override;
  void sleep_until(Instant deadline) override;

 private:
  std::int64_t start_;  // nanoseconds
};

// Tasks are threads.
class LinuxTasks : public platform::Tasks {
 public:
  Result<std::unique_ptr<platform::Task>> spawn(std::string name,
                                                std::function<void()> body) override;
  std::unique_ptr<platform::Mutex> make_mutex() override;
  std::unique_ptr<platform::Condition> make_condition() override;
  platform::CpuUsage cpu_usage() override;

  explicit LinuxTasks(platform::Clock& clock) : clock_(clock) {}

 private:
  platform::Clock& clock_;
};

}  // namespace npu::driver::vfio
