// SPDX-License-Identifier: Apache-2.0
// What a function remembers of the errors of its memory: counts since its reset, and a record that
// resets do not touch, as management.md G1 tells recorded errors and isolated pages from the
// others.
#pragma once

#include <cstdint>
#include <map>

#include "npu/abi/telemetry.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

struct EccCounts {
  std::uint32_t singles = 0, doubles = 0;
};

class EccRecord {
 public:
  static constexpr Bytes kPage = Bytes{2} << 20;

  // `bits` of the burst at `address` of the function's memory: 1 was corrected, 2 were not.
  void add(std::uint64_t address, unsigned bits) {
    auto& page = pages_[address / kPage];
    ++(bits == 1 ? now_.singles : now_.doubles);
    ++(bits == 1 ? recorded_.singles : recorded_.doubles);
    ++(bits == 1 ? page.singles : page.doubles);
  }
  void function_reset() { now_ = {}; }
  void clear() {
    recorded_ = {};
    pages_.clear();
  }

  EccCounts since_reset() const { return now_; }
  EccCounts recorded() const { return recorded_; }
  // Pages out of use; one with an error of two bits counts as such alone.
  EccCounts isolated() const {
    EccCounts pages;
    for (const auto& [number, errors] : pages_) {
      if (errors.doubles > 0) {
        ++pages.doubles;
      } else if (errors.singles >= abi::kEccSinglesOfPage) {
        ++pages.singles;
      }
    }
    return pages;
  }

 private:
  EccCounts now_, recorded_;
  std::map<std::uint64_t, EccCounts> pages_;  // by number, since clear()
};

}  // namespace npu::model
