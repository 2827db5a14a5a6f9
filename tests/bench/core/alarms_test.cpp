// SPDX-License-Identifier: Apache-2.0
// Waits with a limit: which of event and limit ends them and when, and that a limit whose wait has
// ended is nowhere any more.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "model/core/alarms.hpp"

namespace npu::model {
namespace {

using testing::ElementsAre;

std::uint64_t now() {
  return sc_core::sc_time_stamp().value();
}

void sleep(std::uint64_t picoseconds) {
  sc_core::wait(sc_core::sc_time::from_value(picoseconds));
}

struct Waiters {
  // A process that waits `limit` for the event, again and again.
  void spawn(const std::string& name, const std::vector<std::uint64_t>& limits) {
    sc_core::sc_spawn([this, name, limits] {
      for (const auto limit : limits) {
        alarms.wait(event, limit);
        lines.push_back(name + "@" + std::to_string(now()));
      }
    });
  }

  // A process that looks every 100 ps, for ever.
  void spawn_looker() {
    sc_core::sc_spawn([this] {
      for (;; ++looks) alarms.wait(event, now() + 100, LimitOf::kLook);
    });
  }

  bool alone = true;
  Alarms alarms{"alarms", [this] { return alone; }};
  unsigned looks = 0;
  sc_core::sc_event event;
  std::vector<std::string> lines;
};

TEST(Alarms, EndWaitsAtTheirLimitsInOrder) {
  Waiters waiters;
  waiters.spawn("late", {300, 400});
  waiters.spawn("a", {100, 200});
  waiters.spawn("b", {100, 250});
  waiters.spawn("at once", {0});
  sc_core::sc_start();
  EXPECT_THAT(waiters.lines,
              ElementsAre("at once@0", "a@100", "b@100", "a@200", "b@250", "late@300", "late@400"));
  EXPECT_EQ(waiters.alarms.first(), UINT64_MAX);
}

TEST(Alarms, AreForgottenWhenTheEventComesFirst) {
  Waiters waiters;
  waiters.spawn("a", {1000});
  waiters.spawn("b", {2000});
  sc_core::sc_spawn([&] {
    sleep(10);
    EXPECT_EQ(waiters.alarms.first(), 1000U);
    waiters.event.notify();
    sleep(10);
    EXPECT_EQ(waiters.alarms.first(), UINT64_MAX);
    waiters.alarms.forget_ended();
  });
  sc_core::sc_start();
  EXPECT_THAT(waiters.lines, ElementsAre("a@10", "b@10"));
  EXPECT_EQ(now(), 20U) << "the kernel has not gone on to the limits";
}

// What is armed for a wait that has ended rings for nobody, and the next limit holds.
TEST(Alarms, HoldBehindOneThatHasEnded) {
  Waiters waiters;
  sc_core::sc_event other;
  sc_core::sc_spawn([&] {
    waiters.alarms.wait(other, 100);
    EXPECT_EQ(now(), 50U);
  });
  waiters.spawn("far", {5000});
  sc_core::sc_spawn([&] {
    sleep(50);
    other.notify();
  });
  sc_core::sc_start();
  EXPECT_THAT(waiters.lines, ElementsAre("far@5000"));
}

TEST(Alarms, AreGoneWithAProcessThatIsKilled) {
  Waiters waiters;
  auto killed = sc_core::sc_spawn([&] { waiters.alarms.wait(waiters.event, 100); });
  sc_core::sc_spawn([&] {
    sleep(10);
    killed.kill();
    EXPECT_EQ(waiters.alarms.first(), UINT64_MAX);
  });
  sc_core::sc_start();
}

// A simulation in which there is nothing else ends.
TEST(Alarms, DoNotRingForEverForWhoOnlyLooks) {
  Waiters waiters;
  waiters.spawn_looker();
  sc_core::sc_start();
  EXPECT_EQ(waiters.looks, 1000U);
  EXPECT_EQ(now(), 1001U * 100) << "the kernel came to the one that is not";
}

// What did not ring is late then, and holds nobody up.
TEST(Alarms, RingForLooksAgainWhenThereIsSomethingNew) {
  Waiters waiters;
  waiters.spawn_looker();
  sc_core::sc_start();
  const unsigned before = waiters.looks;
  sc_core::sc_spawn([&] {
    sleep(10);
    const auto begin = now();
    waiters.alarms.wait(waiters.event, begin + 1000);
    EXPECT_EQ(now(), begin + 1000);
    EXPECT_EQ(waiters.looks, before + 10);
  });
  sc_core::sc_start();
  EXPECT_GT(waiters.looks, before + 1000);
}

TEST(Alarms, RingForLooksWhileOthersWaitOrHaveSomethingToDo) {
  Waiters waiters;
  waiters.spawn_looker();
  waiters.alone = false;
  sc_core::sc_spawn([&] {
    sleep(1'000'000);
    EXPECT_EQ(waiters.looks, 9999U);
    waiters.alone = true;
    waiters.alarms.wait(waiters.event, 3'000'050);
    EXPECT_EQ(now(), 3'000'050U);
    EXPECT_EQ(waiters.looks, 30'000U);
  });
  sc_core::sc_start();
  EXPECT_EQ(waiters.looks, 31'000U) << "who has gone on may have changed something";
}

TEST(Alarms, RingForLooksAsLongAsThereIsProgress) {
  Waiters waiters;
  sc_core::sc_spawn([&] {
    for (;; ++waiters.looks) {
      waiters.alarms.wait(waiters.event, now() + 100, LimitOf::kLook);
      if (waiters.looks < 50'000 && waiters.looks % 900 == 0) waiters.alarms.note_progress();
    }
  });
  sc_core::sc_start();
  EXPECT_EQ(waiters.looks, 49'500U + 1001);
}

// Each of them may find what has happened.
TEST(Alarms, RingForALookThatIsFarOff) {
  Waiters waiters;
  waiters.spawn_looker();
  std::vector<std::uint64_t> looked;
  sc_core::sc_spawn([&] {
    for (;;) {
      waiters.alarms.wait(waiters.event, 2 * now() + 1'000'000, LimitOf::kLook);
      looked.push_back(now());
    }
  });
  sc_core::sc_spawn([&] {
    sleep(500);
    waiters.alarms.note_progress();
  });
  sc_core::sc_start();
  EXPECT_THAT(looked, ElementsAre(1'000'000U));
}

// A random tester: each wait ends at the event or its limit, whichever is first.
TEST(Alarms, EndThousandsOfWaitsRight) {
  Waiters waiters;
  std::uint64_t state = 1;
  const auto random = [&state](std::uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 33) % below;
  };
  std::vector<std::unique_ptr<sc_core::sc_event>> events;
  unsigned ended = 0;
  for (unsigned i = 0; i < 20; ++i) {
    events.push_back(std::make_unique<sc_core::sc_event>());
    auto& event = *events.back();
    sc_core::sc_spawn([&waiters, &random, &ended, &event] {
      for (unsigned wait = 0; wait < 200; ++wait) {
        const auto limit = now() + 1 + random(1000);
        const auto comes = now() + 1 + random(1000);
        event.notify(sc_core::sc_time::from_value(comes - now()));
        waiters.alarms.wait(event, limit);
        EXPECT_EQ(now(), std::min(limit, comes));
        event.cancel();
        ++ended;
      }
    });
  }
  sc_core::sc_start();
  EXPECT_EQ(ended, 20U * 200);
}

}  // namespace
}  // namespace npu::model
