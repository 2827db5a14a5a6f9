// SPDX-License-Identifier: Apache-2.0
// The card's computing token: what all clients together have of the cores' time.
#include "npu/driver/management.hpp"
#include "tests/system/sharing/time_slice_clients.hpp"

namespace npu::test {
namespace {

using driver::SharingPolicy;

// Two clients of half the time each, which launch for `time`.
class TokenScene {
 public:
  TokenScene(platform::Platform& machine, SharingPolicy policy) : card(machine) {
    driver::TimeSliceOptions options;
    options.policy = policy;
    scheduler = must(driver::TimeSliceScheduler::open(*card.device, options));
    for (int i = 0; i < 2; ++i) {
      clients.push_back(std::make_unique<TimeSlicePlayer>(machine, card, *scheduler));
    }
  }
  ~TokenScene() { clients.clear(); }
  // Percent of the time that cores worked, after a window.
  double quota(Picoseconds time) {
    for (auto& client : clients) client->play(card.in(time + 4_ms));
    card.pass(4_ms);
    const auto before = busy();
    card.pass(time);
    const auto had = busy() - before;
    for (auto& client : clients) client->task->join();
    return 100.0 * static_cast<double>(had.count()) / static_cast<double>(time.count());
  }
  Picoseconds busy() const { return clients[0]->busy() + clients[1]->busy(); }

  QueueCard card;
  std::unique_ptr<driver::TimeSliceScheduler> scheduler;
  std::vector<std::unique_ptr<TimeSlicePlayer>> clients;
};

struct CardTokenCase {
  unsigned token;
  SharingPolicy policy;
  double percent, off;
};
class CardToken : public testing::TestWithParam<CardTokenCase> {};

TEST_P(CardToken, BindsAllClientsTogether) {
  Machine().run([&](platform::Platform& host) {
    TokenScene scene(host, GetParam().policy);
    ASSERT_TRUE(scene.scheduler->set_card_token(GetParam().token));
    EXPECT_EQ(scene.scheduler->card_token(), GetParam().token);
    EXPECT_NEAR(scene.quota(40_ms), GetParam().percent, GetParam().off);
  });
}
INSTANTIATE_TEST_SUITE_P(Tokens, CardToken,
                         testing::Values(CardTokenCase{0, SharingPolicy::kFixedQuota, 0, 0},
                                         CardTokenCase{16'384, SharingPolicy::kFixedQuota, 25, 1.5},
                                         CardTokenCase{0, SharingPolicy::kElastic, 0, 0},
                                         CardTokenCase{16'384, SharingPolicy::kElastic, 25, 1.5},
                                         CardTokenCase{49'152, SharingPolicy::kElastic, 75, 3}));

TEST(CardTokens, AreOfTurnsAlone) {
  Machine().on<QueueCard>([&](QueueCard& card) {
    driver::TimeSliceOptions options;
    options.policy = SharingPolicy::kBestEffort;
    const auto scheduler = must(driver::TimeSliceScheduler::open(*card.device, options));
    EXPECT_THAT(scheduler->set_card_token(1), FailsWith(ErrorCode::kUnsupported));
    EXPECT_THAT(scheduler->set_card_token(kWholeToken + 1), FailsWith(ErrorCode::kInvalidArgument));
    EXPECT_TRUE(scheduler->set_card_token(kWholeToken));
  });
}

TEST(CardTokens, ManagementTellsAndSetsThem) {
  Machine().on<QueueCard>([&](QueueCard& card) {
    EXPECT_THAT(driver::manage(*card.device)->set_token(1), FailsWith(ErrorCode::kUnsupported))
        << "nobody quotas the cores' time";
    const auto scheduler = must(driver::TimeSliceScheduler::open(*card.device));
    const auto managed = driver::manage(*card.device, nullptr, scheduler.get());
    EXPECT_EQ(must(managed->token()), kWholeToken);
    ASSERT_TRUE(managed->set_token(7));
    EXPECT_EQ(scheduler->card_token(), 7U);
    EXPECT_EQ(must(managed->token()), 7U);
  });
}

}  // namespace
}  // namespace npu::test
