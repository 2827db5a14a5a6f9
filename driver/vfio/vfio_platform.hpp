// SPDX-License-Identifier: Apache-2.0
// The platform interface on Linux VFIO. Functions that are not bound to vfio-pci can be read
// through sysfs but not written; a function is opened at its first write or mapping.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "driver/vfio/container.hpp"
#include "driver/vfio/function.hpp"
#include "driver/vfio/linux_time.hpp"
#include "driver/vfio/sysfs.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver::vfio {

class NullTracer : public platform::Tracer {
 public:
  std::uint32_t track(std::string_view) override { return 0; }
  void emit(const platform::TraceEvent&) override {}
  std::uint64_t exchange_cause(std::uint64_t) override { return 0; }
};

class VfioPlatform : public platform::Platform, private platform::PciAccess {
 public:
  VfioPlatform(Container container, Sysfs sysfs)
      : container_(std::move(container)), sysfs_(std::move(sysfs)) {}

  platform::PciAccess& pci() override { return *this; }
  platform::Clock& clock() override { return clock_; }
  platform::Tasks& tasks() override { return tasks_; }
  platform::Tracer& tracer() override { return tracer_; }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override;
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override;
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override;
  Status reset_function(platform::Bdf bdf) override;
  void write_barrier() override;
  void read_barrier() override;

  // For DMA memory that is given back.
  void unmap(platform::BusAddress bus);

 private:
  std::vector<platform::HostBridge> host_bridges() const override { return sysfs_.host_bridges(); }
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) override;
  Result<std::shared_ptr<Function>> function(platform::Bdf bdf);

  LinuxClock clock_;
  LinuxTasks tasks_{clock_};
  NullTracer tracer_;
  std::mutex mutex_;  // container_, functions_
  Container container_;
  const Sysfs sysfs_;
  std::map<platform::Bdf, std::shared_ptr<Function>> functions_;
};

}  // namespace npu::driver::vfio
