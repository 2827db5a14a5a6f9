// SPDX-License-Identifier: Apache-2.0
// The fake card's MMU: walks the tables in the fake's memory, written from page_table.hpp's text
// and not with its helpers. It keeps every valid entry it has seen until it is told to drop it, so
// that a driver that forgets an invalidation is caught.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "npu/abi/fault.hpp"
#include "npu/base/units.hpp"
#include "tests/support/fake/fake_memory.hpp"

namespace npu::test {

class FakeMmu {
 public:
  FakeMmu(const SparseBytes& memory, Bytes memory_size) : memory_(memory), size_(memory_size) {}

  struct Translation {
    abi::FaultCode fault = abi::FaultCode::kNone;
    std::uint64_t address = 0;          // device-local, on `card` if there is one
    Bytes length = 0;                   // bytes from there to the end of the page
    std::optional<unsigned> card = {};  // another card, whose memory it is
  };
  Translation translate(unsigned vmid, std::uint64_t address, bool write);
  // Where it lies, whatever the permissions; nullopt: not mapped.
  std::optional<std::uint64_t> locate(unsigned vmid, std::uint64_t address);

  void set_context_base(std::uint64_t base);
  void invalidate_all() { seen_.clear(); }
  void invalidate_space(unsigned vmid);
  void invalidate_range(unsigned vmid, std::uint64_t begin, Bytes size);
  std::size_t entries_kept() const { return seen_.size(); }

 private:
  // VMID, level, index of the entry's share of the address space -> entry. Level 3: context.
  using Key = std::tuple<unsigned, unsigned, std::uint64_t>;

  abi::FaultCode walk(unsigned vmid, std::uint64_t address, std::uint64_t& leaf, unsigned& level);
  std::uint64_t entry(const Key& key, std::uint64_t at);

  const SparseBytes& memory_;
  const Bytes size_;
  std::uint64_t context_base_ = 0;
  std::map<Key, std::uint64_t> seen_;
};

}  // namespace npu::test
