// SPDX-License-Identifier: Apache-2.0
// Poll loops that are passed over end when and how those that are not end, to the picosecond.
#include <algorithm>
#include <list>

#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

using model::Writer;

constexpr std::uint64_t kNoDeadline = ~std::uint64_t{0};

// A clock at which rounds are no whole nanoseconds.
model::AicpuProgramConfig odd_config() {
  auto config = aicpu_config();
  config.ipc_percent = 190;
  return config;
}

struct Change {
  SimTime when;
  // 0, 1: COND of that core; 2: a word written by an AI Core; 3: another word; 4: a word beside
  // the one of 2, by another AICPU
  unsigned what;
};

// Polls two registers and two words until all that is to change has changed; what it saw, round by
// round in which something was new, is in `seen`.
Program poller(unsigned changes, std::vector<std::uint64_t>& seen) {
  return [changes, &seen](AicpuPort& port) {
    std::uint64_t last = 0;
    for (;;) {
      std::uint64_t value = port.load_register(0, 0x4C8);
      value += port.load(kDataAt, 4) << 8;
      port.compute(5);
      value += std::uint64_t{port.load_register(1, 0x4C8)} << 16;
      value += port.load(kDataAt + 64, 4) << 24;
      if (value != last) seen.push_back(value);
      last = value;
      unsigned done = 0;
      for (unsigned i = 0; i < 4; ++i) done += (value >> 8 * i & 0xFF) != 0 ? 1 : 0;
      if (done == changes) return 0;
      port.poll_again(kNoDeadline);
    }
  };
}

struct Outcome {
  SimTime ended = 0;
  std::vector<std::uint64_t> seen;
};

class Polls {
 public:
  Polls(bool naive, const char* name, const model::AicpuProgramConfig& config)
      : bench_(config, 2, 1, name) {
    bench_.programs.poll_naively(naive);
  }
  void plan(const std::vector<Change>& changes) {
    outcomes.emplace_back();
    unsigned distinct = 0;
    for (unsigned what = 0; what < 4; ++what) {
      distinct += std::any_of(changes.begin(), changes.end(),
                              [&](const Change& c) { return c.what == what; })
                      ? 1
                      : 0;
    }
    for (unsigned what = 0; what < 4; ++what) set(what, 0);
    const SimTime begin = model::sim_now();
    bench_.start(0, poller(distinct, outcomes.back().seen));
    for (const auto& change : changes) {
      bench_.at(begin + change.when, [this, change] { set(change.what, ++value_ % 200 + 1); });
    }
    begin_ = begin;
    bench_.on_done = [this](const AicpuBench::Done& done) {
      outcomes.back().ended = done.when - begin_;
    };
  }
  model::AicpuStatistics statistics() const { return bench_.programs.statistics(); }

  std::list<Outcome> outcomes;

 private:
  void set(unsigned what, std::uint32_t value) {
    if (what < 2) {
      bench_.windows.change(what, 0x4C8, value);
    } else if (what == 4) {
      bench_.poke(Writer::kAicpu, kDataAt + 4, value);
    } else {
      bench_.poke(Writer::kAiCore, kDataAt + 64 * (what - 2), value);
    }
  }

  AicpuBench bench_;
  SimTime begin_ = 0;
  std::uint32_t value_ = 0;
};

// The same changes for a core that runs every round and for one that may pass over them.
void compare(const std::vector<std::vector<Change>>& plans,
             const model::AicpuProgramConfig& config = odd_config()) {
  Polls naive(true, "naive", config), skipping(false, "skipping", config);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const auto& changes : plans) {
    naive.plan(changes);
    skipping.plan(changes);
    sc_core::sc_start(100, sc_core::SC_US);
    ASSERT_NE(naive.outcomes.back().ended, 0U);
    ASSERT_EQ(naive.outcomes.back().ended, skipping.outcomes.back().ended)
        << changes[0].when << " ps, " << changes[0].what;
    ASSERT_EQ(naive.outcomes.back().seen, skipping.outcomes.back().seen);
  }
  EXPECT_EQ(naive.statistics().rounds, skipping.statistics().rounds);
  EXPECT_GT(skipping.statistics().rounds_skipped, skipping.statistics().rounds / 2);
  EXPECT_EQ(naive.statistics().rounds_skipped, 0U);
}

