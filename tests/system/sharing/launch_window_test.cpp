// SPDX-License-Identifier: Apache-2.0
// The window of launches: it binds while kernels take longer than its target, moves by the rule of
// additive increase and multiplicative decrease, and stops nobody for ever.
#include "tests/system/sharing/time_slice_clients.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

constexpr Picoseconds kTarget = 50_us;
constexpr std::uint64_t kLong = 180'000;  // cycles, about 100 us
constexpr std::uint64_t kShort = 10'000;

driver::TimeSliceOptions options_of(unsigned start, unsigned floor, unsigned most) {
  driver::TimeSliceOptions options;
  options.window = 20'000_us;
  options.launches.start = start;
  options.launches.floor = floor;
  options.launches.most = most;
  options.launches.target = kTarget;
  return options;
}

// A client alone on the card.
struct OneClient {
  OneClient(platform::Platform& machine, const driver::TimeSliceOptions& options,
            std::uint64_t cycles)
      : host(machine),
        card(machine),
        scheduler(must(driver::TimeSliceScheduler::open(*card.device, options))),
        player(std::make_unique<TimeSlicePlayer>(machine, card, *scheduler, CoreQuota{}, cycles)) {}

  driver::TimeSliceClientStatistics seen() const { return player->slice->statistics(); }
  // By the card: entries that have been submitted and are not complete.
  std::uint64_t in_flight() const {
    const auto status = must(player->process.process->query(player->queue.id()));
    return status.write_index - status.completed;
  }

  platform::Platform& host;
  QueueCard card;
  std::unique_ptr<driver::TimeSliceScheduler> scheduler;
  std::unique_ptr<TimeSlicePlayer> player;
};

struct Bound {
  unsigned window;
  std::uint64_t most;  // seen in flight
};
class LaunchWindowOf : public testing::TestWithParam<Bound> {};

