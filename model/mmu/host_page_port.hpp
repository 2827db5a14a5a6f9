// SPDX-License-Identifier: Apache-2.0
// Pages of the host in address spaces of the card, as the MMU uses them: what a space's own tables
// do not map (SHARED_SPACE), and what they say is the host's (abi/page_table.hpp: Host).
#pragma once

#include <cstddef>
#include <tlm>

#include "model/core/space_id.hpp"
#include "model/mmu/tagged_address.hpp"

namespace npu::model {

class HostPagePort {
 public:
  virtual ~HostPagePort() = default;
  virtual bool shares(SpaceId space) const = 0;
  // Whether the MMU will be told of the page, which the host has to make.
  virtual bool replays(TaggedAddress page) const = 0;
  // A request of a space that shares needs the page of `address`.
  virtual void want(tlm::tlm_generic_payload& trans, std::uint64_t address) = 0;
  // It has been translated: Transaction::to_host.
  virtual void access(tlm::tlm_generic_payload& trans) = 0;
  // Where [address, address + length) of a page lies; null: the host has not mapped it so.
  virtual std::byte* find(SpaceId space, std::uint64_t address, Bytes length, bool write) const = 0;
  // The same of a page at bus addresses, [bus, bus + length) of it.
  virtual std::byte* find_bus(SpaceId space, std::uint64_t bus, Bytes length, bool write) const = 0;
  // The host has been written at find()'s or find_bus()'s.
  virtual void written(const std::byte* data, Bytes length) = 0;
};

}  // namespace npu::model
