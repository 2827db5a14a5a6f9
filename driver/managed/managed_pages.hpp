// SPDX-License-Identifier: Apache-2.0
// The managed pages of a process: where each is, on the host or on one of its cards, and how the
// host gets what it touches. Not locked: PagesLock is held.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "driver/managed/fault_error_watch.hpp"
#include "driver/managed/managed_ranges.hpp"

namespace npu::driver {

class CardPages;

class ManagedPages {
 public:
  // `cards`: of one platform, and not none.
  ManagedPages(std::vector<ManagedCardSpace> cards, const ManagedOptions& options);
  ManagedPages(const ManagedPages&) = delete;
  ManagedPages& operator=(const ManagedPages&) = delete;

  // As many as there are cards, in their order; they outlive it.
  void set_cards(std::vector<CardPages*> views) { views_ = std::move(views); }
  // By place; null: of a card that has left.
  const std::vector<CardPages*>& cards() const { return views_; }
  // Of DEVICE_INDEX `device`; nullptr: none.
  CardPages* card_of(std::uint32_t device) const;
  // The place of the card, here or left; the next one that is free: it never was here.
  unsigned place_of(const CardLink& card) const;
  const ManagedCardSpace& at_place(unsigned place) const { return cards_[place]; }
  // A card that is not here reaches the pages on the host. What HostFrame::reach() reports.
  Status reach(CardPages& view);
  // Then it is here; the allocations have `tables` in its space.
  void come(unsigned place, const ManagedCardSpace& card, CardPages& view,
            ManagedRange::Tables tables);
  // What the card has comes home, and nobody asks `view` any more. What moving pages reports;
  // what could not be moved is lost.
  Status go(unsigned place);
  bool same_cards(const ManagedPages& other) const;
  // The first that is here.
  CardPages& first_card() const;
  // As CardFeatures::has(), of the first card: one machine's are alike.
  Status has(bool DeviceFeatures::*feature, const char* what) const {
    return cards_[0].features->has(feature, what);
  }
  platform::Platform& platform() { return cards_[0].link->platform(); }

  // Where allocations are made of and go to.
  ManagedRanges& ranges() { return ranges_; }
  // The allocation that begins there has no pages any more; its size, for the caller that gives
  // back tables and addresses. kInvalidArgument.
  Result<Bytes> clear(std::uint64_t at);
  // Frames that are kept for later are given back.
  void drop_frames() { frames_.clear(); }
  // Of all that there ever were in the program.
  std::uint64_t number() const { return number_; }
  // The allocation that begins at `at` is `child`'s as well, with the same bytes, until one of both
  // writes a page. What cards have of it comes home. The cards are the same, and the child has
  // `tables` for the range. kInvalidArgument: no such allocation of that size.
  Status fork(std::uint64_t at, Bytes size, ManagedPages& child, ManagedRange::Tables tables);

  // kOutOfRange: the bytes are not all in one allocation.
  Status check(std::uint64_t at, Bytes size) const { return ranges_.check(at, size); }
  // nullptr: `address` is in no managed page.
  ManagedPage* find(std::uint64_t address) { return ranges_.find(address); }
  std::uint64_t entry_of(std::uint64_t at, unsigned card) const {
    return ranges_.entry_of(at, card);
  }

  // The host has what there is of the page.
  Status hold_copy(std::uint64_t at, ManagedPage& page);
  // The page has a frame that may be written: none that another process' page has as well. `keep`:
  // with the bytes of the one that it had. Cards that use it in place no longer do if it is another
  // one.
  Status own_frame(std::uint64_t at, ManagedPage& page, bool keep);
  // Cards that use the host's pages in place may use this one.
  Status expose(std::uint64_t at, ManagedPage& page);
  // No card but `card` has the page, or a copy of it. What another one alone had is the host's.
  Status revoke_others(std::uint64_t at, ManagedPage& page, unsigned card);
  // No card has it.
  Status revoke_cards(std::uint64_t at, ManagedPage& page) {
    return revoke_others(at, page, static_cast<unsigned>(page.cards.size()));
  }
  // The process has touched a page that it had no right to: what it may do now.
  Result<Access> touch_view(std::uint64_t at, bool write);
  Result<std::vector<PageRights>> touch_all_views();
  // The process may do no more than that with it through its pointers.
  void limit_view(std::uint64_t at, ManagedPage& page, Access rights);
  Status read(std::uint64_t at, ByteSpan to);
  Status write(std::uint64_t at, ConstByteSpan from);

  // Whoever is to be called because of fault errors, and with what; nothing: nobody.
  std::function<void()> look_for_errors(Instant now);
  bool counts_errors() const { return error_watch_.counts(); }
  ManagedStatistics& statistics() { return statistics_; }

 private:
  Status release(std::uint64_t at, ManagedPage& page);
  Status hide(std::uint64_t at, ManagedPage& page);
  Result<std::shared_ptr<HostFrame>> new_frame(std::uint64_t at);
  Status migrate_to_host(std::uint64_t at, bool write);
  template <class Copy>
  Status touch(std::uint64_t at, Bytes size, bool write, Copy copy);

  static std::atomic<std::uint64_t> made;

  const std::uint64_t number_ = made.fetch_add(1);
  Status move_home(std::uint64_t at, ManagedPage& page, unsigned place);

  std::vector<ManagedCardSpace> cards_;
  std::vector<CardPages*> views_;
  ManagedRanges ranges_{cards_};
  const std::function<void(const FaultErrorWarning&)> on_fault_errors_;
  FaultErrorWatch error_watch_;
  ManagedView* const view_;                         // null: none
  std::vector<std::shared_ptr<HostFrame>> frames_;  // that hold no page now
  ManagedStatistics statistics_;
};

}  // namespace npu::driver
