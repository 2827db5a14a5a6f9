// SPDX-License-Identifier: Apache-2.0
// Races of programs (machine/races), with the calls and stacks that they come from. All calls of
// all programs are in the order in which they were served: what programs say to each other in other
// ways nobody sees, and so the host may know what one thread of one program has waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/exec/races/call_sites.hpp"
#include "machine/races/detector.hpp"

namespace npu::exec::races {

using npu::races::AccessKind;
using npu::races::FoundRaces;
using npu::races::MemoryRanges;
using npu::races::Piece;
using npu::races::Work;

class Detector final : public npu::races::Detector {
 public:
  // As reports have it.
  struct Row {
    std::string text;
    std::uint64_t times = 0;
  };

  // `found` is called for each race that was not found before, with a line of text; may be empty.
  explicit Detector(const std::function<void(const std::string&)>& found)
      : npu::races::Detector([this, found](const FoundRaces::Race& race) {
          if (found) found(line_of(race));
        }) {}

  CallSites& sites() { return sites_; }
  std::vector<Row> rows() const;

 private:
  std::string line_of(const FoundRaces::Race& race) const;

  CallSites sites_;
};

}  // namespace npu::exec::races
