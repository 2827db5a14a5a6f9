// SPDX-License-Identifier: Apache-2.0
// The tasks of the run that a card is about to make or makes: where each lies, what it needs, and
// where it has ended.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "npu/platform/trace.hpp"
#include "tools/timeline/threads.hpp"

namespace npu::timeline {

class TaskFlows {
 public:
  struct Task {
    std::uint64_t cause = 0;
    std::vector<std::uint32_t> producers;  // tasks of the same run
    Thread ended{};                        // its last block so far; number 0: none has
    Instant end{};
  };

  // Activity::kTask or kTaskEdge. The first of another run of the card forgets those before.
  void declare(const platform::TraceEvent& event);
  // The task that a kernel_call runs; null: it is none of the declared ones.
  Task* find(const platform::TraceEvent& call);
  // Another task of the run of `of`; null if there is none.
  const Task* find(const Task& of, std::uint32_t task) const;
  std::uint64_t new_arrow() { return next_arrow_++; }

 private:
  static constexpr std::uint64_t kAddress = 0xFFFF'FFFF'FFFF;  // of kernel_call's detail
  // By address of the arguments; several cards may use the same address, so the card is in it.
  static std::uint64_t key(std::uint64_t card, std::uint64_t address) {
    return card << 48 | (address & kAddress);
  }

  std::unordered_map<std::uint64_t, std::uint64_t> run_of_;    // by card
  std::unordered_map<std::uint64_t, std::uint64_t> by_place_;  // cause by key()
  std::unordered_map<std::uint64_t, Task> tasks_;              // by cause
  std::uint64_t next_arrow_ = 1;
};

}  // namespace npu::timeline
