// SPDX-License-Identifier: Apache-2.0
// A place in the history of the ring: which run of the queue, and how many commands into it. Both
// in one word, so that a copy of it is never half of one run and half of the next.
#pragma once

#include <cstdint>

#include "npu/driver/types.hpp"

namespace npu::driver {

class QueueMark {
 public:
  constexpr QueueMark() = default;  // of no run
  constexpr QueueMark(std::uint16_t epoch, std::uint64_t position)
      : raw_(std::uint64_t{epoch} << kPositionBits | position) {}
  static constexpr QueueMark from_raw(std::uint64_t raw) {
    QueueMark mark;
    mark.raw_ = raw;
    return mark;
  }
  static constexpr QueueMark behind(const Ticket& ticket) {
    return {ticket.epoch, ticket.position + 1};
  }

  // Runs of the queue are numbered from 1; after 65535 comes 1 again.
  constexpr std::uint16_t epoch() const {
    return static_cast<std::uint16_t>(raw_ >> kPositionBits);
  }
  constexpr std::uint16_t next_epoch() const {
    return epoch() == 0xFFFF ? std::uint16_t{1} : static_cast<std::uint16_t>(epoch() + 1);
  }
  // Commands since that run began.
  constexpr std::uint64_t position() const {
    return raw_ & ((std::uint64_t{1} << kPositionBits) - 1);
  }
  // Of two runs not more than half a round of the numbers apart.
  constexpr bool precedes(QueueMark other) const {
    if (epoch() == other.epoch()) return raw_ < other.raw_;
    const auto ahead = static_cast<std::uint16_t>(other.epoch() - epoch());
    return epoch() == 0 || (other.epoch() != 0 && ahead < 0x8000);
  }
  constexpr std::uint64_t raw() const { return raw_; }

 private:
  static constexpr unsigned kPositionBits = 48;

  std::uint64_t raw_ = 0;
};

}  // namespace npu::driver
