// SPDX-License-Identifier: Apache-2.0
// How managed pages get into a card's page tables and out of them: by its pager, or by the driver
// alone. Not locked: FaultService is.
#pragma once

#include <array>
#include <optional>

#include "driver/event/wait_loop.hpp"
#include "driver/managed/card_slots.hpp"
#include "driver/managed/host_frame.hpp"
#include "driver/managed/page_mover.hpp"
#include "driver/managed/page_parts.hpp"
#include "npu/abi/page_table.hpp"

namespace npu::driver {

// Whose managed memory a space's faults are about, by VMID.
using ServedSpaces = std::array<CardPages*, abi::kVmids>;

class CardPaging {
 public:
  virtual ~CardPaging() = default;
  CardPaging(const CardPaging&) = delete;
  CardPaging& operator=(const CardPaging&) = delete;

  // Ends what the card does; nothing else is called any more.
  void end() {
    stop();
    mover_.close();
    ended_ = true;
  }
  bool ended() const { return ended_; }

  // Faults of these spaces wait to be served from now on: bit v of VMID v. What waits in others
  // fails.
  // kTimeout, kDeviceLost: the card does not take it.
  virtual Status serve(std::uint32_t vmids) = 0;
  // Serves what has come. False: nothing has.
  virtual bool serve_some(const ServedSpaces& spaces) = 0;
  // After it has: whether more may wait that will not be told of by an interrupt.
  virtual bool more() const { return true; }
  // When there will be something to serve though nothing comes.
  virtual std::optional<Instant> due() const { return look_at_; }

  // For pages that the driver moves by itself: memory; mapping the page that the slot holds, at the
  // entry's device-local address; the way back. kOutOfMemory, kTimeout, and what moving reports.
  // Takes the page that came first from the card if there is no memory.
  Result<std::uint32_t> take();
  virtual Status map(std::uint32_t slot, std::uint64_t entry, abi::PageTableEntry value) = 0;
  // Of a page with parts, before it is mapped, and whenever there are more.
  virtual void show_parts(std::uint32_t slot, const PageParts& parts) {
    static_cast<void>(slot);
    static_cast<void>(parts);
  }
  // Nobody uses the page of the slot any more. Gives whether it was written since it was mapped.
  virtual Result<bool> unmap(std::uint32_t slot, std::uint64_t entry) = 0;
  // Whether unmap() knows of writes; else only what may be written counts as written.
  virtual bool tells_writes() const = 0;
  // The slot holds nothing any more.
  virtual void give(std::uint32_t slot) = 0;

  // Pages stay on the host, where the card uses them: it never has any.
  virtual bool in_place() const { return false; }
  // Then: a page's memory; `own`: this one, unless it is empty.
  virtual Result<std::shared_ptr<HostFrame>> new_frame(ByteSpan own) {
    static_cast<void>(own);
    return fail(ErrorCode::kUnsupported, "pages do not stay on the host");
  }
  // The card may use the frame as the page of the space, or no longer does.
  virtual Status expose(unsigned vmid, std::uint64_t at, const HostFrame& frame, bool write) {
    static_cast<void>(vmid), static_cast<void>(at);
    static_cast<void>(frame), static_cast<void>(write);
    return {};
  }
  virtual Status hide(unsigned vmid, std::uint64_t at) {
    static_cast<void>(vmid), static_cast<void>(at);
    return {};
  }

  CardSlots& slots() { return slots_; }
  // Of cards that pages come to.
  PageMover& mover() { return mover_; }
  // Records or messages read from the card.
  std::uint64_t records() const { return records_; }

 protected:
  CardPaging(CardLink& link, MemoryManager& memory, std::uint32_t limit)
      : slots_(link.clock(), memory, limit), mover_(link) {}
  virtual void stop() = 0;
  // The card has lost writes: what it needs of them is sent again. False: it does not answer now.
  virtual bool look() { return true; }
  // look(), and again until it has.
  void look_surely() {
    look_at_ = look() ? std::nullopt : std::optional(slots_.now() + kFirstProbe);
  }
  bool look_is_due() const { return look_at_ && *look_at_ <= slots_.now(); }

  CardSlots slots_;
  PageMover mover_;
  std::uint64_t records_ = 0;
  std::optional<Instant> look_at_;

 private:
  bool ended_ = false;
};

}  // namespace npu::driver
