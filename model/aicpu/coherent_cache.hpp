// SPDX-License-Identifier: Apache-2.0
// Data cache of one AICPU, with its data: what a core has cached stays what it was until the line
// is dropped, which is how writes that nobody snoops remain unseen. Least recently used line out.
#pragma once

#include <cstdint>
#include <vector>

#include "model/core/space_id.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class CoherentCache {
 public:
  static constexpr Bytes kLine = 64;

  CoherentCache(Bytes size, unsigned ways);

  // The line's bytes, if it is cached; `address` is any in the line. touch: it was used.
  unsigned char* touch(SpaceId vmid, std::uint64_t address);
  unsigned char* find(SpaceId vmid, std::uint64_t address);
  bool holds(SpaceId vmid, std::uint64_t address) const {
    return place_of(key(vmid, address)) != keys_.size();
  }
  // A place for the line's bytes; another line may go for it.
  unsigned char* install(SpaceId vmid, std::uint64_t address);
  // Whether drop() of the same would find something.
  bool holds(SpaceId vmid, std::uint64_t address, Bytes length) const;
  // Whether a line of [address, address + length) was cached.
  bool drop(SpaceId vmid, std::uint64_t address, Bytes length);
  void clear();
  bool empty() const { return lines_ == 0; }

 private:
  static std::uint64_t key(SpaceId vmid, std::uint64_t address) {
    return std::uint64_t{vmid} << abi::kVirtualBits | (address & ~(kLine - 1)) | 1;
  }
  std::size_t set_of(std::uint64_t key) const { return (key / kLine % sets_) * ways_; }
  void make_room();
  // Place of a line with this key; keys_.size(): none.
  std::size_t place_of(std::uint64_t key) const;
  bool drop_line(std::uint64_t key);

  const std::size_t ways_, sets_;
  // Empty until the first install().
  std::vector<std::uint64_t> keys_;  // 0: nothing
  std::vector<std::uint64_t> used_;  // when
  std::vector<unsigned char> data_;
  std::uint64_t uses_ = 0;
  std::size_t lines_ = 0;
};

}  // namespace npu::model
