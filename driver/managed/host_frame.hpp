// SPDX-License-Identifier: Apache-2.0
// Host memory of a managed page, which all cards reach that may have the page.
#pragma once

#include <memory>
#include <vector>

#include "driver/link/card_link.hpp"

namespace npu::driver {

class HostFrame {
 public:
  // kOutOfMemory, and what Platform::share_dma() reports.
  static Result<std::shared_ptr<HostFrame>> create(const std::vector<CardLink*>& cards);
  // Of memory that is there already, in whole pages, and outlives it. The same.
  static Result<std::shared_ptr<HostFrame>> import(const std::vector<CardLink*>& cards,
                                                   ByteSpan memory);

  HostFrame() = default;
  // Memory that cards reach only as a process' page.
  explicit HostFrame(std::unique_ptr<platform::DmaMemory> memory) : memory_(std::move(memory)) {}

  // As the card must use it, which reach() or create() was given.
  platform::BusAddress bus(const CardLink& card) const;
  // One more card reaches it, if it did not. What Platform::share_dma() reports.
  Status reach(const CardLink& card);
  ByteSpan cpu() const { return memory_->cpu(); }
  platform::DmaMemory& memory() const { return *memory_; }

 private:
  static Result<std::shared_ptr<HostFrame>> share(const std::vector<CardLink*>& cards,
                                                  std::unique_ptr<platform::DmaMemory> memory);

  std::unique_ptr<platform::DmaMemory> memory_;
  struct Way {
    const CardLink* card = nullptr;
    platform::BusAddress bus;
  };
  std::vector<Way> ways_;
};

}  // namespace npu::driver
