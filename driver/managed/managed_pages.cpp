// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/managed_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/managed/card_pages.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

std::atomic<std::uint64_t> ManagedPages::made{1};

ManagedPages::ManagedPages(std::vector<ManagedCardSpace> cards, const ManagedOptions& options)
    : cards_(std::move(cards)),
      on_fault_errors_(options.on_fault_errors),
      error_watch_(options.error_threshold, options.error_window),
      view_(options.view) {}

CardPages* ManagedPages::card_of(std::uint32_t device) const {
  for (auto* const view : views_) {
    if (view != nullptr && view->device_index() == device) return view;
  }
  return nullptr;
}

CardPages& ManagedPages::first_card() const {
  return **std::find_if(views_.begin(), views_.end(), [](auto* view) { return view != nullptr; });
}

unsigned ManagedPages::place_of(const CardLink& link) const {
  const auto there = std::find_if(cards_.begin(), cards_.end(),
                                  [&](const auto& card) { return card.link == &link; });
  return static_cast<unsigned>(there - cards_.begin());
}

bool ManagedPages::same_cards(const ManagedPages& other) const {
  return std::equal(cards_.begin(), cards_.end(), other.cards_.begin(), other.cards_.end(),
                    [](const auto& a, const auto& b) {
                      return a.link == b.link && (a.space == nullptr) == (b.space == nullptr);
                    });
}

Status ManagedPages::reach(CardPages& view) {
  Status reached;
  const auto reach = [&](const std::shared_ptr<HostFrame>& frame) {
    if (reached && frame != nullptr) reached = frame->reach(view.link());
  };
  if (view.exposed().in_place()) return reached;
  ranges_.for_each_page([&](std::uint64_t, const ManagedPage& page) { reach(page.frame); });
  for (const auto& frame : frames_) reach(frame);
  return reached;
}

void ManagedPages::come(unsigned place, const ManagedCardSpace& card, CardPages& view,
                        ManagedRange::Tables tables) {
  if (place == cards_.size()) {
    cards_.emplace_back();
    views_.push_back(nullptr);
  }
  cards_[place] = card;
  views_[place] = &view;
  ranges_.come(place, std::move(tables));
}

// A copy that is elsewhere as well is not moved.
Status ManagedPages::move_home(std::uint64_t at, ManagedPage& page, unsigned place) {
  auto& view = *views_[place];
  if (auto ok = view.exposed().hide(at, page); !ok) return ok;
  if (!page.cards[place].there()) return {};
  if (auto ok = view.usable(); !ok) return ok;
  auto moved = page.host && page.read_mostly ? view.discard(at, page) : view.fetch_run(at, 1);
  if (!moved && page.cards[place].there()) view.forget(page);
  return moved;
}

Status ManagedPages::go(unsigned place) {
  Status first;
  ranges_.for_each_page([&](std::uint64_t at, ManagedPage& page) {
    auto ok = move_home(at, page, place);
    if (!ok && first) first = std::move(ok);
    page.cards[place] = {};
  });
  cards_[place].space = nullptr;
  views_[place] = nullptr;
  return first;
}

Result<Bytes> ManagedPages::clear(std::uint64_t at) {
  auto* const range = ranges_.find_range(at);
  if (range == nullptr) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{:#x} is no managed memory", at));
  }
  for (std::size_t i = 0; i < range->pages.size(); ++i) {
    if (auto ok = release(at + i * kPageSize, range->pages[i]); !ok) return forward_error(ok);
  }
  const Bytes size = range->size;
  if (view_ != nullptr) view_->forget(at, range->pages.size());
  ranges_.remove(at);
  return size;
}

Status ManagedPages::expose(std::uint64_t at, ManagedPage& page) {
  for (auto* const view : views_) {
    if (view == nullptr) continue;
    if (auto ok = view->exposed().expose(at, page); !ok) return ok;
  }
  return {};
}

Status ManagedPages::hide(std::uint64_t at, ManagedPage& page) {
  for (auto* const view : views_) {
    if (view == nullptr) continue;
    if (auto ok = view->exposed().hide(at, page); !ok) return ok;
  }
  return {};
}