constexpr SimTime kSettled = 20'000 * kNs;  // after the launch

TEST(Poll, AChangeAtAnyTimeOfARoundIsSeenAsByANaiveLoop) {
  std::vector<std::vector<Change>> plans;
  for (unsigned what = 0; what < 4; ++what) {
    for (unsigned i = 0; i < 250; ++i) plans.push_back({{kSettled + i * 877, what}});
  }
  compare(plans);
}

TEST(Poll, TwoChangesCloseTogetherAreSeenAsByANaiveLoop) {
  std::vector<std::vector<Change>> plans;
  for (const SimTime apart : {0U, 1U, 500U, 3'000U, 50'000U, 104'000U, 300'000U}) {
    for (unsigned i = 0; i < 48; ++i) {
      const SimTime when = kSettled + i * 4'391;
      plans.push_back({{when, i % 4}, {when + apart, (i / 4 + 1) % 4}});
    }
  }
  compare(plans);
}

TEST(Poll, ChangesOfOneThingInTurnAreSeenAsByANaiveLoop) {
  std::vector<std::vector<Change>> plans;
  for (unsigned i = 0; i < 60; ++i) {
    const SimTime when = kSettled + i * 3'517;
    plans.push_back({{when, 0}, {when + 40'000, 0}, {when + 500'000, 0}, {when + 700'000, 2}});
  }
  compare(plans);
}

// An AI Core's write is on its way for longer than a round; before it comes another AICPU drops the
// line, which is fetched again.
TEST(Poll, ALineThatIsDroppedBeforeAWriteHasComeIsSeenAsByANaiveLoop) {
  auto config = odd_config();
  config.snoop = 700_ns;
  std::vector<std::vector<Change>> plans;
  for (const SimTime apart : {0U, 1U, 100'000U, 420'000U, 699'999U, 700'000U, 700'001U, 900'000U}) {
    for (unsigned i = 0; i < 40; ++i) {
      const SimTime when = kSettled + i * 8'117;
      plans.push_back({{when, 2}, {when + apart, 4}});
      plans.push_back({{when + apart, 2}, {when, 4}, {when + apart, 3}});
    }
  }
  compare(plans, config);
}

// A round is 100 ns and the branch's instruction; the register is sampled at 50 ns.
TEST(Poll, ALoopEndsWithTheFirstSampleAfterTheChangeWhenRunningAhead) {
  AicpuBench bench;
  bench.sim.agenda.run_ahead(true);
  std::uint64_t began = 0, ended = 0;
  bench.at(123'456'789, [&] { bench.windows.change(0, 0x4C8, 1); });
  bench.start(0, [&](AicpuPort& port) {
    began = port.system_counter();
    while (port.load_register(0, 0x4C8) == 0) port.poll_again(kNoDeadline);
    ended = port.system_counter() - 1;
    return 0;
  });
  sc_core::sc_start();
  const std::uint64_t rounds = (123'456'789 - (began + 50) * kNs + 101 * kNs - 1) / (101 * kNs);
  EXPECT_EQ(ended, began + rounds * 101 + 100);
  EXPECT_GT(bench.programs.statistics().rounds_skipped, 1000U);
}

// Nine lines, two words each: a round is 9 x (41 + 3) ns and the branch's instruction. The second
// word of line `which` is written `phase` ns after a round's begin, which drops the line: its next
// look takes the memory's 110 ns and 3. The rest of the round takes what it always does, whether
// the looks before were replayed or not.
TEST(Poll, ASweepOverLinesThatIsWokenInItsMiddleKnowsTheLineItIsAt) {
  constexpr unsigned kLines = 9, kOfLine = 41 + 3, kRound = kLines * kOfLine + 1;
  AicpuBench bench;
  const auto look_at_all = [](AicpuPort& port) {
    std::uint64_t found = 0;
    for (unsigned i = 0; i < 2 * kLines; ++i)
      found += port.load(kDataAt + i / 2 * 64 + i % 2 * 4, 4);
    return found;
  };
  for (unsigned trial = 0; trial < 2 * 4 * kLines; ++trial) {
    const unsigned which = trial / 8, phase = trial / 2 % 4 * 100;
    const std::uint64_t word = kDataAt + which * 64 + 4;
    bench.programs.poll_naively(trial % 2 == 1);
    std::uint64_t took = 0;
    bench.run_program([&](AicpuPort& port) {
      look_at_all(port);
      const std::uint64_t change = port.system_counter() + 20 * kRound + phase;
      bench.at(change * kNs, [&] { bench.poke(Writer::kAiCore, word, 1); });
      took = elapsed(port, [&] {
        while (look_at_all(port) == 0) port.poll_again(kNoDeadline);
      });
      return 0;
    });
    bench.poke(Writer::kAiCore, word, 0);
    const unsigned first = which * kOfLine, second = first + 41;
    const unsigned rounds = second >= phase ? 20 : 21;
    const bool between = first < phase && phase <= second;
    EXPECT_EQ(took, rounds * kRound + 8 * kOfLine + (between ? 41 + 113 : 113 + 3))
        << which << ", " << phase;
  }
  EXPECT_GT(bench.programs.statistics().rounds_skipped, 4 * kLines * 15);
}

// Four lines fill a set of the cache. A fifth drives out the one that was looked at the longest
// ago, which is never the first: the loop ends behind a look at it. A look that was replayed
// counts.
TEST(Poll, AReplayedLookKeepsItsLineInTheCache) {
  constexpr std::uint64_t kApart = 1024;
  AicpuBench bench;
  for (unsigned phase = 0; phase < 260; phase += 13) {
    bench.windows.change(0, 0x4C8, 0);
    std::uint64_t cost = 0;
    bench.run_program([&](AicpuPort& port) {
      bench.at((port.system_counter() + 5'000 + phase) * kNs,
               [&] { bench.windows.change(0, 0x4C8, 1); });
      for (;;) {
        port.load(kDataAt, 4);
        if (port.load_register(0, 0x4C8) != 0) break;
        for (unsigned i = 1; i < 4; ++i) port.load(kDataAt + i * kApart, 4);
        port.poll_again(kNoDeadline);
      }
      port.load(kDataAt + 4 * kApart, 4);
      cost = elapsed(port, [&] { port.load(kDataAt, 4); });
      return 0;
    });
    EXPECT_EQ(cost, 41U) << phase;
  }
  EXPECT_GT(bench.programs.statistics().rounds_skipped, 100U);
}

TEST(Poll, TheDeadlineEndsTheLoopAtTheFirstRoundAfterIt) {
  AicpuBench bench;
  for (const bool naive : {true, false}) {
    bench.programs.poll_naively(naive);
    std::uint64_t began = 0, ended = 0;
    bench.run_program([&](AicpuPort& port) {
      began = port.system_counter();
      do {
        port.load_register(0, 0x4C8);
      } while (port.poll_again(began + 10'000));
      ended = port.system_counter() - 1;
      return 0;
    });
    EXPECT_EQ(ended - began, 100 * 101U) << naive;  // 99 rounds end at 9999
  }
}

TEST(Poll, AChangeBetweenTheDeadlineAndTheRoundSEndIsOfNoConsequence) {
  AicpuBench bench;
  std::uint64_t began = 0, ended = 0;
  bench.start(0, [&](AicpuPort& port) {
    began = port.system_counter();
    bench.at((began + 10'090) * kNs, [&] { bench.windows.change(0, 0x4C8, 1); });
    do {
      port.load_register(0, 0x4C8);
    } while (port.poll_again(began + 10'000));
    ended = port.system_counter() - 1;
    return 0;
  });
  bench.run();
  EXPECT_EQ(ended - began, 100 * 101U);
}

TEST(Poll, WhatNobodySnoopsDoesNotWake) {
  AicpuBench bench;
  bench.at(30'000 * kNs, [&] { bench.poke(Writer::kDma, kDataAt, 1); });
  bench.at(60'000 * kNs, [&] { bench.poke(Writer::kAiCore, kDataAt + 4, 1); });
  std::uint64_t ended = 0;
  bench.run_program([&](AicpuPort& port) {
    while (port.load(kDataAt, 4) == 0) port.poll_again(kNoDeadline);
    ended = port.system_counter();
    return 0;
  });
  EXPECT_GE(ended, 60'000U);
  EXPECT_LE(ended, 60'200U);
}

TEST(Poll, OneThreadWakesAnother) {
  AicpuBench bench;
  std::uint64_t stored = 0, seen = 0;
  bench.start(0, [&](AicpuPort& port) {
    port.compute(50'000);
    stored = port.system_counter();
    port.store(kDataAt, 4, 1);
    return 0;
  });
  bench.start(1, [&](AicpuPort& port) {
    while (port.load(kDataAt, 4) == 0) port.poll_again(kNoDeadline);
    seen = port.system_counter();
    return 0;
  });
  bench.run();
  EXPECT_GT(seen, stored + 40 + 110);
  EXPECT_LT(seen, stored + 40 + 130);  // the store, a miss and a round
}

// One core polls a word, another stores to it `after` ns later; gives the poller's time.
SimTime seen_from(AicpuBench& bench, unsigned poller, unsigned after) {
  bench.poke(Writer::kAiCore, kDataAt, 0);
  bench.done.clear();
  const SimTime begin = model::sim_now();
  bench.start(poller, [](AicpuPort& port) {
    while (port.load(kDataAt, 4) == 0) port.poll_again(kNoDeadline);
    return 0;
  });
  bench.start(1 - poller, [after](AicpuPort& port) {
    port.compute(5000 + after);
    port.store(kDataAt, 4, 1);
    return 0;
  });
  bench.run(100_us);
  for (const auto& done : bench.done) {
    if (done.core == poller) return done.when - begin;
  }
  ADD_FAILURE() << "the poller has not ended";
  return 0;
}

// A round is 4 ns, so that some of the stores come at the very time of a look.
TEST(Poll, LooksAndStoresAtOneTimeHaveTheirOrderWithAndWithoutSkippedRounds) {
  AicpuBench naive(aicpu_config(), 1, 2, "naive"), skipping(aicpu_config(), 1, 2, "skipping");
  naive.programs.poll_naively(true);
  for (const unsigned poller : {0U, 1U}) {
    for (unsigned after = 0; after < 8; ++after) {
      const SimTime expected = seen_from(naive, poller, after);
      EXPECT_EQ(seen_from(skipping, poller, after), expected) << poller << ", " << after;
    }
  }
  EXPECT_GT(skipping.programs.statistics().rounds_skipped, 10'000U);
}

// A loop that looks at the counter is run round by round.
TEST(Poll, ALoopThatReadsTheCounterSeesTimePass) {
  AicpuBench bench;
  unsigned rounds = 0;
  bench.run_program([&](AicpuPort& port) {
    const auto until = port.system_counter() + 1000;
    while (port.system_counter() < until) {
      ++rounds;
      port.poll_again(kNoDeadline);
    }
    return 0;
  });
  EXPECT_EQ(bench.programs.statistics().rounds_skipped, 0U);
  EXPECT_EQ(rounds, 500U);  // two instructions each: looks at 1, 3, ... 999 ns
}

}  // namespace
}  // namespace npu::test
