// SPDX-License-Identifier: Apache-2.0
// Stores that something which the card acts on has overtaken, because no write barrier was between
// them (host.cpu.order=weak): how many, and the first of them in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace npu::model {

class OvertakenStores {
 public:
  static constexpr std::size_t kTold = 8;

  // `trigger` and `where` as they are told: "DMA_DOORBELL (01:00.0 BAR0+0x1010)", "BAR2+0x40".
  void record(std::uint64_t stores, const std::string& trigger, const std::string& where);

  std::uint64_t count() const { return count_; }
  // A line each, of the first kTold times.
  const std::vector<std::string>& told() const { return told_; }

 private:
  std::uint64_t count_ = 0;
  std::vector<std::string> told_;
};

}  // namespace npu::model
