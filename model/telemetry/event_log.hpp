// SPDX-License-Identifier: Apache-2.0
// The log of a function's events (abi/telemetry.hpp): the last kEventLogRecords of them, over
// resets.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>

#include "npu/abi/telemetry.hpp"

namespace npu::model {

class EventLog {
 public:
  // Fills in the number. What is worse than a notice raises the alarm of its kind.
  void add(abi::LoggedEvent event) {
    event.number = ++count_;
    records_[(event.number - 1) % abi::kEventLogRecords] = event;
    if (event.ended == 0 && event.severity > abi::Severity::kNotice) {
      auto& alarm = alarms_.emplace(event.kind, event.severity).first->second;
      alarm = std::max(alarm, event.severity);
    }
  }
  // The alarm of the kind is over, which is an event if it was up.
  void end(abi::EventKind kind, std::uint64_t time_ns) {
    const auto alarm = alarms_.find(kind);
    if (alarm == alarms_.end()) return;
    abi::LoggedEvent event;
    event.kind = kind;
    event.severity = alarm->second;
    event.ended = 1;
    event.time_ns = time_ns;
    alarms_.erase(alarm);
    add(event);
  }
  void function_reset() { alarms_.clear(); }

  std::uint32_t count() const { return count_; }
  bool is_up(abi::EventKind kind) const { return alarms_.count(kind) != 0; }
  // Of the alarms that are up.
  abi::Severity worst() const {
    auto worst = abi::Severity::kNotice;
    for (const auto& [kind, severity] : alarms_) worst = std::max(worst, severity);
    return worst;
  }
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
  std::map<abi::EventKind, abi::Severity> alarms_;  // that are up
};

}  // namespace npu::model
