// SPDX-License-Identifier: Apache-2.0
// Far times: they come when they are due and not at the steps before, and in few steps.
#include <gmock/gmock.h>

#include <vector>

#include "model/core/agenda.hpp"
#include "model/core/stepped_event.hpp"

namespace npu::model {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kMicrosecond = 1'000'000, kSecond = 1'000'000 * kMicrosecond;

struct Times : sc_core::sc_module {
  explicit Times(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Times);
    SC_METHOD(came);
    sensitive << event.event();
    dont_initialize();
  }
  void came() {
    ++steps;
    if (event.arrived(now())) times.push_back(now());
  }
  static std::uint64_t now() { return sc_core::sc_time_stamp().value(); }

  SteppedEvent event;
  std::vector<std::uint64_t> times;
  unsigned steps = 0;
};

TEST(SteppedEvent, ComesOnceAndInFewSteps) {
  Times times("times");
  times.event.arm(60 * kSecond, 0);
  EXPECT_LT(times.event.next(), 60 * kSecond);
  sc_core::sc_start();
  EXPECT_THAT(times.times, ElementsAre(60 * kSecond));
  EXPECT_LT(times.steps, 30U);
}

TEST(SteppedEvent, ComesAtOnceWhenItIsNear) {
  Times times("times");
  times.event.arm(7, 0);
  EXPECT_EQ(times.event.next(), 7U);
  sc_core::sc_start();
  EXPECT_THAT(times.times, ElementsAre(7U));
  EXPECT_EQ(times.steps, 1U);
}

TEST(SteppedEvent, GivesWayToANearerTimeAndNotToALaterOne) {
  Times times("times");
  times.event.arm(50 * kMicrosecond, 0);
  times.event.arm(30 * kMicrosecond, 0);
  times.event.arm(40 * kMicrosecond, 0);
  sc_core::sc_start();
  EXPECT_THAT(times.times, ElementsAre(30 * kMicrosecond));
}

TEST(SteppedEvent, DoesNotComeWhenItIsDisarmed) {
  Times times("times");
  times.event.arm(kSecond, 0);
  times.event.disarm();
  EXPECT_EQ(times.event.next(), UINT64_MAX);
  sc_core::sc_start();
  EXPECT_EQ(times.steps, 0U);
}

// A handler that ran ahead of the kernel has woken a process: it goes on at the handler's time, not
// at a step on the kernel's way there.
struct FarHandler {
  void wake(std::uint64_t) { agenda.notify(event); }

  Agenda agenda{"agenda"};
  sc_core::sc_event event;
};

TEST(SteppedEvent, WakesNobodyOnTheWay) {
  FarHandler far;
  far.agenda.run_ahead(true);
  std::vector<std::uint64_t> woken;
  sc_core::sc_spawn([&] {
    far.agenda.wait_with_others(far.event);
    woken.push_back(Times::now());
  });
  far.agenda.at<&FarHandler::wake>(kSecond, far);
  sc_core::sc_start();
  EXPECT_THAT(woken, ElementsAre(kSecond));
}

}  // namespace
}  // namespace npu::model
