// SPDX-License-Identifier: Apache-2.0
// An AICPU's accesses to the register windows of AI Cores (runtime.md A1): posted stores in
// order, loads one after another.
#pragma once

#include <optional>
#include <vector>

#include "model/aicpu/aicpu_thread.hpp"
#include "model/aicpu/aicpu_work.hpp"
#include "model/aicpu/poll_rounds.hpp"
#include "model/aicpu/posted_stores.hpp"

namespace npu::model {

class AicpuRegisters {
 public:
  AicpuRegisters(AicpuShared& shared, AicpuThread& thread, PollRounds& rounds, AicpuWork& work);

  // A block begins.
  void begin() { posted_.reset(); }
  // Stores on their way are lost.
  void reset();

  // Calls of the program.
  unsigned windows() const;
  std::uint32_t load(unsigned core, std::uint32_t offset);
  void store(unsigned core, std::uint32_t offset, std::uint32_t value);

  // When all stores are done and visible.
  SimTime stores_done() const;
  // The card's number of a window that the program has, if there is such a register.
  std::optional<unsigned> window(unsigned core, std::uint32_t offset) const;
  // What has been seen of it is still so; of none there is nothing to see.
  bool as_seen(unsigned core, std::uint32_t offset, std::uint64_t value) const {
    const auto number = window(core, offset);
    return !number || shared_.windows->read(*number, offset) == value;
  }

 private:
  void arrives(std::uint64_t argument);

  AicpuShared& shared_;
  AicpuThread& thread_;
  PollRounds& rounds_;
  AicpuWork& work_;
  const SimTime load_;
  PostedStores posted_;
  std::vector<SimTime> visible_;  // by AI Core: the last store to its window
  std::uint32_t resets_ = 0;
};

}  // namespace npu::model
