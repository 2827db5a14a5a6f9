// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/pager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/event/wait_loop.hpp"
#include "driver/managed/card_pages.hpp"
#include "driver/managed/sure_write.hpp"
#include "npu/abi/page_fault.hpp"

namespace npu::driver {

using abi::ControlState;
using abi::field_at;
using abi::field_of;
using abi::Message;
using abi::PagerHead;
using abi::PagerMessage;
using abi::PagerVerdict;

namespace {

// Assumed: as long as a quarter of a page's way over the link.
constexpr std::uint32_t kLookPeriod = 20'000;

std::uint64_t head_of(PagerMessage kind) {
  return field_at<PagerHead::Kind>(static_cast<std::uint64_t>(kind));
}

PagerMessage kind_of(const Message& message) {
  return static_cast<PagerMessage>(field_of<PagerHead::Kind>(message.words[0]));
}

std::uint32_t slot_of(const Message& message) {
  return static_cast<std::uint32_t>(message.words[2]);
}

}  // namespace

Result<std::unique_ptr<CardPaging>> Pager::create(CardLink& link, MemoryManager& memory,
                                                  VectorTable& vectors, unsigned vector,
                                                  const ManagedOptions& options,
                                                  std::uint32_t limit) {
  // Some of few are for pages that the driver moves by itself.
  const unsigned pool = std::min(options.high_pages, std::max(1U, limit / 2));
  std::unique_ptr<Pager> pager(new Pager(link, memory, limit, pool));
  if (auto ok = pager->mover_.open(vectors, vector == 0 ? 0 : vector - 1); !ok)
    return forward_error(ok);
  abi::PagerArguments arguments;
  arguments.count = limit;
  arguments.high = pool;
  arguments.low = std::min(options.low_pages, pool);
  arguments.period_ns = kLookPeriod;
  auto loaded = pager->program_.load(pager->mover_, options.pager, arguments);
  if (!loaded) return forward_error(loaded);
  if (auto ok = pager->start(vector); !ok) return forward_error(ok);
  return std::unique_ptr<CardPaging>(std::move(pager));
}

Status Pager::start(unsigned vector) {
  auto channel = MessageChannel::create(link_, vector);
  if (!channel) return forward_error(channel);
  channel_ = std::move(*channel);
  auto ok = serve(0);
  if (ok) {
    ok = write_surely(link_, abi::PageFaultControl{}
                                 .set<abi::PageFaultControl::Enable>(1)
                                 .set<abi::PageFaultControl::ToControl>(1));
  }
  if (ok) ok = write_surely(link_, abi::ControlImage::from_raw(program_.image()));
  if (ok) ok = write_surely(link_, abi::ControlArguments::from_raw(program_.arguments()));
  if (!ok) return ok;
  link_.write(ControlState{}.set<ControlState::Start>(1));
  started_ = true;
  if (!fill_pool()) {
    return fail(ErrorCode::kOutOfMemory, "not a page of the card's memory is left");
  }
  return await_life();
}

// It has taken its first message, or has ended.
Status Pager::await_life() {
  auto& clock = link_.clock();
  const auto deadline = link_.ready_deadline();
  auto look_at = clock.now() + kFirstProbe;
  for (;;) {
    const auto taken = link_.read<abi::MessageTaken>();
    if (!taken) return forward_error(taken);
    if (taken->raw != 0) return {};
    if (clock.now() >= look_at) {
      static_cast<void>(channel_->look());
      look_at = clock.now() + kFirstProbe;
    }
    const auto state = link_.read<ControlState>();
    if (!state) return forward_error(state);
    if (state->get<ControlState::Running>() == 0) {
      dead_ = true;
      return fail(ErrorCode::kDeviceFault,
                  fmt::format("the pager has ended: {}", abi::to_string(static_cast<abi::FaultCode>(
                                                             state->get<ControlState::Fault>()))));
    }
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout, "the pager takes no messages");
    }
    clock.relax({}, deadline);
  }
}

void Pager::stop() {
  auto& clock = link_.clock();
  const auto deadline = link_.ready_deadline();
  if (std::exchange(started_, false) && !link_.lost()) {
    static_cast<void>(serve(0));
    send(PagerMessage::kStop, 0, false);
    auto look_at = clock.now() + kFirstProbe;
    while (!is_dead() && clock.now() < deadline) {
      clock.relax({}, std::min(deadline, look_at));
      if (clock.now() < look_at) continue;
      static_cast<void>(channel_->look());
      look_at = clock.now() + kFirstProbe;
    }
  }
  channel_.reset();
  slots_.destroy_all();
  program_.unload();
}

Status Pager::serve(std::uint32_t vmids) {
  return write_surely(link_, abi::PageFaultSpaces{}.set<abi::PageFaultSpaces::Vmids>(vmids));
}

