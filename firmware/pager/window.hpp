// SPDX-License-Identifier: Apache-2.0
// The control window (abi/control_window.hpp) as the pager uses it.
#pragma once

#include <array>
#include <optional>

#include "npu/abi/control_window.hpp"
#include "npu/abi/pager.hpp"
#include "npu/platform/aicpu_port.hpp"

namespace npu::firmware {

// A deadline that does not come.
inline constexpr std::uint64_t kEver = ~std::uint64_t{0};

struct PageFault {
  std::uint64_t address = 0;
  abi::FaultAccessInfo info;
};

class Window {
 public:
  explicit Window(platform::AicpuPort& port) : port_(port) {}

  abi::ControlStatus status();
  // What status() has shown is there.
  PageFault take_fault();
  // Its first half-word; the others are read when they are needed, until the next one is taken.
  std::uint32_t take_message();
  std::uint64_t word(unsigned i);      // of it
  std::uint32_t low_word(unsigned i);  // the low half
  std::uint32_t high_word(unsigned i);
  // Waits until there is room. `message`'s last word is filled in.
  void send(abi::Message message);
  // After all that was stored before.
  void reply(unsigned vmid, std::uint64_t address, bool abort);
  // Nobody uses a translation of the page, or of the space, any more.
  void invalidate_page(unsigned vmid, std::uint64_t address);
  void invalidate_space(unsigned vmid);

 private:
  template <class R>
  R get() {
    return R::from_raw(port_.load_register(0, R::kOffset));
  }
  template <class R>
  void put(R value) {
    port_.store_register(0, R::kOffset, value.raw);
  }
  template <class Low, class High>
  void put_address(std::uint64_t address) {
    put(Low::from_raw(static_cast<std::uint32_t>(address)));
    put(High::from_raw(static_cast<std::uint32_t>(address >> 32)));
  }
  void invalidate(abi::Invalidate value);
  void put_half(unsigned i, std::uint32_t value);

  platform::AicpuPort& port_;
  std::uint64_t taken_ = 0;                             // messages
  std::uint32_t room_ = 0;                              // at least, for messages to the driver
  std::array<std::optional<std::uint32_t>, 8> outbox_;  // nothing: not known
};

}  // namespace npu::firmware
