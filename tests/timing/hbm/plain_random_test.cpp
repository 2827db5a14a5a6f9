// SPDX-License-Identifier: Apache-2.0
// ChannelEngine against PlainController on random tables and queue sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "model/config/checks.hpp"
#include "model/config/key_table.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/timing/hbm/plain_comparison.hpp"

namespace npu::model {
namespace {

// Tables that no standard has, as long as model/config would take them.
class RandomConfig {
 public:
  explicit RandomConfig(unsigned seed) : random_(seed) {}

  HbmConfig make() {
    HbmTimings t = test::ramulator_timings();
    do {
      organise(t);
    } while (check_timings(t));
    draw_columns(t);
    draw_rows(t);
    draw_refresh(t);
    HbmConfig config = one_in(2) ? test::split_config(t) : test::shared_config(t);
    config.read_queue = between(1, one_in(2) ? 8 : 128);
    if (config.policy == HbmPolicy::kSharedQueue) return config;
    config.write_queue = between(1, one_in(2) ? 8 : 128);
    config.write_high_percent = between(1, 100);
    config.write_low_percent = between(0, config.write_high_percent - 1);
    return config;
  }

 private:
  unsigned between(unsigned low, unsigned high) {
    return low + static_cast<unsigned>(random_()) % (high - low + 1);
  }
  bool one_in(unsigned n) { return between(1, n) == 1; }

  void organise(HbmTimings& t) {
    t.pseudo_channels = between(1, 2);
    t.stacks = 1U << between(0, 2);
    t.bank_groups = 1U << between(0, 3);
    t.banks_per_group = 1U << between(0, 3);
  }
  void draw_columns(HbmTimings& t) {
    t.burst_clocks = between(1, 4);
    t.tccd_s = t.burst_clocks + between(0, 2), t.tccd_l = t.tccd_s + between(0, 4);
    t.tccd_r = between(0, 8);
    t.trcd_rd = between(1, 40), t.trcd_wr = between(1, 40);
    t.cl = between(1, 40), t.cwl = between(1, 20);
    t.twtr_s = between(1, 10), t.twtr_l = t.twtr_s + between(0, 10),
    t.trtw = t.burst_clocks + between(0, 30);
    t.trtp = between(1, 30), t.twr = between(1, 40);
  }
  void draw_rows(HbmTimings& t) {
    t.act_clocks = between(1, 4);
    t.trp = between(1, 40), t.tras = t.trcd_rd + between(0, 60);
    t.trc = t.tras + t.trp + between(0, 20);
    t.trrd_s = t.act_clocks + between(0, 6), t.trrd_l = t.trrd_s + between(0, 6);
    t.tfaw = t.trrd_s + between(0, 60);
  }
  void draw_refresh(HbmTimings& t) {
    t.trfc = between(1, 500), t.trefi = t.trfc + between(300, 4000);
    if (one_in(2)) return;
    // Every bank serves for half the time, and a row cycle more, lest a burst wait for ever.
    const unsigned banks = t.stacks * t.bank_groups * t.banks_per_group;
    t.trrefd = between(0, 40), t.trefi_pb = t.trrefd + between(60, 200) + 2 * t.trc / banks;
    t.trfc_pb = between(1, std::min(300U, t.trefi_pb * banks / 2 - t.trc));
  }

  std::mt19937 random_;
};

std::string text_of(const HbmConfig& config) {
  std::string text = config.policy == HbmPolicy::kSplitQueues ? "split " : "shared ";
  text += std::to_string(config.read_queue) + " " + std::to_string(config.write_queue) + " " +
          std::to_string(config.write_high_percent) + " " +
          std::to_string(config.write_low_percent);
  for (const auto& key : timings_table().keys) {
    if (key.name == "name") continue;
    text += " " + std::string(key.name) + " " + std::to_string(key.load(&config.timings).number);
  }
  return text;
}

class HbmPlainRandom : public testing::TestWithParam<unsigned> {};

TEST_P(HbmPlainRandom, TablesAreKeptAlike) {
  RandomConfig random(GetParam());
  for (unsigned i = 0; i < 40; ++i) {
    const HbmConfig config = random.make();
    SCOPED_TRACE(text_of(config));
    ASSERT_FALSE(check_timings(config.timings));
    const auto kind = static_cast<test::PlainTraffic::Kind>(i % 8);
    const auto traffic = test::PlainTraffic(config.timings, i).make(kind, 1'000);
    const auto plain = test::run_plain(config, traffic);
    test::expect_equal(config, traffic, plain);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, HbmPlainRandom, testing::Range(1U, 11U));

}  // namespace
}  // namespace npu::model
