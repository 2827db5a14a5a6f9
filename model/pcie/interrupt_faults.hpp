// SPDX-License-Identifier: Apache-2.0
// What becomes of MSI-X messages on their way to the host, for tests: one message each.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::model {

struct InterruptFault {
  static constexpr unsigned kAnyVector = ~0U;
  enum class Kind : std::uint8_t { kLost, kDuplicated, kDelayed, kMisdirected };

  Kind kind = Kind::kLost;
  unsigned function = 0;  // of the chip
  unsigned vector = kAnyVector;
  Picoseconds delay{};  // kDelayed
  unsigned to = 0;      // kMisdirected: the vector that it arrives at
};

class InterruptFaults {
 public:
  // The next message that fits meets it.
  void arm(const InterruptFault& fault) { armed_.push_back(fault); }
  std::size_t armed() const { return armed_.size(); }
  // That of a message which is about to leave; the oldest one, and only once.
  std::optional<InterruptFault> take(unsigned function, unsigned vector) {
    const auto met = std::find_if(armed_.begin(), armed_.end(), [&](const InterruptFault& each) {
      const bool fits = each.vector == InterruptFault::kAnyVector || each.vector == vector;
      return fits && each.function == function;
    });
    if (met == armed_.end()) return std::nullopt;
    const InterruptFault fault = *met;
    armed_.erase(met);
    return fault;
  }

 private:
  std::vector<InterruptFault> armed_;
};

}  // namespace npu::model
