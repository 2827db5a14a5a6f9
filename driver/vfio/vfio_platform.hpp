// SPDX-License-Identifier: Apache-2.0
// The platform interface on Linux VFIO. A function is opened when something is asked of it that
// sysfs cannot answer; looking at configuration space and asking for sizes of BARs opens nothing.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "driver/vfio/bar_shadow.hpp"
#include "driver/vfio/container.hpp"
#include "driver/vfio/function.hpp"
#include "driver/vfio/linux_time.hpp"
#include "driver/vfio/monitor.hpp"
#include "driver/vfio/sysfs.hpp"
#include "npu/driver/vfio.hpp"
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
  explicit VfioPlatform(const VfioOptions& options, Kernel& kernel = Kernel::real())
      : kernel_(kernel), options_(options), sysfs_(options.sysfs_path) {}

  platform::PciAccess& pci() override { return *this; }
  platform::Clock& clock() override { return clock_; }
  platform::Tasks& tasks() override { return tasks_; }
  platform::Tracer& tracer() override { return tracer_; }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override;
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override;
  Result<std::unique_ptr<platform::DmaMemory>> import_dma(platform::Bdf bdf, ByteSpan memory,
                                                          platform::DmaDirection direction,
                                                          platform::HostPages pages) override;
  Result<platform::BusAddress> share_dma(platform::DmaMemory& memory, platform::Bdf bdf) override;
  void copy(ByteSpan to, ConstByteSpan from) override { Platform::copy(to, from); }
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override;
  Status reset_function(platform::Bdf bdf) override;
  void write_barrier() override;
  void read_barrier() override;

 private:
  std::vector<platform::HostBridge> host_bridges() const override { return sysfs_.host_bridges(); }
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) override;
  // Opens it if it is not open.
  Result<std::shared_ptr<Function>> function(platform::Bdf bdf);
  void forget_lost();
  // The rest is called with the mutex held.
  Result<std::shared_ptr<Function>> open(platform::Bdf bdf);
  Result<std::shared_ptr<Container>> container(platform::Bdf bdf, const std::string& group);
  // What was lost and is still held by somebody.
  std::shared_ptr<Function> lost(platform::Bdf bdf);
  // Open, and not lost; null: it is not.
  std::shared_ptr<Function> known(platform::Bdf bdf);

  LinuxClock clock_;
  LinuxTasks tasks_{clock_};
  NullTracer tracer_;
  Kernel& kernel_;
  const VfioOptions options_;
  const Sysfs sysfs_;
  std::mutex mutex_;                                            // of the maps and the shadow
  std::map<std::string, std::weak_ptr<Container>> containers_;  // by group
  std::map<platform::Bdf, std::shared_ptr<Function>> functions_;
  std::map<platform::Bdf, std::weak_ptr<Function>> lost_;
  BarShadow shadow_;
  Monitor monitor_{[this] { forget_lost(); }};  // last: uses the others
};

}  // namespace npu::driver::vfio