// One that does not answer now may do so later.
bool Pager::is_dead() {
  const auto state = link_.read<ControlState>();
  const bool ended = state ? state->get<ControlState::Running>() == 0
                           : state.error().code == ErrorCode::kDeviceLost;
  dead_ = dead_ || ended;
  return dead_;
}

bool Pager::serve_some(const ServedSpaces& spaces) {
  bool any = false;
  if (look_is_due()) look_surely();
  while (const auto message = channel_->take()) {
    any = true;
    ++records_;
    serve(*message, spaces);
  }
  channel_->acknowledge();
  return any;
}

void Pager::serve(const Message& message, const ServedSpaces& spaces) {
  switch (kind_of(message)) {
    case PagerMessage::kFault:
      return serve_fault(message, spaces);
    case PagerMessage::kSwap:
      return serve_swap(message);
    case PagerMessage::kTaken:
      return note_taken(message);
    case PagerMessage::kNone:
      return look_surely();
    default:
      return;
  }
}

void Pager::serve_fault(const Message& message, const ServedSpaces& spaces) {
  const auto slot = slot_of(message);
  auto* const pages = spaces[field_of<PagerHead::Vmid>(message.words[0])];
  if (slot != abi::kNoSlot) {
    --free_;
    slots_[slot].given = false;
  }
  if (pages == nullptr) {
    reply(PagerVerdict::kAbort, 0, {});  // its space has been given up meanwhile
  } else if (slot == abi::kNoSlot) {
    // There may be memory now; then it takes the fault again.
    const bool filled = fill_pool();
    if (!filled) ++pages->statistics().fault_errors;
    return reply(filled ? PagerVerdict::kRetry : PagerVerdict::kAbort, 0, {});
  } else {
    ++pages->statistics().records;
    ++pages->statistics().batches;
    const bool write = field_of<PagerHead::Write>(message.words[0]) != 0;
    costs_.lock();
    costs_.faults(1);
    const auto brought = pages->migrate_in(message.words[1], write, slot);
    pages->trace().begin(ServiceTrace::kReply);
    if (!brought) {
      ++pages->statistics().fault_errors;
      reply(PagerVerdict::kAbort, 0, {});
    } else if (brought->was_there) {
      reply(PagerVerdict::kRetry, 0, {});
    } else {
      reply(PagerVerdict::kMap, brought->entry, brought->value);
    }
    pages->trace().end();
    if (brought && !brought->was_there) {
      fill_pool();
      return;
    }
  }
  if (slot != abi::kNoSlot) {
    ++free_;
    slots_[slot].given = true;
  }
}

void Pager::serve_swap(const Message& message) {
  const auto slot = slot_of(message);
  auto& held = slots_[slot];
  // Late: what it says was known without it, and the slot has been given to somebody since.
  if (held.given || held.memory == MemoryHandle{}) return;
  held.swapped = true;
  if (held.pages == nullptr) return give(slot);
  const bool dirty = field_of<PagerHead::Dirty>(message.words[0]) != 0;
  auto& pages = *held.pages;
  const std::uint64_t at = held.at;
  if (pages.migrate_out(slot, dirty)) {
    pages.note_eviction(at);
  } else {
    static_cast<void>(pages.remap(slot));
  }
}

// Late: nobody waits for it any more.
void Pager::note_taken(const Message& message) {
  auto& held = slots_[slot_of(message)];
  if (!std::exchange(held.asked, false) || held.pages == nullptr) return;
  held.taken = true;
  held.dirty = held.dirty || field_of<PagerHead::Dirty>(message.words[0]) != 0;
}

void Pager::reply(PagerVerdict verdict, std::uint64_t entry, abi::PageTableEntry value) {
  Message message;
  message.words[0] = head_of(PagerMessage::kReply) |
                     field_at<PagerHead::Verdict>(static_cast<std::uint64_t>(verdict));
  message.words[1] = entry;
  message.words[2] = value.raw;
  static_cast<void>(channel_->send(message, verdict == PagerVerdict::kMap ? 3 : 1));
}

void Pager::send(PagerMessage kind, std::uint32_t slot, bool flag) {
  Message message;
  message.words[0] =
      head_of(kind) | field_at<PagerHead::Flag>(flag ? 1 : 0) | field_at<PagerHead::Slot>(slot);
  static_cast<void>(channel_->send(message, 1));
}

// Whether it has free slots.
bool Pager::fill_pool() {
  while (free_ < pool_) {
    const auto slot = slots_.create();
    if (static_cast<bool>(slot) == pressed_) {
      pressed_ = !slot;
      send(PagerMessage::kPressure, 0, pressed_);
    }
    if (!slot) break;
    give_free(*slot, false);
  }
  return free_ != 0;
}