// What it held is gone.
Status ManagedPages::release(std::uint64_t at, ManagedPage& page) {
  if (auto ok = hide(at, page); !ok) return ok;
  limit_view(at, page, Access::kNone);
  for (auto* const view : views_) {
    if (view == nullptr || !view->own(page).there() || !view->usable()) continue;
    if (auto ok = view->discard(at, page); !ok) return ok;
  }
  if (page.frame.use_count() == 1 && view_ == nullptr) frames_.push_back(std::move(page.frame));
  page = {};
  page.cards.resize(cards_.size());
  return {};
}

Result<std::shared_ptr<HostFrame>> ManagedPages::new_frame(std::uint64_t at) {
  if (!frames_.empty()) {
    auto frame = std::move(frames_.back());
    frames_.pop_back();
    return frame;
  }
  ByteSpan own;
  if (view_ != nullptr) {
    const auto memory = view_->memory_of(at);
    if (!memory) return forward_error(memory);
    own = *memory;
  }
  if (auto& exposed = first_card().exposed(); exposed.in_place()) return exposed.new_frame(own);
  std::vector<CardLink*> links;
  for (const auto& card : cards_) {
    if (card.space != nullptr) links.push_back(card.link);
  }
  return own.size == 0 ? HostFrame::create(links) : HostFrame::import(links, own);
}

Status ManagedPages::own_frame(std::uint64_t at, ManagedPage& page, bool keep) {
  if (page.frame && page.frame.use_count() == 1) return {};
  if (auto ok = hide(at, page); !ok) return ok;
  auto frame = new_frame(at);
  if (!frame) return forward_error(frame);
  if (page.frame && keep) {
    const auto from = page.frame->cpu();
    platform().copy((*frame)->cpu(), {from.data, from.size});
  }
  page.frame = std::move(*frame);
  return {};
}

Status ManagedPages::fork(std::uint64_t at, Bytes size, ManagedPages& child,
                          ManagedRange::Tables tables) {
  auto* const range = ranges_.find_range(at);
  if (range == nullptr || range->size != size) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{:#x} is no managed memory", at));
  }
  for (std::size_t i = 0; i < range->pages.size(); ++i) {
    if (auto ok = revoke_cards(at + i * kPageSize, range->pages[i]); !ok) return ok;
  }
  child.ranges_.add(at, size, std::move(tables));
  platform().tasks().system_calls(1);
  auto& copies = child.ranges_.find_range(at)->pages;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const auto& page = range->pages[i];
    copies[i].host = page.host;
    const bool own_memory = view_ != nullptr || child.view_ != nullptr;
    if (page.host && own_memory) {
      auto frame = child.new_frame(at + i * kPageSize);
      if (!frame) return forward_error(frame);
      const auto from = page.frame->cpu();
      platform().copy((*frame)->cpu(), {from.data, from.size});
      copies[i].frame = std::move(*frame);
    } else if (page.host) {
      copies[i].frame = page.frame;
    }
    copies[i].read_mostly = page.read_mostly;
    copies[i].preferred = page.preferred;
    copies[i].accessed_by = page.accessed_by;
    copies[i].accessed_by_host = page.accessed_by_host;
  }
  // What two have is nobody's to write, and what a card has in place it is told of.
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (!copies[i].host) continue;
    const std::uint64_t place = at + i * kPageSize;
    if (auto ok = expose(place, range->pages[i]); !ok) return ok;
    if (auto ok = child.expose(place, copies[i]); !ok) return ok;
  }
  return {};
}

Status ManagedPages::hold_copy(std::uint64_t at, ManagedPage& page) {
  if (page.host) return {};
  if (page.frame == nullptr || page.frame.use_count() > 1) {
    auto frame = new_frame(at);
    if (!frame) return forward_error(frame);
    page.frame = std::move(*frame);
  }
  page.host = true;
  return {};
}

