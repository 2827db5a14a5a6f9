// SPDX-License-Identifier: Apache-2.0
#include "tests/timing/hbm/plain_account.hpp"

#include <algorithm>

namespace npu::model::test {
namespace {

using hbm::Command;
using hbm::CommandKind;

bool same_bank(const Command& a, const Command& b) {
  return a.stack == b.stack && a.group == b.group && a.bank == b.bank;
}

}  // namespace

PlainAccount::PlainAccount(const HbmConfig& config, unsigned pseudo_channel)
    : t_(config.timings), per_bank_(t_.trfc_pb != 0), due_(per_bank_ ? t_.trefi_pb : t_.trefi) {
  if (config.policy == HbmPolicy::kSharedQueue && pseudo_channel == 1) due_ -= due_ / 2;
}

void PlainAccount::command(const Command& c, Clock accepted) {
  const std::size_t bank = (std::size_t{c.stack} << 16) + (std::size_t{c.group} << 8) + c.bank;
  switch (c.kind) {
    case CommandKind::kActivate:
      acts_[bank] = c.at;
      break;
    case CommandKind::kRead:
    case CommandKind::kWrite: {
      const Clock trcd = c.kind == CommandKind::kRead ? t_.trcd_rd : t_.trcd_wr;
      slots_.push_back({c, accepted + 1, acts_[bank] + t_.act_clocks - 1 + trcd});
      break;
    }
    case CommandKind::kRefresh:
    case CommandKind::kRefreshBank:
      refreshes_.push_back({due_, c.at + (per_bank_ ? t_.trfc_pb : t_.trfc), c});
      due_ += per_bank_ ? t_.trefi_pb : t_.trefi;
      break;
    case CommandKind::kPrecharge:
    case CommandKind::kPrechargeAll:
      break;
  }
}

bool PlainAccount::refreshing(const Command& c, Clock now) const {
  // Refreshes fall due in order: those from here on have not.
  auto window = std::upper_bound(refreshes_.begin(), refreshes_.end(), now,
                                 [](Clock at, const Window& w) { return at < w.begin; });
  while (window != refreshes_.begin()) {
    --window;
    if (now < window->end && (!per_bank_ || same_bank(window->command, c))) return true;
    if (now - window->begin > 100'000) break;
  }
  return false;
}

void PlainAccount::take(hbm::BusClocks& clocks, const Slot& slot, const Slot* last,
                        Clock waiting) const {
  const bool write = slot.command.kind == CommandKind::kWrite;
  const bool turning = last != nullptr && slot.command.kind != last->command.kind;
  const Clock turn = write ? Clock{t_.trtw} : Clock{t_.cwl} + t_.burst_clocks + t_.twtr_s;
  const Clock from = last == nullptr ? 0 : last->command.at + t_.burst_clocks;
  for (Clock now = from; now < slot.command.at; ++now) {
    if (now < waiting) {
      ++clocks.idle;
    } else if (refreshing(slot.command, now)) {
      ++clocks.refresh;
    } else if (turning && now < last->command.at + turn) {
      ++clocks.turnaround;
    } else if (now < std::max(slot.row_ready, slot.arrived)) {
      ++clocks.row;
    } else {
      ++clocks.column;
    }
  }
  clocks.data += t_.burst_clocks;
}

hbm::BusClocks PlainAccount::finish(Clock end) const {
  hbm::BusClocks clocks;
  Clock waiting = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot* last = i == 0 ? nullptr : &slots_[i - 1];
    // Nothing was left after the slot before.
    if (last == nullptr || waiting_[i] > last->command.at) waiting = waiting_[i];
    take(clocks, slots_[i], last, waiting);
  }
  clocks.idle += end - (slots_.empty() ? 0 : slots_.back().command.at + t_.burst_clocks);
  return clocks;
}

}  // namespace npu::model::test
