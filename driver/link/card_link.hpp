// SPDX-License-Identifier: Apache-2.0
// The driver's way to one card's registers, and the one place that decides that the card is gone.
// A register that reads as all ones is a symptom of three things: the card was removed, a single
// read timed out (pcie.md F2), or that is its value. Configuration space tells them
// apart; a lost card is remembered and never touched again.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "npu/abi/pci.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

class CardLink {
 public:
  CardLink(platform::Platform& platform, platform::Bdf bdf,
           std::unique_ptr<platform::MmioRegion> registers)
      : platform_(platform), bdf_(bdf), registers_(std::move(registers)) {}

  platform::Platform& platform() { return platform_; }
  platform::Clock& clock() { return platform_.clock(); }
  platform::Bdf bdf() const { return bdf_; }
  platform::MmioRegion& registers() { return *registers_; }

  bool lost() const { return lost_.load(std::memory_order_relaxed); }
  // kDeviceLost if the card is known to be lost; touches nothing.
  Status alive() const { return lost() ? Status(lost_error()) : Status(); }

  // Typed register access. A read of all ones becomes kDeviceLost or kIo. `region` defaults to
  // BAR0; `block` is the offset of the register's block in it.
  template <class R>
  Result<R> read() {
    return read<R>(*registers_, 0);
  }
  template <class R>
  Result<R> read(platform::MmioRegion& region, Bytes block) {
    if (lost()) return lost_error();
    const R value = platform::read_register<R>(region, block);
    if (value.raw == static_cast<typename R::raw_type>(~0ULL)) return explain_all_ones(R::kName);
    return value;
  }
  template <class R>
  void write(R value) {
    platform::write_register(*registers_, value);
  }
  Result<std::uint64_t> read_event(std::uint32_t event);

  tl::unexpected<Error> explain_all_ones(std::string_view what);
  // Of a call of the platform that has failed: that it finds no such function is a lost card.
  tl::unexpected<Error> explain(const Error& error);

 private:
  tl::unexpected<Error> lost_error() const;

  platform::Platform& platform_;
  const platform::Bdf bdf_;
  std::unique_ptr<platform::MmioRegion> registers_;
  std::atomic<bool> lost_{false};
};

}  // namespace npu::driver