Status ManagedPages::revoke_others(std::uint64_t at, ManagedPage& page, unsigned card) {
  for (unsigned other = 0; other < views_.size(); ++other) {
    if (other == card || !page.cards[other].there()) continue;
    if (auto ok = views_[other]->usable(); !ok) return ok;
    if (auto ok = views_[other]->fetch_run(at, 1); !ok) return ok;
  }
  return {};
}

std::function<void()> ManagedPages::look_for_errors(Instant now) {
  if (!error_watch_.look(statistics_.fault_errors, now)) return {};
  ++statistics_.fault_error_warnings;
  if (!on_fault_errors_) return {};
  return [call = on_fault_errors_,
          warning = FaultErrorWarning{statistics_.fault_errors, first_card().space().vmid(),
                                      first_card().device_index()}] { call(warning); };
}

// The host has touched it: a trap into the operating system.
Status ManagedPages::migrate_to_host(std::uint64_t at, bool write) {
  auto& page = *find(at);
  page.host_mapped = true;
  const bool on_card = page.on_card();
  const bool shared = write && page.frame.use_count() > 1;
  if (write && !on_card) page.read_mostly = false;
  if (page.host && !(write && on_card) && !shared) return {};
  platform().tasks().system_calls(1);
  ++statistics_.host_faults;
  if (auto ok = on_card ? revoke_cards(at, page) : hold_copy(at, page); !ok) return ok;
  if (write) {
    page.read_mostly = false;
    if (auto ok = own_frame(at, page, true); !ok) return ok;
  }
  return expose(at, page);
}

Result<Access> ManagedPages::touch_view(std::uint64_t at, bool write) {
  if (view_ == nullptr) return fail(ErrorCode::kInvalidArgument, "no process has a view of it");
  if (auto ok = check(at, 1); !ok) return forward_error(ok);
  const std::uint64_t begin = align_down(at, kPageSize);
  auto& page = *find(begin);
  const bool enough = page.view == Access::kReadWrite || (page.view == Access::kRead && !write);
  if (enough) return page.view;  // another thread was first
  if (auto ok = migrate_to_host(begin, write); !ok) return forward_error(ok);
  page.view = page.read_mostly || page.on_card() ? Access::kRead : Access::kReadWrite;
  return page.view;
}

Result<std::vector<PageRights>> ManagedPages::touch_all_views() {
  std::vector<PageRights> all;
  Status status;
  ranges_.for_each_page([&](std::uint64_t at, const ManagedPage& page) {
    if (!status || !page.touched()) return;
    const auto rights = touch_view(at, false);
    if (rights) all.push_back({{at}, *rights});
    if (!rights) status = forward_error(rights);
  });
  if (!status) return forward_error(status);
  return all;
}

void ManagedPages::limit_view(std::uint64_t at, ManagedPage& page, Access rights) {
  if (page.view <= rights) return;
  page.view = rights;
  view_->limit(at, 1, rights);
}

// copy(frame's bytes, offset in what is touched) for each page.
template <class Copy>
Status ManagedPages::touch(std::uint64_t at, Bytes size, bool write, Copy copy) {
  if (size == 0) return {};
  if (auto ok = check(at, size); !ok) return ok;
  for (Bytes done = 0; done < size;) {
    const std::uint64_t begin = align_down(at + done, kPageSize);
    const Bytes offset = at + done - begin;
    const Bytes piece = std::min(size - done, kPageSize - offset);
    if (auto ok = migrate_to_host(begin, write); !ok) return ok;
    const auto bytes = find(begin)->frame->cpu();
    copy(ByteSpan{bytes.data + offset, static_cast<std::size_t>(piece)}, done);
    done += piece;
  }
  return {};
}

Status ManagedPages::read(std::uint64_t at, ByteSpan to) {
  return touch(at, to.size, false, [&](ByteSpan bytes, Bytes done) {
    platform().copy({to.data + done, bytes.size}, {bytes.data, bytes.size});
  });
}

Status ManagedPages::write(std::uint64_t at, ConstByteSpan from) {
  return touch(at, from.size, true, [&](ByteSpan bytes, Bytes done) {
    platform().copy(bytes, {from.data + done, bytes.size});
  });
}

}  // namespace npu::driver
