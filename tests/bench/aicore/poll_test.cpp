// SPDX-License-Identifier: Apache-2.0
// Poll loops: rounds that are passed over cost exactly what they would have cost.
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr SimTime kTrial = 40'000'000;  // ps, from one trial to the next
constexpr SimTime kChange = 8'000'000;  // the first change in a trial; the loop runs since long
constexpr auto kForEver = ~std::uint64_t{0};

// A clock that is no whole number of picoseconds, and a slow counter.
model::ChipConfig poll_config() {
  auto config = aicore_config();
  config.aicore.clock_hz = 1'850'000'000;
  config.core.counter_hz = 50'000'000;
  return config;
}

// The same trials with every round executed and with rounds passed over; each has the change `step`
// later than the one before. What a trial gives is the time from its begin to its program's end,
// and what the trace tells of its waits: the same in both.
class Trials : private platform::TraceSink {
 public:
  using Change = std::function<void(AicoreBench&)>;

  Trials(const Body& body, const Change& prepare, const Change& change, unsigned count,
         SimTime step)
      : bench(poll_config()) {
    bench.sim.recorder.add(*this);
    bench.at(0, [this] { bench.launch(0, [](AicorePort&) { return 0; }); });  // fetches the image
    for (unsigned i = 0; i < 2 * count; ++i) {
      const SimTime begin = (i + 1) * kTrial;
      bench.at(begin, [=] {
        bench.cores.naive_polling(i < count);
        prepare(bench);
        bench.launch(0, [=](AicorePort& port) {
          const int result = body(port);
          port.data_main_base();  // catches up
          times_.push_back(model::sim_now() - begin);
          return result;
        });
      });
      bench.at(begin + kChange + i % count * step, [=] { change(bench); });
    }
    bench.run();
    bench.sim.recorder.remove(*this);
    if (times_.size() == 2 * count) {  // no program was stopped
      naive.assign(times_.begin(), times_.begin() + count);
      passed.assign(times_.begin() + count, times_.end());
    }
    for (unsigned i = 1; i <= count; ++i) EXPECT_EQ(waits(i), waits(count + i)) << i;
  }

  // Begin and end, from that of trial `number` (from 1), and what for.
  using Wait = std::tuple<SimTime, SimTime, std::string_view>;
  const std::vector<Wait>& waits(unsigned number) { return waits_[number]; }

  AicoreBench bench;
  std::vector<SimTime> naive, passed;

 private:
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity != platform::Activity::kScalarWait) return;
    const auto begin = static_cast<SimTime>(event.begin.since_power_up().count());
    const auto end = static_cast<SimTime>(event.end.since_power_up().count());
    const SimTime trial = begin / kTrial;
    const auto what = static_cast<std::size_t>(event.detail & 0xF);
    waits_[trial].emplace_back(begin - trial * kTrial, end - trial * kTrial,
                               platform::kScalarWaitNames.at(what));
  }

  std::vector<SimTime> times_;
  std::map<SimTime, std::vector<Wait>> waits_;
};

