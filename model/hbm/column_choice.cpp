// SPDX-License-Identifier: Apache-2.0
// Which RD or WR comes next. Most need no search: while only reads that an ACT was issued for are
// on offer they are looked at in the order of their ACTs; of row hits the oldest comes first.
#include "model/hbm/channel_engine.hpp"

namespace npu::model::hbm {

void ChannelEngine::update_column(int lane, Traffic traffic) {
  const Bank& bank = queue_.bank(lane);
  const bool opened = bank.opened != kNoRequest;  // comes before all others on the column bus
  const Slot next = opened ? bank.opened : bank.lists[list(traffic)].hit;
  column_.withdrawn(lane);
  if (next == kNoRequest || (!opened && gated(lane))) {
    no_column(lane);
  } else {
    offer_column(lane, next, opened, traffic);
  }
}

void ChannelEngine::no_column(int lane) {
  hits_offered_.remove(lane);
  if (columns_kept_) columns_.withdraw(lane);
}

void ChannelEngine::offer_column(int lane, Slot slot, bool opened, Traffic traffic) {
  const Request& request = queue_.at(slot);
  const bool write = ChannelEngine::write(request, traffic);
  const Clock limit = std::max(column_limit(lane, write), request.arrived + 1);
  if (opened) {
    hits_offered_.remove(lane);
  } else {
    hits_offered_.add(lane);
  }
  if (!columns_kept_ && (!opened || write)) keep_columns();
  if (columns_kept_) {
    const int age = request.age + (opened ? 0 : Candidates::kSecondClass);
    columns_.offer(lane, write ? kWrite : kRead, age, limit);
  }
  const Clock held = columns_.held_until(write ? kWrite : kRead, lane);
  column_.offered(std::max({limit, held, now_, column_bus_free_}));
}

[[gnu::noinline]] void ChannelEngine::keep_columns() {
  columns_kept_ = true;
  columns_.withdraw_all();
  for (int lane = activated_.first(); lane != LaneList::kEnd; lane = activated_.behind(lane)) {
    const Request& request = queue_.at(queue_.bank(lane).opened);
    const unsigned kind = request.write ? kWrite : kRead;
    columns_.offer(lane, kind, request.age, column_limit(lane, request.write));
  }
}

// After a RD or WR: its bank group is held back.
void ChannelEngine::hold_group(int lane, bool write) {
  if (!columns_kept_) return;
  const int first = place(lane).group_begin;
  columns_.raise_group(first, kRead, group(lane).read);
  if (write) columns_.raise_group(first, kWrite, group(lane).write);
}

void ChannelEngine::find_column(Traffic traffic) {
  const Clock floor = column_.at;
  if (columns_kept_) {
    if (short_cuts_ && oldest_is_first(floor, traffic)) return;
    const bool writes = traffic == Traffic::kAny && queue_.holds_writes();
    columns_kept_ = writes || !hits_offered_.empty() || !short_cuts_;
    if (columns_kept_) {
      const auto found = columns_.first_column(floor, writes);
      column_ = found.age < 0 ? Next{} : Next{found.time, queue_.lane_of_age(found.age)};
      return;
    }
  }
  column_ = first_activated(floor);
}

// Reads alone: those behind one that its bank allows only later are later, too.
ChannelEngine::Next ChannelEngine::first_activated(Clock floor) const {
  Next first;
  int age = 0;
  for (int lane = activated_.first(); lane != LaneList::kEnd; lane = activated_.behind(lane)) {
    const Bank& bank = queue_.bank(lane);
    if (bank.read > first.at) break;
    const Clock from = std::max(column_from(lane, false), floor);
    const int own = queue_.at(bank.opened).age;
    if (from > first.at || (from == first.at && own > age)) continue;
    first = {from, lane};
    age = own;
  }
  return first;
}

// A row hit that is older than all others and may issue at once needs no search.
bool ChannelEngine::oldest_is_first(Clock floor, Traffic traffic) {
  if (opened_ != 0) return false;  // they come before it
  const Slot slot = queue_.oldest();
  const Request& request = queue_.at(slot);
  const int lane = request.lane;
  const Bank& bank = queue_.bank(lane);
  if (slot == kNoRequest || bank.lists[list(traffic)].hit != slot || gated(lane)) return false;
  if (std::max(column_from(lane, write(request, traffic)), request.arrived + 1) > floor)
    return false;
  column_ = {floor, lane};
  return true;
}

}  // namespace npu::model::hbm
