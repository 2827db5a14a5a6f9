// SPDX-License-Identifier: Apache-2.0
// A card served by `npusim serve`, driven without a virtual machine: the platform interface over a
// vfio-user client. One function, whatever its bus, device and function are there.
#pragma once

#include <memory>
#include <mutex>
#include <set>

#include "driver/vfio/linux_time.hpp"
#include "driver/vfio/vfio_platform.hpp"
#include "npu/platform/platform.hpp"
#include "tests/support/vfio_user/client.hpp"

namespace npu::test {

class VfioUserPlatform : public platform::Platform, private platform::PciAccess {
 public:
  static constexpr platform::Bdf kCard{1, 0, 0};

  // `client` has negotiated. Gives the BARs addresses, as a machine's firmware does.
  explicit VfioUserPlatform(vfio_user::Client client);

  platform::PciAccess& pci() override { return *this; }
  platform::Clock& clock() override { return clock_; }
  platform::Tasks& tasks() override { return tasks_; }
  platform::Tracer& tracer() override { return tracer_; }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override;
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override;
  void copy(ByteSpan to, ConstByteSpan from) override { Platform::copy(to, from); }
  Result<platform::BusAddress> share_dma(platform::DmaMemory& memory, platform::Bdf bdf) override;
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override;
  Status reset_function(platform::Bdf bdf) override;
  void write_barrier() override {}
  void read_barrier() override {}

  // For what it hands out. One command at a time.
  std::uint64_t load(unsigned region, Bytes offset, unsigned width);
  void store(unsigned region, Bytes offset, unsigned width, std::uint64_t value);
  // Memory of the test's own, at an address of its choice.
  void map(std::uint64_t iova, const vfio_user::SharedMemory& memory);
  void unmap(std::uint64_t iova, Bytes size);
  void close_vector(unsigned vector);

 private:
  std::vector<platform::HostBridge> host_bridges() const override { return {{0, 255, -1}}; }
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) override;

  driver::vfio::LinuxClock clock_;
  driver::vfio::LinuxTasks tasks_{clock_};
  driver::vfio::NullTracer tracer_;
  std::mutex mutex_;  // client_
  vfio_user::Client client_;
  std::set<unsigned> vectors_;
  std::uint64_t next_iova_ = 0x1'0000'0000;
};

}  // namespace npu::test
