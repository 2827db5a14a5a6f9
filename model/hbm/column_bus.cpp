// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/column_bus.hpp"

namespace npu::model::hbm {

// What RD and WR forbid in the other blocks of lanes.
ColumnBus::ColumnBus(const ChannelLayout& layout, const Constraints& limits) {
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

void ColumnBus::find(const RequestQueue& queue, const ChannelTiming& timing, Traffic traffic) {
  const Clock floor = next_.at;
  NextCommand first;
  if (any_activated()) first = earliest_activated(floor, queue, timing, traffic);
  if (first.at != floor) {
    const FirstHit hit = first_hit(floor, timing, traffic);
    if (hit.at < first.at) first = {hit.at, hit.hit->lane};
  }
  next_ = first;
}

ColumnBus::FirstHit ColumnBus::first_hit(Clock floor, const ChannelTiming& timing,
                                         Traffic traffic) {
  FirstHit first;
  for (RowHits::Hit& hit : hits_) {
    const bool write = is_write(hit.write, traffic);
    const Clock held = held_.until(write ? kWrite : kRead, hit.block);
    const Clock at = std::max({hit.from, timing.group_column_from(hit.group, write), held, floor});
    if (at < first.at) first = {at, &hit};
    if (at == floor) break;
  }
  return first;
}

// Those behind one that its bank allows only later are later, too.
NextCommand ColumnBus::earliest_activated(Clock floor, const RequestQueue& queue,
                                          const ChannelTiming& timing, Traffic traffic) const {
  NextCommand first;
  int age = 0;
  for (int lane = activated_.first(); lane != LaneList::kEnd; lane = activated_.behind(lane)) {
    const Bank& bank = queue.bank(lane);
    const Request& request = queue.at(bank.opened);
    const bool write = is_write(request, traffic);
    const Clock opened = traffic == Traffic::kReads ? bank.clocks.read
                         : traffic == Traffic::kWrites
                             ? bank.clocks.write
                             : std::min(bank.clocks.read, bank.clocks.write);
    if (opened > first.at) break;
    const Clock at =
        std::max(from(lane, write, timing.column_from(bank.clocks, lane, write)), floor);
    if (at > first.at || (at == first.at && request.age > age)) continue;
    first = {at, lane};
    age = request.age;
  }
  return first;
}

}  // namespace npu::model::hbm
