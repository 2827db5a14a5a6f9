// SPDX-License-Identifier: Apache-2.0
// The bursts a channel's controller holds: per bank a list in order of arrival for each kind the
// policy tells apart, with the oldest row hit and the oldest row miss of each list at hand. Bursts
// of a transaction that come to a row one after the other are one request.
#pragma once

#include <array>
#include <cstdint>

#include "model/hbm/channel_timing.hpp"
#include "model/hbm/command.hpp"
#include "model/hbm/lanes.hpp"

namespace npu::model::hbm {

// One burst for a channel. `lane`: number of the bank within the channel.
struct Burst {
  std::uint32_t row;
  std::uint32_t tag;  // the owner's own, handed back when the burst is served
  std::uint16_t lane;
  bool write;
};

using Slot = std::uint16_t;
// No request; its place in the array exists and may be written, so that links need no questions.
constexpr Slot kNoRequest = 0;

// `age`, `arrived` and `activated` are those of its first burst that is not served.
struct Request {
  std::uint32_t row;
  std::uint32_t tag;
  Slot next;
  Slot previous;
  std::int16_t age;  // order of arrival in the channel
  std::uint8_t lane;
  bool write : 1;
  bool activated : 1;  // an ACT was issued for it
  Clock arrived;
  std::uint8_t count;   // bursts
  std::uint8_t served;  // bursts before them
  // By so much each is younger than the one before, and came so many clocks later.
  std::uint8_t step;
};
static_assert(sizeof(Request) == 32);

struct BankList {
  Slot head = kNoRequest;
  Slot tail = kNoRequest;
  Slot hit = kNoRequest;   // oldest one for the open row
  Slot miss = kNoRequest;  // oldest other one
};

// What a bank holds, and the clocks from which it allows each command; what its bank group and the
// channel impose comes on top (channel_timing.hpp).
struct alignas(64) Bank {
  BankClocks clocks;
  Clock refreshed = -kNever;  // end of the last refresh; kNever: one is due or in flight
  std::array<BankList, 2> lists;
  std::uint32_t row = 0;
  Slot opened = kNoRequest;  // split queues: the request whose ACT was issued
  bool open = false;
};
static_assert(sizeof(Bank) == 64);

class RequestQueue {
 public:
  static constexpr unsigned kMaxLanes = 128;
  static constexpr int kAgeLimit = 512;

  // `split`: writes have lists of their own. `capacity`: requests held at once, opened included.
  RequestQueue(bool split, unsigned capacity);

  Bank& bank(int lane) { return banks_[static_cast<std::size_t>(lane)]; }
  const Bank& bank(int lane) const { return banks_[static_cast<std::size_t>(lane)]; }
  Request& at(unsigned slot) { return requests_[slot]; }
  const Request& at(unsigned slot) const { return requests_[slot]; }

