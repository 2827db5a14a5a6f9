// SPDX-License-Identifier: Apache-2.0
// Time as the host's tasks see it: their own, sleeping, and poll loops, which skip what they would
// not see.
#pragma once

#include "model/host/host_bus.hpp"
#include "model/host/host_memory.hpp"

namespace npu::model {

class HostClock final : public platform::Clock {
 public:
  HostClock(Simulation& simulation, HostCpus& cpus, HostMemory& memory, HostBus& bus,
            HostStatistics& statistics)
      : simulation_(simulation), cpus_(cpus), memory_(memory), bus_(bus), statistics_(statistics) {}

  Instant now() override;
  void relax(ConstByteSpan watched, Instant deadline) override;
  void sleep_until(Instant deadline) override;

 private:
  void trace_poll(SimTime begin, std::uint64_t rounds);

  Simulation& simulation_;
  HostCpus& cpus_;
  HostMemory& memory_;
  HostBus& bus_;
  HostStatistics& statistics_;
};

}  // namespace npu::model
