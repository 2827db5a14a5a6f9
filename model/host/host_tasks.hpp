// SPDX-License-Identifier: Apache-2.0
// Tasks of the host as its software makes them, and how they wait for each other.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/core/simulation.hpp"
#include "model/host/cpu.hpp"
#include "npu/platform/platform.hpp"

namespace npu::model {

class HostTasks final : public platform::Tasks {
 public:
  HostTasks(HostCpus& cpus, Agenda& agenda) : cpus_(cpus), agenda_(agenda) {}

  Result<std::unique_ptr<platform::Task>> spawn(std::string name,
                                                std::function<void()> body) override;
  std::unique_ptr<platform::Mutex> make_mutex() override;
  std::unique_ptr<platform::Condition> make_condition() override;
  platform::CpuUsage cpu_usage() override;
  void system_calls(unsigned count) override { cpus_.charge(count * cpus_.config().call); }
  void kernel_work(platform::KernelWork work, std::uint64_t count) override {
    cpus_.charge(cost_of(work) * static_cast<std::int64_t>(count));
  }
  void instructions(std::uint64_t count) override { cpus_.charge_instructions(count); }

 private:
  Picoseconds cost_of(platform::KernelWork work) const;

  HostCpus& cpus_;
  Agenda& agenda_;
};

}  // namespace npu::model
