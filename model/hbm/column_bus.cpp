// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/column_bus.hpp"

namespace npu::model::hbm {

// What RD and WR forbid in the other blocks of lanes.
ColumnBus::ColumnBus(const ChannelLayout& layout, const Constraints& limits)
    : candidates_(layout.lanes()), blocks_(static_cast<std::uint8_t>(block(layout.lanes()))) {
  candidates_.set_group_size(layout.banks_per_group());
  for (int from = 0; from < layout.lanes(); from += Candidates::kBlock) {
    for (int to = 0; to < layout.lanes(); to += Candidates::kBlock) {
      const bool here = layout.pseudo_channel_of(from) == layout.pseudo_channel_of(to);
      const bool same_stack = layout.stack_of(from) == layout.stack_of(to);
      const auto distance = [&](unsigned first, unsigned second) {
        const Clock own = here ? limits.columns[first][second] : Constraints::kNone;
        const Clock other =
            same_stack ? Constraints::kNone : limits.columns_of_other_stacks[first][second];
        return static_cast<Lane>(std::max(own, other));
      };
      after_read_[block(from)].to_read[block(to)] = distance(kRead, kRead);
      after_read_[block(from)].to_write[block(to)] = distance(kRead, kWrite);
      after_write_[block(from)].to_read[block(to)] = distance(kWrite, kRead);
      after_write_[block(from)].to_write[block(to)] = distance(kWrite, kWrite);
    }
  }
}

[[gnu::noinline]] void ColumnBus::keep(const RequestQueue& queue, const ChannelTiming& timing) {
  kept_ = true;
  candidates_.withdraw_all();
  for (int lane = activated_.first(); lane != LaneList::kEnd; lane = activated_.behind(lane)) {
    const Bank& bank = queue.bank(lane);
    const Request& request = queue.at(bank.opened);
    const unsigned kind = request.write ? kWrite : kRead;
    candidates_.offer(lane, kind, request.age,
                      timing.column_from(bank.clocks, lane, request.write));
  }
}

void ColumnBus::find(const RequestQueue& queue, const ChannelTiming& timing, bool writes) {
  const Clock floor = next_.at;
  if (kept_) {
    kept_ = writes || !hits_offered_.empty() || search_always_;
    if (kept_) {
      const auto found = candidates_.first_column(floor, writes);
      next_ = found.age < 0 ? NextCommand{} : NextCommand{found.time, queue.lane_of_age(found.age)};
      return;
    }
  }
  next_ = earliest_activated(floor, queue, timing);
}

// Those behind one that its bank allows only later are later, too.
NextCommand ColumnBus::earliest_activated(Clock floor, const RequestQueue& queue,
                                          const ChannelTiming& timing) const {
  NextCommand first;
  int age = 0;
  for (int lane = activated_.first(); lane != LaneList::kEnd; lane = activated_.behind(lane)) {
    const Bank& bank = queue.bank(lane);
    if (bank.clocks.read > first.at) break;
    const Clock at =
        std::max(from(lane, false, timing.column_from(bank.clocks, lane, false)), floor);
    const int own = queue.at(bank.opened).age;
    if (at > first.at || (at == first.at && own > age)) continue;
    first = {at, lane};
    age = own;
  }
  return first;
}

}  // namespace npu::model::hbm
