// SPDX-License-Identifier: Apache-2.0
// Races that were found, each once for a pair of places.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/races/access_map.hpp"
#include "machine/races/site.hpp"

namespace npu::races {

class FoundRaces {
 public:
  // What a call has submitted, or has done itself.
  struct Work {
    Site site;
    std::uint64_t stream = kNone;  // of its program
    static constexpr std::uint64_t kNone = UINT64_MAX;
  };
  struct Place {
    Work work;
    AccessKind kind = AccessKind::kRead;
    std::uint32_t label = 0;  // races::Work::label
  };
  struct Race {
    Place earlier, later;
    bool host = false;          // the bytes are pinned memory
    std::uint64_t address = 0;  // of the first time, as the later one says it
    std::uint64_t local = 0;    // the same, of the memory (Piece::local)
    std::uint64_t bytes = 0;
    std::uint64_t times = 0;
  };

  // `tell` is called for each race that was not found before; may be empty.
  explicit FoundRaces(std::function<void(const Race&)> tell) : tell_(std::move(tell)) {}

  void found(const Race& race);
  const std::vector<Race>& all() const { return races_; }
  std::size_t count() const { return races_.size(); }

 private:
  using Key = std::tuple<std::uint32_t, AccessKind, std::uint32_t, AccessKind>;

  std::function<void(const Race&)> tell_;
  std::vector<Race> races_;
  std::map<Key, std::size_t> known_;
};

}  // namespace npu::races