  // (`write` below is what the request is, too: mostly the compiler knows it.)
  // Appends a burst; there are ages_left(). What it has become the oldest of in its list:
  enum class Oldest : std::uint8_t { kHit, kMiss, kNothing };
  Oldest append(const Burst& burst, Clock arrived, bool write) {
    const std::int16_t age = next_age_++;
    return continues(burst, arrived, age) ? Oldest::kNothing
                                          : append(burst, arrived, write, age, 1, 0);
  }
  // So many bursts, of ages from next_age() + `first` on, by steps, which are passed afterwards.
  Oldest append_many(const Burst& burst, Clock arrived, bool write, unsigned first, unsigned count,
                     unsigned step) {
    const auto age = static_cast<std::int16_t>(next_age_ + static_cast<int>(first));
    return append(burst, arrived, write, age, count, step);
  }
  void pass_ages(unsigned count) {
    next_age_ = static_cast<std::int16_t>(next_age_ + static_cast<int>(count));
  }
  // The first burst of a request is served.
  void serve(Slot slot, bool write) {
    if (requests_[slot].count > 1) {
      slot_of_age_[static_cast<std::size_t>(requests_[slot].age)] = kNoRequest;
      pass_first(slot);
      ++requests_[slot].served;
      --queued_[write ? 1 : 0];
      --held_[write ? 1 : 0];
    } else {
      unlink(slot, write);
      release(slot, write);
    }
  }
  // The first burst of a request leaves its list; it stays readable until release().
  Slot take(Slot slot, bool write) {
    if (requests_[slot].count > 1) return detach(slot, write);
    unlink(slot, write);
    return slot;
  }
  // The same of the first request of its list, whose bank is closed.
  Slot take_first(Slot slot, bool write) {
    if (requests_[slot].count > 1) return detach(slot, write);
    unlink_first(slot, write);
    return slot;
  }
  // Takes a request out of its list; it stays readable until release().
  void unlink(Slot slot, bool write) {
    const Request& request = requests_[slot];
    Bank& bank = banks_[request.lane];
    auto& list = bank.lists[split_ && write ? 1 : 0];
    if (list.hit == slot) list.hit = next_match(request.next, bank, true);
    if (list.miss == slot) list.miss = next_match(request.next, bank, false);
    requests_[request.previous].next = request.next;
    requests_[request.next].previous = request.previous;
    list.head = list.head == slot ? request.next : list.head;
    list.tail = list.tail == slot ? request.previous : list.tail;
    --queued_[write ? 1 : 0];
  }
  // Takes the first request out of its list, whose bank is closed.
  void unlink_first(Slot slot, bool write) {
    const Request& request = requests_[slot];
    auto& list = banks_[request.lane].lists[split_ && write ? 1 : 0];
    requests_[request.next].previous = kNoRequest;
    list.head = list.miss = request.next;
    list.tail = only_if(request.next != kNoRequest, list.tail);
    const auto& lists = banks_[request.lane].lists;
    rows_[request.lane].forget_if((lists[0].head | lists[1].head) == kNoRequest);
    --queued_[write ? 1 : 0];
  }
  void release(Slot slot, bool write) {
    slot_of_age_[static_cast<std::size_t>(requests_[slot].age)] = kNoRequest;
    --held_[write ? 1 : 0];
    requests_[slot].next = free_;
    free_ = slot;
  }
  void open_row(int lane, std::uint32_t row) {
    Bank& opened = bank(lane);
    opened.open = true;
    open_rows_.add(lane);
    opened.row = row;
    if (split_ && !rows_[static_cast<std::size_t>(lane)].repeated) {  // its request has left
      for (auto& list : opened.lists) {
        list.hit = kNoRequest;
        list.miss = list.head;
      }
      return;
    }
    for (auto& list : opened.lists) {
      if (list.head == kNoRequest) continue;  // hit and miss are none, too
      list.hit = next_match(list.head, opened, true);
      list.miss = list.hit == list.head ? next_match(list.head, opened, false) : list.head;
    }
  }
  // Calls visit(lane) for the banks that requests are held for.
  template <class Visit>
  void for_each_holding(const Visit& visit) {
    holding_.for_each([&](int lane) {
      const Bank& held = bank(lane);
      if ((held.lists[0].head | held.lists[1].head | held.opened) == kNoRequest) {
        return holding_.remove(lane);
      }
      visit(lane);
    });
  }
  // Banks with an open row.
  const LaneSet& open_rows() const { return open_rows_; }
  void close_row(int lane) {
    Bank& closed = bank(lane);
    closed.open = false;
    open_rows_.remove(lane);
    for (auto& list : closed.lists) {
      list.hit = kNoRequest;
      list.miss = list.head;
    }
  }

  void prefetch(int lane) const {
    __builtin_prefetch(&bank(lane), 1);
    __builtin_prefetch(&rows_[static_cast<std::size_t>(lane)], 1);
  }

  // Queued requests by kind (opened ones do not count).
  unsigned queued(bool write) const { return queued_[write ? 1 : 0]; }
  // Whether any request of the kind is held, queued or opened.
  bool holds(bool write) const { return held_[write ? 1 : 0] != 0; }
  unsigned ages_left() const { return static_cast<unsigned>(kAgeLimit - next_age_); }
  // Make ages free again, keeping their order: all become less by the same number, which is
  // returned, or 0 if an old request is in the way; one by one.
  int lower_ages();
  void renumber();
  // The lane of the request of an age, which must exist.
  int lane_of_age(int age) const { return requests_[of_age(age)].lane; }
  // The oldest request of all, or none.
  Slot oldest() {
    while (oldest_age_ < next_age_ && of_age(oldest_age_) == kNoRequest) ++oldest_age_;
    return oldest_age_ < next_age_ ? of_age(oldest_age_) : kNoRequest;
  }

