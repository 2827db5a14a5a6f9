// SPDX-License-Identifier: Apache-2.0
#include "firmware/pager/pager.hpp"

#include <algorithm>

#include "firmware/program.hpp"

namespace npu::firmware {
namespace {

using abi::ControlStatus;
using abi::FaultAccessInfo;
using abi::field_at;
using abi::field_of;
using abi::Message;
using abi::PagerHead;
using abi::PagerMessage;
using abi::PagerSlot;
using abi::PagerVerdict;
using abi::PageTableEntry;
using platform::AicpuPhase;

// Looks at pages between two times that translations are dropped.
constexpr std::uint32_t kLooks = 16;

}  // namespace

void Pager::run() {
  while (!stopped_) {
    const bool acted = step();
    port_.phase(AicpuPhase::kIdle);
    if (!acted && !port_.poll_again(may_evict() ? next_look_ : kEver)) look_due_ = true;
  }
}

bool Pager::step() {
  const auto status = window_.status();
  if (status.get<ControlStatus::Messages>() != 0) {
    take_message();
    return true;
  }
  const bool may_take = slots_.free() != 0 || swap_failed_ || !is_short();
  if (status.get<ControlStatus::Faults>() != 0 && !asked_ && may_take) {
    take_fault();
    return true;
  }
  if (!may_evict() || !look_due_) return false;
  evict();
  return true;
}

// Memory comes from pages that are taken back; as long as there are any.
bool Pager::is_short() const {
  return pressed_ && slots_.used() + leaving_ != 0 &&
         (slots_.free() < slots_.arguments().low || leaving_ != 0);
}

void Pager::take_fault() {
  port_.phase(AicpuPhase::kTakeFault);
  fault_ = window_.take_fault();
  if (fault_.info.get<FaultAccessInfo::Valid>() == 0) return;
  slot_ = slots_.first_free();
  if (slot_ != abi::kNoSlot) slots_.take();
  asked_ = true;
  swap_failed_ = false;
  const auto& info = fault_.info;
  Message message;
  message.words[0] = field_at<PagerHead::Kind>(static_cast<std::uint64_t>(PagerMessage::kFault)) |
                     field_at<PagerHead::Vmid>(info.get<FaultAccessInfo::Vmid>()) |
                     field_at<PagerHead::Write>(info.get<FaultAccessInfo::Write>()) |
                     field_at<PagerHead::Forbidden>(info.get<FaultAccessInfo::Forbidden>()) |
                     field_at<PagerHead::Core>(info.get<FaultAccessInfo::Core>());
  message.words[1] = fault_.address;
  message.words[2] = slot_ | std::uint64_t{info.get<FaultAccessInfo::Unit>()} << 32;
  window_.send(message);
}

void Pager::take_message() {
  const std::uint32_t head = window_.take_message();
  switch (static_cast<PagerMessage>(field_of<PagerHead::Kind>(head))) {
    case PagerMessage::kReply:
      return replied(static_cast<PagerVerdict>(field_of<PagerHead::Verdict>(head)));
    case PagerMessage::kGive:
      if (leaving_ != 0 && field_of<PagerHead::Flag>(head) != 0) --leaving_;
      if (const auto slot = window_.high_word(0); slot != abi::kNoSlot) slots_.give(slot);
      return;
    case PagerMessage::kAdopt:
      if (leaving_ != 0 && field_of<PagerHead::Flag>(head) != 0) {
        --leaving_;
        swap_failed_ = true;
      }
      return slots_.hold(window_.low_word(2), window_.word(1), field_of<PagerHead::Vmid>(head),
                         window_.word(3));
    case PagerMessage::kTakeBack:
      return take_back(window_.high_word(0));
    case PagerMessage::kPressure:
      pressed_ = field_of<PagerHead::Flag>(head) != 0;
      return;
    case PagerMessage::kStop:
      stopped_ = true;
      return;
    default:
      return;
  }
}

void Pager::take_back(std::uint32_t slot) {
  if (!slots_.holds(slot)) {
    return tell(PagerMessage::kTaken, slot, PagerSlot{}, field_at<PagerHead::Empty>(1));
  }
  const auto held = slots_.get(slot);
  const bool dirty = unmap(held);
  slots_.drop(slot);
  tell(PagerMessage::kTaken, slot, held, field_at<PagerHead::Dirty>(dirty ? 1 : 0));
}

void Pager::replied(PagerVerdict verdict) {
  if (!asked_) return;
  port_.phase(AicpuPhase::kMapPage);
  const auto vmid = fault_.info.get<FaultAccessInfo::Vmid>();
  if (verdict == PagerVerdict::kMap) {
    const std::uint64_t entry = window_.word(1);
    // Young, so that it is not taken back before it was used at all.
    port_.store(entry, 8, window_.word(2) | PageTableEntry::Young::kMask);
    slots_.hold(slot_, fault_.address & ~(abi::entry_span(0) - 1), vmid, entry);
  } else if (slot_ != abi::kNoSlot) {
    slots_.give(slot_);
  }
  asked_ = false;
  window_.reply(vmid, fault_.address, verdict == PagerVerdict::kAbort);
}

// Round the clock: a page that has been used since the last look gets another chance. A round takes
// a while, so that one that has just come is used before it is looked at twice.
void Pager::evict() {
  port_.phase(AicpuPhase::kEvictPage);
  bool wrapped = false;
  const auto slot = slots_.next_used(wrapped);
  if (slot == abi::kNoSlot) return;
  if (wrapped) {
    const std::uint64_t megahertz = port_.counter_hz() / 1'000'000;
    look_due_ = false;
    next_look_ = port_.system_counter() + slots_.arguments().period_ns * megahertz / 1000;
  }
  const auto held = slots_.get(slot);
  if (was_used(held)) {
    spaces_ |= 1U << held.vmid();
    if (++looked_ >= std::min(kLooks, slots_.used())) forget_translations();
    return;
  }
  const bool dirty = unmap(held);
  slots_.drop(slot);
  ++leaving_;
  tell(PagerMessage::kSwap, slot, held, field_at<PagerHead::Dirty>(dirty ? 1 : 0));
}

bool Pager::was_used(const PagerSlot& held) {
  port_.invalidate(held.entry, 8);
  const std::uint64_t raw = port_.load(held.entry, 8);
  if (!PageTableEntry{raw}.young()) return false;
  // What the walker writes meanwhile makes it young again.
  static_cast<void>(
      port_.compare_exchange(held.entry, 8, raw, raw & ~PageTableEntry::Young::kMask));
  return true;
}

// A page whose translation is still cached does not become young by being used.
void Pager::forget_translations() {
  for (unsigned vmid = 0; spaces_ != 0; ++vmid, spaces_ >>= 1) {
    if ((spaces_ & 1) != 0) window_.invalidate_space(vmid);
  }
  looked_ = 0;
}

bool Pager::unmap(const PagerSlot& held) {
  port_.invalidate(held.entry, 8);
  std::uint64_t raw = port_.load(held.entry, 8);
  for (;;) {
    const std::uint64_t found = port_.compare_exchange(held.entry, 8, raw, 0);
    if (found == raw) break;
    raw = found;
  }
  window_.invalidate_page(held.vmid(), held.address());
  return PageTableEntry{raw}.dirty();
}

void Pager::tell(PagerMessage kind, std::uint32_t slot, const PagerSlot& held,
                 std::uint64_t flags) {
  Message message;
  message.words[0] = field_at<PagerHead::Kind>(static_cast<std::uint64_t>(kind)) |
                     field_at<PagerHead::Vmid>(held.vmid()) | flags;
  message.words[1] = held.address();
  message.words[2] = slot;
  window_.send(message);
}

}  // namespace npu::firmware

NPU_PROGRAM_ENTRY int npu_aicpu_main(npu::platform::AicpuPort& port) {
  npu::firmware::Pager(port).run();
  return 0;
}
