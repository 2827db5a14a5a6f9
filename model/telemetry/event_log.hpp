// SPDX-License-Identifier: Apache-2.0
// The log of a function's events (abi/telemetry.hpp): the last kEventLogRecords of them, over
// resets.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "npu/abi/telemetry.hpp"

namespace npu::model {

class EventLog {
 public:
  // Fills in the number.
  void add(abi::LoggedEvent event) {
    event.number = ++count_;
    records_[(event.number - 1) % abi::kEventLogRecords] = event;
    if (event.severity > worst_) worst_ = event.severity;
  }
  void function_reset() { worst_ = abi::Severity::kNotice; }

  std::uint32_t count() const { return count_; }
  abi::Severity worst() const { return worst_; }  // since the reset
  // Of the window that shows the log; `word` is below kEventLogWindow.words.
  std::uint64_t word(std::uint32_t word) const {
    std::array<std::uint64_t, kWords> words{};
    std::memcpy(words.data(), &records_[word / kWords], sizeof words);
    return words[word % kWords];
  }

 private:
  static constexpr std::uint32_t kWords = sizeof(abi::LoggedEvent) / 8;

  std::array<abi::LoggedEvent, abi::kEventLogRecords> records_{};
  std::uint32_t count_ = 0;
  abi::Severity worst_ = abi::Severity::kNotice;
};

}  // namespace npu::model
