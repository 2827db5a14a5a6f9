// SPDX-License-Identifier: Apache-2.0
// What a planned channel (fidelity `run`) keeps, against the same clock by clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "model/hbm/clock_calendar.hpp"
#include "model/hbm/waiting_room.hpp"

namespace npu::model::hbm {
namespace {

// Requests that wait, by the clock at which they leave.
class PlainRoom {
 public:
  explicit PlainRoom(unsigned places) : places_(places) {}

  Clock admit(Clock at) {
    now_ = std::max(now_, at);
    leave();
    for (; waiting_.size() >= places_; leave()) ++now_;
    return now_;
  }
  void enter(unsigned count, Clock at) {
    for (; count > 0; --count) waiting_.insert(std::max(at, now_ + 1));
  }

 private:
  void leave() { waiting_.erase(waiting_.begin(), waiting_.upper_bound(now_)); }

  unsigned places_;
  std::multiset<Clock> waiting_;
  Clock now_ = 0;
};

TEST(WaitingRoom, AdmitsWhenRequestsHaveLeft) {
  for (const unsigned places : {1U, 4U, 64U}) {
    for (const unsigned apart : {1U, 20U, 3000U}) {
      WaitingRoom room(places);
      PlainRoom plain(places);
      std::mt19937 random(places + apart);
      Clock at = 0;
      for (unsigned i = 0; i < 5000; ++i) {
        at += random() % apart;
        const Clock entered = room.admit(at);
        ASSERT_EQ(entered, plain.admit(at)) << i;
        at = entered;
        const unsigned count = 1 + random() % 4;
        const Clock leaves = entered + random() % 900;
        room.enter(count, leaves);
        plain.enter(count, leaves);
      }
    }
  }
}

TEST(ClockCalendar, FindsTheFirstClocksThatAreFreeInBoth) {
  std::mt19937 random(1);
  ClockCalendar a, b;
  std::set<Clock> in_a, in_b;
  const auto is_free = [&](Clock at) { return in_a.count(at) == 0 && in_b.count(at) == 0; };
  Clock now = 0;
  for (unsigned i = 0; i < 5000; ++i) {
    now += random() % 30;
    a.forget_before(now);
    if (random() % 2 != 0) b.forget_before(now);
    const Clock from = now + random() % 300, length = 1 + random() % 150;
    const bool into_a = random() % 2 != 0;
    (into_a ? a : b).take(from, from + length / 4);
    for (Clock at = from; at < from + length / 4; ++at) (into_a ? in_a : in_b).insert(at);
    Clock first = from;
    while (!is_free(first)) ++first;
    Clock clocks = 0;
    while (clocks < length && is_free(first + clocks)) ++clocks;
    const auto found = ClockCalendar::find(a, b, from, length);
    ASSERT_EQ(found.from, first) << i;
    ASSERT_EQ(found.clocks, clocks) << i;
  }
}

}  // namespace
}  // namespace npu::model::hbm
