// SPDX-License-Identifier: Apache-2.0
// Data cache of a core's scalar unit: lines of 64 B with their bytes, write back, least recently
// used out, kept coherent by nobody.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace npu::model {

class DataCache {
 public:
  static constexpr std::uint64_t kLine = 64;
  using Bytes64 = std::array<unsigned char, kLine>;
  struct Line {
    std::uint64_t address = kNone;
    std::uint64_t used = 0;  // larger: later
    bool dirty = false;
    Bytes64 data{};
  };

  // Powers of two.
  DataCache(unsigned lines, unsigned ways)
      : ways_(ways < lines ? ways : lines), sets_(lines / ways_), lines_(lines) {}

  static std::uint64_t line_of(std::uint64_t address) { return address & ~(kLine - 1); }
  // The line that begins at `address`; null: not held.
  Line* find(std::uint64_t address) {
    for (unsigned way = 0; way < ways_; ++way) {
      Line& line = lines_[set_of(address) + way];
      if (line.address != address) continue;
      line.used = ++uses_;
      return &line;
    }
    return nullptr;
  }
  // Where the line at `address` goes; what is there now has to leave.
  Line& victim(std::uint64_t address) {
    Line* oldest = &lines_[set_of(address)];
    for (unsigned way = 1; way < ways_; ++way) {
      Line& line = lines_[set_of(address) + way];
      if (line.used < oldest->used) oldest = &line;
    }
    return *oldest;
  }
  void fill(Line& line, std::uint64_t address, const Bytes64& data) {
    line = {address, ++uses_, false, data};
  }
  static void drop(Line& line) { line = Line{}; }
  void clear() {
    for (auto& line : lines_) drop(line);
  }
  std::vector<Line>& lines() { return lines_; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::size_t set_of(std::uint64_t address) const { return address / kLine % sets_ * ways_; }

  unsigned ways_, sets_;
  std::vector<Line> lines_;
  std::uint64_t uses_ = 0;
};

}  // namespace npu::model
