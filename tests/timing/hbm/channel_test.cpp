// SPDX-License-Identifier: Apache-2.0
// A channel that is told of many bursts at once and advanced in long steps serves them as its
// controller does that is given one after the other at their clocks.
#include "model/hbm/channel.hpp"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/timing/hbm/watched.hpp"

namespace npu::model {
namespace {

using hbm::BurstRun;
using hbm::Clock;

struct Traffic {
  unsigned step;     // clocks advanced at once, at most
  unsigned runs;     // that arrive in a step, at most
  unsigned length;   // bursts of a run, at most
  unsigned indices;  // below
  unsigned writes;   // of 100
};

// The port as channel.hpp describes it, with a controller of its own that takes no short cuts. Each
// burst has a tag of its own there, so that it is a request by itself.
class OneByOne {
 public:
  OneByOne(const HbmConfig& config, const hbm::AddressMap& map) : engine(config, done), map_(map) {
    engine.take_short_cuts(false);
  }
  void push(const BurstRun& run) { waiting_.push_back(run); }
  void advance(Clock until) {
    while (first_ < waiting_.size()) {
      BurstRun& run = waiting_[first_];
      at_ = std::max(run.arrived, at_);
      if (at_ > until) break;
      engine.advance(at_);
      if (!engine.room(run.write)) {
        at_ = engine.next_decision();
        continue;
      }
      const auto where = map_.locate(run.index++);
      const auto lane = engine.lane(where.pseudo_channel, where.stack, where.group, where.bank);
      engine.accept({where.row, static_cast<unsigned>(runs_.size()), lane, run.write}, at_++);
      runs_.push_back(run.tag);
      if (--run.count == 0) ++first_;
    }
    engine.advance(until);
  }
  std::vector<hbm::BurstDone> of_runs() const {
    std::vector<hbm::BurstDone> bursts = done;
    for (auto& burst : bursts) burst.tag = runs_[burst.tag];
    return bursts;
  }

  std::vector<hbm::BurstDone> done;
  hbm::ChannelEngine engine;

 private:
  const hbm::AddressMap& map_;
  std::vector<BurstRun> waiting_;
  std::vector<std::uint32_t> runs_;  // by the tags of their bursts
  std::size_t first_ = 0;
  Clock at_ = 0;
};

auto counts(const hbm::ChannelEngine& engine) {
  const auto& c = engine.counts();
  return std::make_tuple(c.reads, c.writes, c.row_hits, c.activates, c.precharges, c.refreshes);
}

auto bus(hbm::ChannelEngine& engine, unsigned pseudo_channel, Clock now) {
  const auto b = engine.bus(pseudo_channel, now);
  return std::make_tuple(b.data, b.idle, b.refresh, b.turnaround, b.row, b.column);
}

void expect_same(const HbmConfig& config, const Traffic& traffic, unsigned seed) {
  const hbm::AddressMap map(config);
  std::vector<hbm::BurstDone> done;
  hbm::Channel channel(map);
  channel.use(hbm::ChannelEngine(config, done));
  OneByOne plain(config, map);
  std::mt19937 random(seed);
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  Clock now = 0;
  for (unsigned tag = 0; tag < 20'000;) {
    const Clock until = now + 1 + below(traffic.step) + (below(50) == 0 ? 30'000 : 0);
    Clock at = now;
    for (unsigned run = below(traffic.runs); run > 0; --run) {
      at = std::min<Clock>(until, at + (below(3) == 0 ? below(8) : 0));
      const BurstRun burst{below(traffic.indices), 1 + below(traffic.length), tag++, at + 20,
                           below(100) < traffic.writes};
      channel.push(burst);
      plain.push(burst);
    }
    now = until;
    channel.advance(now + 20);
    plain.advance(now + 20);
    for (unsigned p = 0; p < config.timings.pseudo_channels; ++p) {
      ASSERT_EQ(bus(channel.engine(), p, now + 20), bus(plain.engine, p, now + 20)) << tag;
    }
  }
  channel.advance(now + 200'000);
  plain.advance(now + 200'000);
  EXPECT_EQ(test::last_served(done), test::last_served(plain.of_runs()));
  EXPECT_EQ(counts(channel.engine()), counts(plain.engine));
}

constexpr Traffic kReads = {90, 40, 1, 1 << 22, 0};
constexpr Traffic kFewReads = {400, 6, 1, 1 << 22, 0};
constexpr Traffic kRuns = {90, 12, 8, 1 << 12, 0};
constexpr Traffic kSomeWrites = {200, 30, 4, 1 << 14, 3};
constexpr Traffic kMixed = {200, 90, 1, 1 << 20, 40};

void expect_same(const HbmConfig& config) {
  unsigned seed = 0;
  for (const Traffic& traffic : {kReads, kFewReads, kRuns, kSomeWrites, kMixed}) {
    SCOPED_TRACE(seed);
    expect_same(config, traffic, ++seed);
  }
}

TEST(HbmChannel, ServesRunsAsSingleBurstsOnTheCard) {
  expect_same(test::card_config());
}

TEST(HbmChannel, ServesRunsAsSingleBurstsWithShortQueues) {
  HbmConfig config = test::card_config();
  config.read_queue = config.write_queue = 8;
  expect_same(config);
}

TEST(HbmChannel, ServesRunsAsSingleBurstsWithAllBankRefresh) {
  expect_same(test::split_config(test::ramulator_timings()));
}

TEST(HbmChannel, ServesRunsAsSingleBurstsFromASharedQueue) {
  expect_same(test::shared_config(test::dramsys_timings()));
}

}  // namespace
}  // namespace npu::model
