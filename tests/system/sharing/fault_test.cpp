// SPDX-License-Identifier: Apache-2.0
// The holder of the turn is stopped, killed, resumed; messages are lost: the others go on, and what
// comes late of a turn that is over does nothing.
#include <random>
#include <utility>

#include "tests/system/sharing/time_slice_clients.hpp"

namespace npu::test {
namespace {

using driver::TimeSliceMessage;
using driver::TimeSliceMessageKind;

constexpr Picoseconds kTimeout = 200_us;

// Three clients of a third each, and what they say to each other.
class Scene {
 public:
  explicit Scene(platform::Platform& machine) : host(machine), card(machine) {
    driver::TimeSliceOptions options;
    options.window = 1'500_us;
    options.timeout = kTimeout;
    scheduler = must(driver::TimeSliceScheduler::open(*card.device, options));
    for (int i = 0; i < 3; ++i) {
      clients.push_back(
          std::make_unique<TimeSlicePlayer>(machine, card, *scheduler, CoreQuota{33, kWholeToken}));
    }
    listen({});
  }
  ~Scene() {
    listen({});  // what the test's own listener knew is gone
    for (auto& client : clients) client->leave();
    clients.clear();
  }

  // Hears every message; those for which `lost` says so are lost.
  void listen(std::function<bool(const TimeSliceMessage&)> lost) {
    scheduler->lose([this, lost = std::move(lost)](const TimeSliceMessage& message) {
      heard.push_back({message, host.clock().now()});
      return lost && lost(message);
    });
  }
  void play(Picoseconds time) {
    for (auto& client : clients) client->play(card.in(time));
  }
  void pass(Picoseconds time) { card.pass(time); }
  void until_running(unsigned client) {
    for (int i = 0; i < 1000 && !clients[client]->running(); ++i) pass(5_us);
    ASSERT_TRUE(clients[client]->running());
  }
  std::uint64_t reclaimed(unsigned client) const {
    return clients[client]->slice->statistics().reclaimed;
  }