TEST_P(LaunchWindowOf, KernelsBeyondTheTargetBinds) {
  Machine().run([](platform::Platform& host) {
    const auto window = GetParam().window;
    OneClient client(host, options_of(window, window, window), kLong);
    client.player->play(client.card.in(10'000_us));
    std::uint64_t most = 0;
    for (int i = 0; i < 500; ++i) {
      client.card.pass(20_us);
      most = std::max(most, client.in_flight());
    }
    EXPECT_EQ(most, GetParam().most);
    EXPECT_EQ(client.seen().launch_window, window);
  });
}
INSTANTIATE_TEST_SUITE_P(Windows, LaunchWindowOf,
                         testing::Values(Bound{1, 1}, Bound{4, 4}, Bound{64, 64}));

TEST(LaunchWindow, IsHalvedWithEachLateLaunchDownToTheFloor) {
  Machine().run([](platform::Platform& host) {
    OneClient client(host, options_of(64, 3, 2048), kLong);
    client.player->play(client.card.in(40'000_us));
    std::vector<unsigned> sizes{64};
    for (int i = 0; i < 2000; ++i) {
      client.card.pass(10_us);
      const auto now = client.seen().launch_window;
      if (now != sizes.back()) sizes.push_back(now);
    }
    EXPECT_THAT(sizes, testing::ElementsAre(64, 32, 16, 8, 4, 3));
  });
}

// Its launches go through several turns: what a launch waits for others' turns does not make it
// late, and what it waits in its own does.
TEST(LaunchWindow, IsHalvedAlsoWhenTheTurnsAreShorterThanItsLaunchesTake) {
  Machine().run([](platform::Platform& host) {
    QueueCard card(host);
    auto options = options_of(64, 1, 2048);
    options.window = 1'000_us;
    const auto scheduler = must(driver::TimeSliceScheduler::open(*card.device, options));
    TimeSlicePlayer first(host, card, *scheduler, {50}, kLong),
        second(host, card, *scheduler, {50}, kLong);
    for (auto* const player : {&first, &second}) player->play(card.in(50'000_us));
    card.pass(50'000_us);
    EXPECT_EQ(first.slice->statistics().launch_window, 1U);
    EXPECT_EQ(second.slice->statistics().launch_window, 1U);
  });
}

// Also of launches that have ended before anybody looked.
TEST(LaunchWindow, GrowsByOneWithEachWindowOfLaunchesInTime) {
  Machine().run([](platform::Platform& host) {
    OneClient client(host, options_of(1, 1, 4), kShort);
    std::vector<unsigned> sizes{1};
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(client.player->slice->launch(client.player->queue, client.player->kernel,
                                               client.card.in(1_s)));
      client.card.pass(kTarget / 2);
      const auto now = client.seen().launch_window;
      if (now != sizes.back()) sizes.push_back(now);
    }
    EXPECT_THAT(sizes, testing::ElementsAre(1, 2, 3, 4));
  });
}

TEST(LaunchWindow, NobodyWhoLooksWaitsForRoomInIt) {
  Machine().run([](platform::Platform& host) {
    OneClient client(host, options_of(1, 1, 1), 100 * kLong);
    client.player->play(client.card.in(20'000_us));
    client.card.pass(200_us);
    for (int i = 0; i < 10; ++i) {
      const auto begin = host.clock().now();
      EXPECT_EQ(client.seen().launches_in_flight, 1U);
      EXPECT_LT((host.clock().now() - begin).count(), (5_us).count());
      client.card.pass(7_us);
    }
  });
}

// The launch in front waits for an event that comes behind one more launch.
TEST(LaunchWindow, OneThatWaitsForWhatComesBehindItDoesNotCount) {
  Machine().run([](platform::Platform& host) {
    OneClient client(host, options_of(1, 1, 1), kShort);
    auto& player = *client.player;
    auto& other = player.process.add(TimeSlicePlayer::in_order());
    const auto event = must(player.process.process->signals().create());
    const auto deadline = client.card.in(100'000_us);
    const std::array waits{entries::wait_event(event, 1), player.kernel};
    const std::array signals{player.kernel, entries::record_event(event, 1)};
    const auto first = must(player.slice->submit(player.queue, waits.data(), 2, true, deadline));
    const auto begin = host.clock().now();
    const auto second = must(player.slice->submit(other, signals.data(), 2, true, deadline));
    EXPECT_LE((host.clock().now() - begin).count(), (4 * kTarget).count());
    EXPECT_THAT(other.wait(second, driver::WaitPolicy::kInterrupt, deadline), IsOk());
    EXPECT_THAT(player.queue.wait(first, driver::WaitPolicy::kInterrupt, deadline), IsOk());
  });
}

TEST(LaunchWindow, WhoFindsNoRoomUntilTheDeadlineIsTold) {
  Machine().run([](platform::Platform& host) {
    OneClient client(host, options_of(1, 1, 1), 100 * kLong);
    auto& player = *client.player;
    must(player.slice->launch(player.queue, player.kernel, client.card.in(1_s)));
    const auto late = player.slice->launch(player.queue, player.kernel, client.card.in(300_us));
    EXPECT_THAT(late, FailsWith(ErrorCode::kTimeout, "1 launches in flight"));
  });
}

// Kernels of twice the target: with a window of one, nothing is in flight while the next launch
// comes; with one of 64, the card never waits.
TEST(ShareFairness, WindowsDifferAsTheRuleSaysWhenKernelsOutlastTheTarget) {
  Machine machine;
  const auto run = [&](const char* start, const char* floor) {
    return machine.workload("share_fairness",
                            {"shares=50,50", "cycles=180000", "target_us=50", "window_us=20000",
                             "sample_us=500", "windows=2", std::string("launches_start=") + start,
                             std::string("launches_floor=") + floor, "launches_most=64"});
  };
  const auto one = run("1", "1"), many = run("64", "64"), moved = run("64", "1");
  EXPECT_EQ(metric(one, "share_fairness.c0.launch_window"), 1);
  EXPECT_EQ(metric(many, "share_fairness.c0.launch_window"), 64);
  EXPECT_EQ(metric(moved, "share_fairness.c0.launch_window"), 1);
  EXPECT_LT(metric(one, "share_fairness.c0.launches"), metric(many, "share_fairness.c0.launches"));
  EXPECT_LT(metric(one, "share_fairness.launch_latency_p50_us"), 20);
  EXPECT_GT(metric(many, "share_fairness.launch_latency_p50_us"), 60 * 100);
}

}  // namespace
}  // namespace npu::test
