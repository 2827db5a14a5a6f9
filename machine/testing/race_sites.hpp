// SPDX-License-Identifier: Apache-2.0
// Stacks of the test's own process, as numbers until somebody asks for words.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace npu::testkit {

class RaceSites {
 public:
  // The caller's stack. From 1 on; the same stack has the same number.
  std::uint32_t here();
  // From the inside outwards, without the simulator's own functions and GoogleTest's.
  std::string text_of(std::uint32_t site) const;

 private:
  using Frames = std::vector<std::uint64_t>;

  std::map<Frames, std::uint32_t> known_;
  std::vector<const Frames*> sites_{nullptr};  // by number
};

}  // namespace npu::testkit
