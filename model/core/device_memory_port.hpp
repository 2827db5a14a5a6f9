// SPDX-License-Identifier: Apache-2.0
// Device memory by virtual address without any time: what moves bytes on behalf of models that
// account for the time themselves. Implemented by the MMU.
#pragma once

#include <cstdint>
#include <optional>

#include "model/core/direct_memory.hpp"
#include "model/core/memory_watch.hpp"
#include "model/core/space_id.hpp"
#include "model/core/transaction.hpp"

namespace npu::model {

class DeviceMemoryPort {
 public:
  virtual ~DeviceMemoryPort() = default;
  // [address, address + length) of address space `vmid`, across pages; nothing moves beyond the
  // first page that fails. A peer's memory is reached by AI Cores alone; for others it is kNoPeer.
  // The MemoryWatch of the card with the memory is told.
  virtual Completion read(SpaceId vmid, std::uint64_t address, void* data, Bytes length) = 0;
  // `rows` pieces of `row_bytes`, `pitch` bytes apart, to one another's end.
  virtual Completion read_rows(SpaceId vmid, std::uint64_t address, std::uint32_t rows,
                               Bytes row_bytes, std::uint64_t pitch, void* data) {
    auto* out = static_cast<unsigned char*>(data);
    for (; rows > 0; --rows, address += pitch, out += row_bytes) {
      const auto moved = read(vmid, address, out, row_bytes);
      if (moved != Completion::kSuccess) return moved;
    }
    return Completion::kSuccess;
  }
  // [address, address + length) where they lie (direct_memory.hpp); null: they have to be read().
  virtual const std::byte* direct_pointer(SpaceId vmid, std::uint64_t address, Bytes length,
                                          DirectMemoryUser& user) {
    static_cast<void>(vmid), static_cast<void>(address), static_cast<void>(length);
    static_cast<void>(user);
    return nullptr;
  }
  virtual void give_back(const std::byte* from, Bytes length, DirectMemoryUser& user) {
    static_cast<void>(from), static_cast<void>(length), static_cast<void>(user);
  }
  // Whether an access need not wait for its translation: the TLB has it, and it permits the access.
  // Who accesses memory at a time of its own asks, and waits for a request of kTranslation else.
  virtual bool knows(SpaceId vmid, std::uint64_t address, bool write) const {
    static_cast<void>(vmid), static_cast<void>(address), static_cast<void>(write);
    return true;
  }
  // Where `address` lies in this card's memory; nothing: nowhere, or it may not be read.
  virtual std::optional<std::uint64_t> local(SpaceId vmid, std::uint64_t address) {
    if (vmid != 0) return std::nullopt;
    return address;
  }
  virtual Completion write(Writer writer, SpaceId vmid, std::uint64_t address, const void* data,
                           Bytes length) = 0;
  // Pages of `vmid` may leave while an access waits for other ones: its page faults are served.
  virtual bool pages_may_leave(SpaceId) const { return false; }
  // Whether an access to [address, address + length) needs nobody's help: all is there, and where
  // use is told of, writes have been.
  virtual bool reaches(SpaceId vmid, std::uint64_t address, Bytes length, bool write) {
    static_cast<void>(vmid), static_cast<void>(address), static_cast<void>(length);
    static_cast<void>(write);
    return true;
  }
  // From hold() to release() of what it gave, an access of `vmid` is in flight whose bytes have not
  // moved yet: invalidations of its translations that begin meanwhile do not end before.
  using Hold = std::uint32_t;
  virtual Hold hold(SpaceId) { return 0; }
  virtual void release(Hold) {}
  // The same memory without that of other cards: by which debuggers know a card.
  virtual DeviceMemoryPort& of_this_card() { return *this; }
};

}  // namespace npu::model
