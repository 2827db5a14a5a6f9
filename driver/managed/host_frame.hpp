// SPDX-License-Identifier: Apache-2.0
// Host memory of a managed page, which all cards reach that may have the page.
#pragma once

#include <memory>
#include <vector>

#include "driver/device/device_impl.hpp"

namespace npu::driver {

class HostFrame {
 public:
  // kOutOfMemory, and what Platform::share_dma() reports.
  static Result<std::shared_ptr<HostFrame>> create(const std::vector<Device::Impl*>& cards);
  // Of memory that is there already, in whole pages, and outlives it. The same.
  static Result<std::shared_ptr<HostFrame>> import(const std::vector<Device::Impl*>& cards,
                                                   ByteSpan memory);

  HostFrame() = default;
  // Memory that cards reach only as a process' page.
  explicit HostFrame(std::unique_ptr<platform::DmaMemory> memory) : memory_(std::move(memory)) {}

  // As the card must use it; `card`: its place among those of create().
  platform::BusAddress bus(unsigned card) const { return bus_[card]; }
  ByteSpan cpu() const { return memory_->cpu(); }
  platform::DmaMemory& memory() const { return *memory_; }

 private:
  static Result<std::shared_ptr<HostFrame>> share(const std::vector<Device::Impl*>& cards,
                                                  std::unique_ptr<platform::DmaMemory> memory);

  std::unique_ptr<platform::DmaMemory> memory_;
  std::vector<platform::BusAddress> bus_;
};

}  // namespace npu::driver
