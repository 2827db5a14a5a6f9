// SPDX-License-Identifier: Apache-2.0
// An AICPU's store and a core's look at one time: what a core that passes over polls sees is what
// one sees that polls all the time, to the picosecond.
#include "tests/system/signals/signal_card.hpp"

namespace npu::test {
namespace {

constexpr SimTime kTurn = 40'000 * kNs;

// Trials one after another, each of which is the same from its begin on.
class Looks {
 public:
  Looks(bool run_ahead, bool by_register) : card_("910b.yaml"), by_register_(by_register) {
    card_.machine.system.simulation().agenda.run_ahead(run_ahead);
    seen(0, true);  // fetches the programs
  }

  // When the core sees what is stored `later` ps later than in other trials.
  SimTime seen(SimTime later, bool naive) {
    const SimTime begin = ++trials_ * kTurn;
    card_.chip.aicore_programs().naive_polling(naive);
    card_.put(kDataAt, std::uint32_t{0});
    SimTime seen = 0;
    card_.core(begin, 0, [&](AicorePort& port) {
      while (look(port) != 1) port.poll_again(kNoDeadline);
      seen = model::sim_now() - begin;
      return 0;
    });
    card_.aicpu(begin + later, 0, [this](AicpuPort& port) {
      port.store_register(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
      port.compute(20'000);
      if (by_register_) {
        port.store_register(0, abi::DataMainBase::kOffset, 1);
      } else {
        port.store(kDataAt, 4, 1);
      }
      return 0;
    });
    card_.run();
    EXPECT_EQ(card_.ended, 2 * trials_);
    return seen;
  }
  // The last `later` with which a polling core sees the store in the round in which it sees it
  // with 0.
  SimTime last_of_round() {
    const SimTime first = seen(0, true);
    SimTime same = 0, other = 1 << 19;
    while (other - same > 1) {
      const SimTime middle = (same + other) / 2;
      (seen(middle, true) == first ? same : other) = middle;
    }
    return same;
  }
  std::uint64_t passed_over() const {
    return card_.chip.aicore_programs().statistics(0).polls_passed_over;
  }

 private:
  std::uint32_t look(AicorePort& port) const {
    if (by_register_) return static_cast<std::uint32_t>(port.data_main_base());
    port.clean_invalidate(kDataAt);
    return static_cast<std::uint32_t>(port.load(kDataAt, 4));
  }

  SignalCard card_;
  const bool by_register_;
  unsigned trials_ = 0;
};

class StoreAndLook : public testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(StoreAndLook, AtOneTimeHaveTheOrderThatTheyHaveWithoutPassingOverPolls) {
  const auto [run_ahead, by_register] = GetParam();
  Looks looks(run_ahead, by_register);
  const SimTime border = looks.last_of_round();
  ASSERT_EQ(looks.passed_over(), 0U);
  ASSERT_NE(looks.seen(border, true), looks.seen(border + 1, true));
  ASSERT_GE(border, 4U);
  for (SimTime later = border - 4; later <= border + 4; ++later) {
    EXPECT_EQ(looks.seen(later, false), looks.seen(later, true)) << later - border;
  }
  EXPECT_GT(looks.passed_over(), 9U * 20);
}

INSTANTIATE_TEST_SUITE_P(Agenda, StoreAndLook, testing::Combine(testing::Bool(), testing::Bool()),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param) ? "running_ahead"
                                                                          : "with_the_kernel") +
                                  (std::get<1>(instance.param) ? "_register" : "_memory");
                         });

}  // namespace
}  // namespace npu::test