void open(AicoreBench& bench) {
  bench.cores.write(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
}

TEST(AicorePoll, OfALineEndsAsIfEveryRoundHadBeenExecuted) {
  const auto body = [](AicorePort& port) {
    while (true) {
      port.clean_invalidate(kData);
      if (port.load(kData + 4, 4) != 0) break;
      port.scalar(3);
      port.poll_again(kForEver);
    }
    return 0;
  };
  const auto prepare = [](AicoreBench& bench) { bench.memory.store<std::uint32_t>(kData + 4, 0); };
  const auto change = [](AicoreBench& bench) { bench.memory.store<std::uint32_t>(kData + 4, 1); };

  Trials trials(body, prepare, change, 400, 337);  // over a whole round

  EXPECT_EQ(trials.passed, trials.naive);
  EXPECT_GT(trials.bench.cores.statistics(0).polls_passed_over, 400U * 50);
  EXPECT_NE(trials.naive.front(), trials.naive.back());
}

TEST(AicorePoll, OfARegisterEndsAsIfEveryRoundHadBeenExecuted) {
  const auto body = [](AicorePort& port) {
    while (static_cast<std::uint32_t>(port.data_main_base()) != 5) port.poll_again(kForEver);
    return 0;
  };
  const auto prepare = [](AicoreBench& bench) { open(bench); };
  const auto change = [](AicoreBench& bench) {
    bench.cores.write(0, abi::DataMainBase::kOffset, 5);
  };

  Trials trials(body, prepare, change, 300, 29);

  EXPECT_EQ(trials.passed, trials.naive);
  EXPECT_GT(trials.bench.cores.statistics(0).polls_passed_over, 300U * 100);
}

// Two lines and a register, the second of which changes; a look at one of them more than once.
TEST(AicorePoll, OfSeveralPlacesEndsAsIfEveryRoundHadBeenExecuted) {
  const auto body = [](AicorePort& port) {
    while (true) {
      port.clean_invalidate_all();
      const auto first = port.load(kData, 8);
      if (port.data_main_base() != 0) return 1;
      const auto second = port.load(kData + 640, 1);
      const auto again = port.load(kData + 641, 1);
      if (first + second + again != 0) break;
      port.poll_again(kForEver);
    }
    return 0;
  };
  const auto prepare = [](AicoreBench& bench) {
    bench.memory.store<std::uint16_t>(kData + 640, 0);
  };
  const auto change = [](AicoreBench& bench) {
    bench.memory.store<std::uint16_t>(kData + 640, 0x100);
  };

  Trials trials(body, prepare, change, 400, 613);

  EXPECT_EQ(trials.passed, trials.naive);
  EXPECT_GT(trials.bench.cores.statistics(0).polls_passed_over, 400U * 20);
}

// The line is written often, the value is the same: the loop goes on, on the same phase.
TEST(AicorePoll, GoesOnAfterAWriteThatChangesNothing) {
  const auto body = [](AicorePort& port) {
    while (true) {
      port.clean_invalidate(kData);
      if (port.load(kData, 4) > 2) break;
      port.poll_again(kForEver);
    }
    return 0;
  };
  const auto prepare = [](AicoreBench& bench) {
    bench.memory.store<std::uint32_t>(kData, 0);
    for (SimTime i = 1; i <= 5; ++i) {
      bench.at(model::sim_now() + kChange / 2 + i * 312'345, [&bench, i] {
        bench.memory.store<std::uint32_t>(kData + i / 5 * 4, static_cast<std::uint32_t>(i / 3));
      });
    }
  };
  const auto change = [](AicoreBench& bench) { bench.memory.store<std::uint32_t>(kData, 3); };

  Trials trials(body, prepare, change, 100, 1'411);

  EXPECT_EQ(trials.passed, trials.naive);
  EXPECT_GT(trials.bench.cores.statistics(0).polls_passed_over, 100U * 50);
}

TEST(AicorePoll, EndsAtItsDeadlineAsIfEveryRoundHadBeenExecuted) {
  const auto body = [](AicorePort& port) {
    const auto deadline = port.system_counter() + 123;
    do {
      port.clean_invalidate(kData);
      port.load(kData, 4);
    } while (port.poll_again(deadline));
    EXPECT_GE(port.system_counter(), deadline);
    return 0;
  };
  const auto nothing = [](AicoreBench&) {};

  Trials trials(body, nothing, nothing, 2, 0);

  EXPECT_EQ(trials.passed, trials.naive);
  EXPECT_GT(trials.naive[1], 123U * 20'000);
  EXPECT_GT(trials.bench.cores.statistics(0).polls_passed_over, 2U * 10);
}

int poll_word(AicorePort& port) {
  do {
    port.clean_invalidate(kData);
    if (port.load(kData, 4) != 0) return 0;
  } while (port.poll_again(kForEver));
  return 1;
}

// BAR2, another card, a physical address: known by its device-local address alone.
TEST(AicorePoll, IsWokenByWritesThatKnowNothingOfItsAddressSpace) {
  const auto prepare = [](AicoreBench& bench) {
    bench.vmid = 3;
    bench.memory.store<std::uint32_t>(kData, 0);
  };
  const auto change = [](AicoreBench& bench) {
    const std::uint32_t one = 1;
    bench.memory.put(kData, &one, sizeof one);
    bench.watch.bytes_written(kData, sizeof one);
  };

  Trials trials(poll_word, prepare, change, 100, 1'337);

  EXPECT_EQ(trials.passed, trials.naive);
  EXPECT_GT(trials.bench.cores.statistics(0).polls_passed_over, 100U * 50);
}

TEST(AicorePoll, IsOneWaitForMemoryUntilItEnds) {
  const auto prepare = [](AicoreBench& bench) { bench.memory.store<std::uint32_t>(kData, 0); };
  const auto change = [](AicoreBench& bench) { bench.memory.store<std::uint32_t>(kData, 1); };

  Trials trials(poll_word, prepare, change, 1, 0);

  const auto& waits = trials.waits(2);
  ASSERT_EQ(waits.size(), 5U);  // the block's start, with its program's fetch, and end around it
  const auto& [begin, end, what] = waits[3];
  EXPECT_EQ(what, "memory");
  EXPECT_LT(begin, kChange / 2);
  EXPECT_GT(end, kChange);
  EXPECT_LT(end, kChange + 3 * kLatency);
}

TEST(AicorePoll, ThatIsStoppedHasWaitedUntilThen) {
  const auto prepare = [](AicoreBench& bench) { bench.memory.store<std::uint32_t>(kData, 0); };
  const auto change = [](AicoreBench& bench) { bench.cores.stop(1); };

  Trials trials(poll_word, prepare, change, 60, 3'777);  // over a whole round

  const auto& waits = trials.waits(61);
  ASSERT_EQ(waits.size(), 5U);
  EXPECT_EQ(std::get<1>(waits[3]), kChange);
  EXPECT_EQ(std::get<2>(waits[3]), "memory");
}

TEST(AicorePoll, ThatIsStoppedWhileItLooksAtAChangeEndsAsIfItHadNeverSlept) {
  const auto prepare = [](AicoreBench& bench) { bench.memory.store<std::uint32_t>(kData, 0); };
  const auto change = [](AicoreBench& bench) {
    bench.memory.store<std::uint32_t>(kData, 1);
    bench.at(model::sim_now() + kLatency / 3, [&bench] { bench.cores.stop(1); });
  };

  Trials trials(poll_word, prepare, change, 60, 3'777);

  EXPECT_EQ(std::get<2>(trials.waits(61).back()), "end");
}

TEST(AicorePoll, ThatSleepsIsStopped) {
  AicoreBench bench;
  bench.at(0, [&] {
    bench.launch(0, [](AicorePort& port) {
      while (port.data_main_base() == 0) port.poll_again(kForEver);
      return 0;
    });
  });
  bench.at(90'000 * kClock, [&] { bench.cores.stop(1); });
  bench.run();
  EXPECT_EQ(bench.ended(0).when, 90'100 * kClock);
}

TEST(AicorePoll, IsNotPassedOverInARoundThatDoesSomething) {
  AicoreBench bench;
  std::uint64_t rounds = 0;
  bench.run_one([&](AicorePort& port) {
    do {
      port.clean_invalidate(kData);
      port.load(kData, 4);
      port.store(kData + 64, 4, 1);
      ++rounds;
    } while (port.poll_again(20'000));
    return 0;
  });
  EXPECT_EQ(bench.cores.statistics(0).polls_passed_over, 0U);
  EXPECT_GT(rounds, 100U);
}

}  // namespace
}  // namespace npu::test
