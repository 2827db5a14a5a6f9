// SPDX-License-Identifier: Apache-2.0
// Which memory is mapped where in one address space. Each mapping counts with its memory.
#pragma once

#include <map>
#include <optional>

#include "driver/memory/page_tables.hpp"
#include "driver/memory/physical_memory.hpp"
#include "npu/driver/address_space.hpp"

namespace npu::driver {

struct Mapping {
  Bytes size = 0;
  MemoryHandle memory;
  Bytes offset = 0;  // in the memory
  Access access = Access::kNone;
};

class Mappings {
 public:
  using Map = std::map<std::uint64_t, Mapping>;  // by address

  explicit Mappings(PhysicalMemory& physical) : physical_(physical) {}

  Map::const_iterator begin() const { return map_.begin(); }
  Map::const_iterator end() const { return map_.end(); }
  // The one that contains `address`, or end().
  Map::const_iterator find(std::uint64_t address) const;
  // Where the first one begins that has a part of the range.
  std::optional<std::uint64_t> first_in(const PageRange& range) const;
  // The first address of the range at which nothing is mapped.
  std::optional<std::uint64_t> first_gap(const PageRange& range) const;
  bool has(MemoryHandle memory) const;

  // Nothing is mapped there.
  void add(std::uint64_t at, const Mapping& mapping);
  // A mapping that extends over an end of the range is two from now on.
  void set_access(const PageRange& range, Access access);
  void remove(const PageRange& range);
  void clear();

 private:
  void cut(std::uint64_t at);
  void cut_at_ends(const PageRange& range) {
    cut(range.at);
    cut(range.at + range.size);
  }

  PhysicalMemory& physical_;
  Map map_;
};

}  // namespace npu::driver
