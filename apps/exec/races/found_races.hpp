// SPDX-License-Identifier: Apache-2.0
// Races that were found, each once for a pair of places.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/exec/races/access_map.hpp"
#include "apps/exec/races/call_sites.hpp"

namespace npu::exec::races {

class FoundRaces {
 public:
  // What a call has submitted, or has done itself.
  struct Work {
    CallSite site;
    std::uint64_t stream = kNone;  // of its program
    static constexpr std::uint64_t kNone = UINT64_MAX;
  };
  struct Place {
    Work work;
    AccessKind kind = AccessKind::kRead;
  };
  struct Race {
    Place earlier, later;
    bool host = false;          // the bytes are pinned memory
    std::uint64_t address = 0;  // of the first time, as the later one says it
    std::uint64_t bytes = 0;
    std::uint64_t times = 0;
  };
  // As reports have it.
  struct Row {
    std::string text;
    std::uint64_t times = 0;
  };

  explicit FoundRaces(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

  void found(const CallSites& sites, const Race& race);
  std::vector<Row> rows(const CallSites& sites) const;
  std::size_t count() const { return races_.size(); }

 private:
  using Key = std::tuple<std::uint32_t, AccessKind, std::uint32_t, AccessKind>;

  std::function<void(const std::string&)> tell_;
  std::vector<Race> races_;
  std::map<Key, std::size_t> known_;
};

}  // namespace npu::exec::races
