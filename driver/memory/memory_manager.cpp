// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/memory_manager.hpp"

#include <fmt/format.h>

namespace npu::driver {

Result<std::unique_ptr<MemoryManager>> MemoryManager::create(CardLink& link) {
  auto tables = TableMemory::create(link);
  if (!tables) return forward_error(tables);
  return std::unique_ptr<MemoryManager>(new MemoryManager(link, std::move(*tables)));
}

WindowSet MemoryManager::windows() const {
  WindowSet taken;
  for (const auto& slot : slots_) {
    if (slot.space) taken.set(slot.space->window().number());
  }
  return taken;
}

Result<Space*> MemoryManager::create_space(std::shared_ptr<MemoryQuota> quota,
                                           std::shared_ptr<UnifiedAddresses> addresses) {
  // Those given up whose end failed, because the card did not answer, are tried again.
  for (unsigned given_up = 0; given_up < abi::kVmids; ++given_up) {
    if (auto ok = collect(given_up, true); !ok) return forward_error(ok);
  }
  unsigned vmid = abi::kVmidPhysical + 1;
  while (vmid < abi::kVmids && (slots_[vmid].space || slots_[vmid].withheld)) ++vmid;
  if (vmid == abi::kVmids) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} address spaces of the card in use", abi::kVmids - 1));
  }
  const unsigned usual = vmid - 1;  // where no other card has to be thought of
  auto window = AddressWindow::take(usual, windows(), std::move(addresses));
  if (window == nullptr) {
    return fail(ErrorCode::kOutOfResources,
                "no window of addresses that no other card of the program has");
  }
  auto space = Space::create(vmid, std::move(window), physical_, *tables_, invalidator_);
  if (!space) return forward_error(space);
  slots_[vmid].given_up = false;
  (*space)->set_quota(std::move(quota));
  slots_[vmid].space = std::move(*space);
  return slots_[vmid].space.get();
}

Status MemoryManager::close_space(unsigned vmid, bool card_usable) {
  slots_[vmid].given_up = true;
  return collect(vmid, card_usable);
}

Status MemoryManager::collect(unsigned vmid, bool card_usable) {
  auto& slot = slots_[vmid];
  if (!slot.space || !slot.given_up) return {};
  if (card_usable && streams(vmid) > 0) return {};
  if (auto ok = slot.space->tear_down(card_usable); !ok) return ok;
  const bool counts = slot.space->quota() != nullptr;
  slot.space.reset();
  if (counts) pass_charges(vmid);
  return {};
}

// To the first space that still holds or maps the block. What only other cards use stays where it
// counted.
void MemoryManager::pass_charges(unsigned vmid) {
  physical_.pass_charges(vmid, [&](MemoryHandle memory, unsigned& maker, MemoryCharge& charge) {
    maker = abi::kVmidPhysical;
    for (unsigned other = 0; other < abi::kVmids; ++other) {
      const auto* const space = slots_[other].space.get();
      if (space == nullptr || !(space->held().holds(memory) || space->maps(memory))) continue;
      maker = other;
      charge.pass_to(space->quota());
      return static_cast<bool>(charge);
    }
    return true;
  });
}

void MemoryManager::withdraw_contexts() {
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) {
    if (slots_[vmid].space) tables_->write_context(vmid, {});
  }
  tables_->barrier();
}

}  // namespace npu::driver
