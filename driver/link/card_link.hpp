// SPDX-License-Identifier: Apache-2.0
// The driver's way to one opened card: which it is, its registers, and the one place that decides
// that the card is gone or no longer to be used.
// A register that reads as all ones is a symptom of three things: the card was removed, a single
// read timed out (pcie.md F2), or that is its value. Configuration space tells them
// apart; a lost card is remembered and never touched again.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/driver/scan.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

class CardLink {
 public:
  // `ready_timeout`: for the card to become ready, and to end what it does.
  CardLink(platform::Platform& platform, const CardInfo& card,
           std::unique_ptr<platform::MmioRegion> registers, Picoseconds ready_timeout)
      : platform_(platform),
        card_(card),
        registers_(std::move(registers)),
        ready_timeout_(ready_timeout) {}

  platform::Platform& platform() const { return platform_; }
  platform::Clock& clock() const { return platform_.clock(); }
  const CardInfo& card() const { return card_; }
  platform::Bdf bdf() const { return card_.bdf(); }
  std::uint32_t device_index() const { return card_.device_index; }
  Picoseconds ready_timeout() const { return ready_timeout_; }
  Instant ready_deadline() const { return clock().now() + ready_timeout_; }
  platform::MmioRegion& registers() { return *registers_; }

  bool lost() const { return lost_.load(std::memory_order_relaxed); }
  // kDeviceLost if the card is known to be lost; touches nothing.
  Status alive() const { return lost() ? Status(lost_error()) : Status(); }
  // Users get nothing more of it, whatever the driver still does to end it. True: they could until
  // now.
  bool close() { return !closed_.exchange(true); }
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  // kInvalidArgument after close(), kDeviceLost as alive().
  Status usable() const;

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
  void write(R value, Bytes block = 0) {
    platform::write_register(*registers_, value, block);
  }
  // Whether the card has a way to the other over HCCS links that are up.
  Result<bool> has_link_to(std::uint32_t card) {
    if (card >= abi::kMaxHccsCards) return false;
    const auto links = read<abi::HccsLinks>(*registers_, abi::HccsWord::offset_of(card));
    if (!links) return forward_error(links);
    return (links->raw & abi::HccsWord::bit_of(card)) != 0;
  }
  // The same of all cards, by number; cards beyond the last one of the fabric are not there.
  Result<std::vector<bool>> links() {
    std::vector<bool> up;
    for (std::uint64_t cards = 1; up.size() < cards;) {
      const auto first = static_cast<unsigned>(up.size());
      const auto word = read<abi::HccsLinks>(*registers_, abi::HccsWord::offset_of(first));
      if (!word) return forward_error(word);
      cards = std::min<std::uint64_t>(word->get<abi::HccsLinks::Cards>(), abi::kMaxHccsCards);
      for (unsigned i = 0; i < abi::HccsWord::kCards; ++i) up.push_back((word->raw >> i & 1) != 0);
    }
    return up;
  }
  Result<std::uint64_t> read_event(std::uint32_t event);

  tl::unexpected<Error> explain_all_ones(std::string_view what);
  // Of a call of the platform that has failed: that it finds no such function is a lost card.
  tl::unexpected<Error> explain(const Error& error);

 private:
  tl::unexpected<Error> lost_error() const;

  platform::Platform& platform_;
  const CardInfo& card_;
  std::unique_ptr<platform::MmioRegion> registers_;
  const Picoseconds ready_timeout_;
  std::atomic<bool> lost_{false}, closed_{false};
};

}  // namespace npu::driver