void Pager::give_free(std::uint32_t slot, bool after_swap) {
  send(PagerMessage::kGive, slot, after_swap);
  slots_[slot].given = true;
  ++free_;
}

void Pager::give(std::uint32_t slot) {
  auto& held = slots_[slot];
  slots_.empty(slot);
  held.taken = held.dirty = false;
  const bool swapped = std::exchange(held.swapped, false);
  if (dead_ || free_ >= pool_) {
    slots_.destroy(slot);
    if (swapped && !dead_) send(PagerMessage::kGive, abi::kNoSlot, true);
    return;
  }
  give_free(slot, swapped);
}

Status Pager::map(std::uint32_t slot, std::uint64_t entry, abi::PageTableEntry value) {
  auto& held = slots_[slot];
  Message message;
  message.words[0] = head_of(PagerMessage::kAdopt) |
                     field_at<PagerHead::Vmid>(held.pages->space().vmid()) |
                     field_at<PagerHead::Flag>(std::exchange(held.swapped, false) ? 1 : 0);
  message.words[1] = held.at;
  message.words[2] = slot;
  message.words[3] = entry;
  if (auto ok = channel_->send(message, 4); !ok) return ok;
  // As the pager does it: not to be taken back before it was used.
  value.raw |= abi::PageTableEntry::Young::kMask;
  held.pages->space().write_entry(entry, value);
  return {};
}

Result<bool> Pager::unmap(std::uint32_t slot, std::uint64_t entry) {
  if (dead_) return unmap_without(slot, entry);
  auto& held = slots_[slot];
  // It may have said long ago that it has taken the page back by itself.
  const auto swap = channel_->take_put_off([slot](const Message& message) {
    return kind_of(message) == PagerMessage::kSwap && slot_of(message) == slot;
  });
  if (swap) {
    held.swapped = true;
    return field_of<PagerHead::Dirty>(swap->words[0]) != 0;
  }
  const auto answer = channel_->take_put_off([slot](const Message& message) {
    return kind_of(message) == PagerMessage::kTaken && slot_of(message) == slot;
  });
  if (answer) note_taken(*answer);
  if (!held.taken) {
    // Of one that was asked before the answer may still come.
    if (!std::exchange(held.asked, true)) send(PagerMessage::kTakeBack, slot, false);
    const auto taken = await_taken(slot, entry);
    if (!taken) return taken;
    held.dirty = held.dirty || *taken;
  }
  held.taken = false;
  return std::exchange(held.dirty, false);
}

// Whether the page was written.
Result<bool> Pager::await_taken(std::uint32_t slot, std::uint64_t entry) {
  auto& clock = link_.clock();
  auto& held = slots_[slot];
  const auto deadline = link_.ready_deadline();
  auto look_at = clock.now() + kFirstProbe;
  for (;;) {
    const auto message = channel_->take_new();
    if (!message) {
      if (auto ok = link_.alive(); !ok) return forward_error(ok);
      if (clock.now() >= look_at) {
        static_cast<void>(channel_->look());
        look_at = clock.now() + kFirstProbe;
      }
      if (clock.now() >= deadline) {
        if (is_dead()) return unmap_without(slot, entry);
        return fail(ErrorCode::kTimeout, "the card's pager does not give a page back");
      }
      channel_->acknowledge();
      clock.relax(channel_->next(), std::min(deadline, look_at));
      continue;
    }
    const bool meant = slot_of(*message) == slot;
    const bool written = field_of<PagerHead::Dirty>(message->words[0]) != 0;
    if (meant && kind_of(*message) == PagerMessage::kTaken) {
      held.asked = false;
      return written;
    }
    if (meant && kind_of(*message) == PagerMessage::kSwap) {
      // It has taken it back by itself meanwhile; the answer says that there is nothing left.
      held.swapped = true;
      held.dirty = written;
    } else {
      channel_->put_off(*message);
    }
  }
}

// What it has said of the page before it ended is about another page soon.
void Pager::forget_messages(std::uint32_t slot) {
  while (const auto message = channel_->take_new()) channel_->put_off(*message);
  const auto is_meant = [slot](const Message& message) {
    const auto kind = kind_of(message);
    return (kind == PagerMessage::kSwap || kind == PagerMessage::kTaken) &&
           slot_of(message) == slot;
  };
  while (channel_->take_put_off(is_meant)) continue;
}

Result<bool> Pager::unmap_without(std::uint32_t slot, std::uint64_t entry) {
  forget_messages(slot);
  auto& held = slots_[slot];
  held.asked = held.taken = held.dirty = held.swapped = false;
  auto& space = held.pages->space();
  const auto ok = invalidator_.drop(space.vmid(), held.at, [&] { space.write_entry(entry, {}); });
  if (!ok) return forward_error(ok);
  return true;
}

}  // namespace npu::driver
