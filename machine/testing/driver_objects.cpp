// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/driver_objects.hpp"

#include <algorithm>

#include "npu/platform/activity_detail.hpp"

namespace npu::testkit {

using platform::Activity;
using platform::BlockState;
using platform::DriverCall;

void DriverObjects::on_event(const platform::TraceEvent& event) {
  if (event.activity == Activity::kMemoryBlock) return block(card_of(event.track), event);
  if (event.activity != Activity::kDriverCall) return;
  if (static_cast<DriverCall>(event.detail >> 56) == DriverCall::kOpen) return opened(event);
  call(card_of(event.track), event);
}

// "driver0.memory" and "driver0.calls" are of one card.
DriverObjects::Card& DriverObjects::card_of(std::uint32_t track) {
  auto& name = names_[track];
  if (name.empty()) {
    name = track_name_(track);
    name.resize(std::min(name.size(), name.find('.')));
  }
  return cards_[name];
}

void DriverObjects::block(Card& card, const platform::TraceEvent& event) {
  const std::uint64_t address = event.detail & ((std::uint64_t{1} << 60) - 1);
  switch (static_cast<BlockState>(event.detail >> 60)) {
    case BlockState::kAllocated:
    case BlockState::kPinned:
      card.blocks[address] = {static_cast<BlockState>(event.detail >> 60) == BlockState::kPinned,
                              event.bytes, event.begin};
      return;
    case BlockState::kMoved:  // its old place becomes free
      card.blocks[address] = {false, event.bytes, event.begin};
      return;
    default:
      card.blocks.erase(address);
  }
}

// What a driver takes for itself while it opens a card is no user's.
void DriverObjects::opened(const platform::TraceEvent& event) {
  for (auto& [name, card] : cards_) {
    for (auto block = card.blocks.begin(); block != card.blocks.end();) {
      block = block->second.made >= event.begin ? card.blocks.erase(block) : std::next(block);
    }
  }
}

void DriverObjects::call(Card& card, const platform::TraceEvent& event) {
  const auto argument = event.detail & ((std::uint64_t{1} << 56) - 1);
  if (argument == platform::kFailedCall) return;
  switch (static_cast<DriverCall>(event.detail >> 56)) {
    case DriverCall::kCreateEvent:
      ++card.events;
      return;
    case DriverCall::kDestroyEvent:
      --card.events;
      return;
    case DriverCall::kShutdown:  // the second one finds nothing
      note(closed_, card);
      card = {};
      return;
    default:
      return;
  }
}

void DriverObjects::note(ObjectLedger& ledger, const Card& card) {
  for (const auto& [address, block] : card.blocks) {
    ledger.note(block.pinned ? "pinned device buffer" : "device buffer", 1, block.size);
  }
  if (card.events > 0) ledger.note("event", static_cast<std::uint64_t>(card.events), 0);
}

std::vector<Leak> DriverObjects::left() const {
  ObjectLedger all = closed_;
  for (const auto& [name, card] : cards_) note(all, card);
  return all.left();
}

}  // namespace npu::testkit