 private:
  Oldest append(const Burst& burst, Clock arrived, bool write, std::int16_t age, unsigned count,
                unsigned step) {
    const Slot slot = free_;
    Request& request = requests_[slot];
    free_ = request.next;
    Bank& bank = banks_[burst.lane];
    auto& list = bank.lists[split_ && write ? 1 : 0];
    request.row = burst.row;
    request.tag = burst.tag;
    request.next = kNoRequest;
    request.previous = list.tail;
    request.age = age;
    request.lane = static_cast<std::uint8_t>(burst.lane);
    request.write = write;
    request.activated = false;
    request.arrived = arrived;
    request.count = static_cast<std::uint8_t>(count);
    request.step = static_cast<std::uint8_t>(step);
    request.served = 0;
    slot_of_age_[static_cast<std::size_t>(age)] = slot;
    requests_[list.tail].next = slot;
    list.head |= only_if(list.tail == kNoRequest, slot);
    list.tail = slot;
    queued_[write ? 1 : 0] += count;
    held_[write ? 1 : 0] += count;
    rows_[burst.lane].add(burst.row, count > 1);
    holding_.add(burst.lane);
    const bool hit = bank.open & (bank.row == burst.row);  // one branch
    auto& oldest = hit ? list.hit : list.miss;
    if (oldest != kNoRequest) return Oldest::kNothing;
    oldest = slot;
    return hit ? Oldest::kHit : Oldest::kMiss;
  }
  // Makes the burst one more of the last request of its list, if it goes on with that.
  bool continues(const Burst& burst, Clock arrived, std::int16_t age) {
    const auto& list = banks_[burst.lane].lists[split_ && burst.write ? 1 : 0];
    Request& last = requests_[list.tail];
    if (list.tail == kNoRequest || last.tag != burst.tag || last.row != burst.row) return false;
    const int younger = age - last.age;
    if (arrived - last.arrived != younger || last.write != burst.write) return false;
    if (last.count == 1) last.step = static_cast<std::uint8_t>(younger);
    if (last.step * last.count != younger || last.count + last.served == UINT8_MAX) {
      return false;
    }

    ++last.count;
    ++queued_[burst.write ? 1 : 0];
    ++held_[burst.write ? 1 : 0];
    rows_[burst.lane].repeated = true;
    return true;
  }
  // The first of several bursts becomes a request of its own, in no list.
  Slot detach(Slot slot, bool write) {
    const Slot first = free_;
    free_ = requests_[first].next;
    requests_[first] = requests_[slot];
    requests_[first].count = 1;
    requests_[first].served = 0;
    slot_of_age_[static_cast<std::size_t>(requests_[first].age)] = first;
    pass_first(slot);
    --queued_[write ? 1 : 0];
    return first;
  }
  // The first burst of a request of several has left it.
  void pass_first(Slot slot) {
    Request& request = requests_[slot];
    request.age = static_cast<std::int16_t>(request.age + request.step);
    request.arrived += request.step;
    request.activated = false;
    --request.count;
    slot_of_age_[static_cast<std::size_t>(request.age)] = slot;
  }
  void split_up(Slot slot);
  Slot of_age(int age) const { return slot_of_age_[static_cast<unsigned>(age) % kAgeLimit]; }
  // Without the branch, which could not be predicted.
  static Slot only_if(bool condition, Slot slot) {
    return static_cast<Slot>(slot & -static_cast<int>(condition));
  }
  Slot next_match(Slot from, const Bank& bank, bool hit) const {
    while (from != kNoRequest && (bank.open && requests_[from].row == bank.row) != hit) {
      from = requests_[from].next;
    }
    return from;
  }

  // Whether two requests of a bank may be for the same row: if not, nothing need be looked for when
  // it is opened. Begins anew when no request is left.
  struct Rows {
    std::uint64_t seen = 0;  // a bit for each row modulo 64
    bool repeated = false;

    void add(std::uint32_t row, bool several) {
      repeated |= several | ((seen >> row % 64 & 1) != 0);
      seen |= std::uint64_t{1} << row % 64;
    }
    void forget_if(bool none_left) {  // without a branch
      seen &= std::uint64_t{none_left} - 1;
      repeated &= !none_left;
    }
  };

  bool split_;
  std::int16_t next_age_ = 0;
  std::array<unsigned, 2> queued_{};
  std::array<unsigned, 2> held_{};
  Slot free_ = kNoRequest;  // linked by `next`; the last one used comes first
  std::array<Bank, kMaxLanes> banks_;
  std::array<Rows, kMaxLanes> rows_{};
  LaneSet open_rows_;
  LaneSet holding_;  // banks with a request, or that had one
  std::array<Request, kAgeLimit> requests_;
  std::int16_t oldest_age_ = 0;  // nothing older is held
  std::array<Slot, kAgeLimit> slot_of_age_{};
};

}  // namespace npu::model::hbm