  struct Heard {
    TimeSliceMessage message;
    Instant when;
  };
  platform::Platform& host;
  QueueCard card;
  std::unique_ptr<driver::TimeSliceScheduler> scheduler;
  std::vector<std::unique_ptr<TimeSlicePlayer>> clients;
  std::vector<Heard> heard;
};

TEST(TimeSliceFaults, AStoppedHolderLosesTheTurnWithinThreeTimeouts) {
  Machine().on<Scene>([](Scene& scene) {
    scene.play(40'000_us);
    scene.until_running(0);
    scene.clients[0]->stop(true);
    scene.pass(4'000_us);
    EXPECT_EQ(scene.reclaimed(0), 1U);
    EXPECT_EQ(scene.reclaimed(1) + scene.reclaimed(2), 0U);
    // From the DROP that is not answered to the next GRANT.
    Instant asked, next;
    for (const auto& [message, when] : scene.heard) {
      const bool first = message.sent == when;
      if (message.kind == TimeSliceMessageKind::kDrop && message.client == 0 && first) {
        asked = when;
        next = Instant::never();
      }
      if (message.kind == TimeSliceMessageKind::kGrant && message.client != 0) {
        next = std::min(next, when);
      }
    }
    EXPECT_LE(next - asked, 3 * kTimeout + 60_us);
    const auto stale_busy = scene.clients[0]->busy();
    const auto before = scene.clients[1]->busy() + scene.clients[2]->busy();
    scene.pass(30'000_us);  // 20 windows: what begins and ends within one counts little
    EXPECT_EQ(scene.clients[0]->busy(), stale_busy) << "what it has left runs without a turn";
    const auto more = scene.clients[1]->busy() + scene.clients[2]->busy() - before;
    EXPECT_NEAR(more.us(), 0.66 * 30'000, 1'000) << "the others' two thirds";
  });
}

TEST(TimeSliceFaults, WhoIsResumedTakesPartAgainAndItsOldGrantIsStale) {
  Machine().on<Scene>([](Scene& scene) {
    scene.play(30'000_us);
    scene.until_running(0);
    scene.clients[0]->stop(true);
    scene.pass(6'000_us);
    const auto before = scene.clients[0]->busy();
    const auto stale = scene.scheduler->statistics().stale;
    scene.clients[0]->stop(false);
    scene.pass(12'000_us);
    EXPECT_GT(scene.scheduler->statistics().stale, stale);
    const auto had = scene.clients[0]->busy() - before;
    EXPECT_GT(had, 3'200_us);
    EXPECT_LT(had, 4'800_us) << "a third";
    EXPECT_EQ(scene.reclaimed(0), 1U);
    EXPECT_EQ(scene.reclaimed(1) + scene.reclaimed(2), 0U);
  });
}

TEST(TimeSliceFaults, WhoIsStoppedBeforeItsGrantHasNothingOfIt) {
  Machine().on<Scene>([](Scene& scene) {
    scene.clients[1]->play(scene.card.in(20'000_us));
    scene.until_running(1);
    scene.clients[0]->play(scene.card.in(20'000_us));  // asks
    scene.pass(20_us);
    scene.clients[0]->stop(true);
    scene.pass(6'000_us);
    EXPECT_EQ(scene.reclaimed(0), 1U);
    EXPECT_EQ(scene.clients[0]->busy(), Picoseconds{});
    const auto before = scene.clients[1]->busy();
    scene.pass(3'000_us);
    EXPECT_GT(scene.clients[1]->busy() - before, 800_us);
    scene.clients[0]->stop(false);
    scene.pass(4'000_us);
    EXPECT_GT(scene.clients[0]->busy(), 500_us);
  });
}

TEST(TimeSliceFaults, OfAKilledHolderOthersHaveTheTurnAtOnce) {
  Machine().on<Scene>([](Scene& scene) {
    scene.play(20'000_us);
    scene.until_running(0);  // others have something left of the window
    // As a process' end: its queues go, whatever is in them, and then its place among the clients.
    auto& dead = *scene.clients[0];
    dead.quit = true;
    dead.task->join();
    dead.task.reset();
    ASSERT_THAT(dead.process.process->destroy(dead.queue, scene.host.clock().now()), IsOk());
    dead.slice.reset();
    const auto left = scene.host.clock().now();
    scene.pass(50_us);
    EXPECT_TRUE(scene.clients[1]->running() || scene.clients[2]->running());
    scene.pass(3'000_us);
    EXPECT_EQ(scene.scheduler->statistics().clients, 2U);
    EXPECT_EQ(scene.scheduler->statistics().reclaimed, 0U);
    for (const auto& [message, when] : scene.heard) {
      EXPECT_TRUE(when <= left || message.client != 0);
    }
  });
}

class TimeSliceMessagesLost : public testing::TestWithParam<TimeSliceMessageKind> {};

TEST_P(TimeSliceMessagesLost, AMessageThatIsLostIsSentAgainWithItsOriginalTime) {
  Machine().on<Scene>([](Scene& scene) {
    bool lost = false;
    TimeSliceMessage first;
    scene.listen([&](const TimeSliceMessage& message) {
      const bool it = !lost && message.kind == GetParam() && message.client == 1;
      if (it) first = message;
      lost = lost || it;
      return it;
    });
    // Who begins in the middle of a window gets less than its quota of that, and of the next ones.
    scene.host.clock().sleep_until(scene.scheduler->statistics().window_end);
    const Instant begin = scene.host.clock().now();
    scene.play(20'000_us);
    scene.pass(15'000_us);
    const auto seen = scene.scheduler->statistics();
    EXPECT_EQ(seen.lost, 1U);
    EXPECT_GE(seen.resent, 1U);
    EXPECT_EQ(seen.reclaimed, 0U);
    for (const auto& client : scene.clients) {
      EXPECT_NEAR(static_cast<double>(client->busy().count()), 5e9, 0.8e9) << "but a turn";
    }
    // The same one, or, of answers, what they answer.
    const bool answer =
        GetParam() == TimeSliceMessageKind::kTaken || GetParam() == TimeSliceMessageKind::kRelease;
    const auto again = GetParam() == TimeSliceMessageKind::kTaken     ? TimeSliceMessageKind::kGrant
                       : GetParam() == TimeSliceMessageKind::kRelease ? TimeSliceMessageKind::kDrop
                                                                      : GetParam();
    unsigned copies = 0;
    Instant original = first.sent;
    for (const auto& [message, when] : scene.heard) {
      if (message.kind != again || message.client != 1 || message.slice != first.slice) continue;
      if (answer && copies == 0) original = message.sent;
      if (message.sent == original) ++copies;
    }
    EXPECT_GE(copies, 2U);
    EXPECT_GE(begin + 20'000_us, scene.host.clock().now());
  });
}
INSTANTIATE_TEST_SUITE_P(Kinds, TimeSliceMessagesLost,
                         testing::Values(TimeSliceMessageKind::kRequest,
                                         TimeSliceMessageKind::kGrant, TimeSliceMessageKind::kTaken,
                                         TimeSliceMessageKind::kDrop,
                                         TimeSliceMessageKind::kRelease));

// Nobody is stuck, and never two at a time.
TEST(TimeSliceFaults, AnyMessagesMayBeLostAndAnybodyStopped) {
  Machine().run([](platform::Platform& host) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      Scene scene(host);
      std::mt19937 random(seed);
      scene.listen([&](const TimeSliceMessage&) { return random() % 8 == 0; });
      const Instant begin = host.clock().now();
      scene.play(60'000_us);
      for (int i = 0; i < 12; ++i) {
        auto& client = *scene.clients[random() % 3];
        client.stop(!client.paused);
        scene.pass(static_cast<std::int64_t>(random() % 2'500) * 1_us);
      }
      for (auto& client : scene.clients) client->stop(false);
      scene.listen({});
      scene.pass(3'000_us);
      std::vector<Picoseconds> before;
      for (auto& client : scene.clients) before.push_back(client->busy());
      scene.pass(9'000_us);
      Picoseconds sum;
      for (unsigned i = 0; i < 3; ++i) {
        const auto had = scene.clients[i]->busy() - before[i];
        EXPECT_GT(had, 2'000_us) << "seed " << seed << ", client " << i;
        sum += scene.clients[i]->busy();
      }
      EXPECT_LE(sum, host.clock().now() - begin);
    }
  });
}

// Whatever a client submits while turns go to and fro is done, also what comes at the instant in
// which it gives one up: by the turn's own way, and by others, which the agent looks for.
TEST(TimeSliceFaults, WhatIsSubmittedAtAnyInstantIsDone) {
  Machine().on<Scene>([](Scene& scene) {
    scene.clients[0]->play(scene.card.in(60'000_us));
    auto& client = *scene.clients[1];
    const auto copy = entries::copy_to_host(client.process.memory, client.process.host->bus(), 64);
    for (unsigned i = 0; i < 1000; ++i) {
      const Instant deadline = scene.card.in(20'000_us);
      const auto ticket =
          must(i % 4 == 0 ? client.queue.submit(copy, deadline)
                          : client.slice->submit(client.queue, &copy, 1, false, deadline));
      ASSERT_THAT(client.queue.wait(ticket, driver::WaitPolicy::kPolling, deadline), IsOk()) << i;
      scene.host.clock().sleep_until(scene.host.clock().now() +
                                     static_cast<std::int64_t>(i * 37 % 400) * 10_ns);
    }
  });
}

// A queue's entries are no others' because there are as many.
TEST(TimeSliceFaults, WhatIsSubmittedByOtherWaysToOneNewQueueAfterAnotherIsDone) {
  Machine().on<Scene>([](Scene& scene) {
    scene.clients[0]->play(scene.card.in(60'000_us));
    auto& client = *scene.clients[1];
    auto& process = client.process;
    const auto copy = entries::copy_to_host(process.memory, process.host->bus(), 64);
    for (unsigned i = 0; i < 8; ++i) {
      const Instant deadline = scene.card.in(20'000_us);
      const auto queue = must(process.process->create_queue());
      const auto ticket = must(queue->submit(copy, deadline));
      ASSERT_THAT(queue->wait(ticket, driver::WaitPolicy::kPolling, deadline), IsOk()) << i;
      for (int look = 0; look < 1000 && client.running(); ++look) scene.pass(5_us);
      scene.pass(20_us);  // it has looked
    }
  });
}

}  // namespace
}  // namespace npu::test
