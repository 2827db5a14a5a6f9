// SPDX-License-Identifier: Apache-2.0
// What a program's accesses cost (runtime.md A1).
#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

class Timing : public testing::Test {
 protected:
  explicit Timing(const model::AicpuProgramConfig& config = aicpu_config()) : bench(config) {}
  // Of one access or more in a program, after `before`; in ns.
  std::uint64_t cost(const Program& measured, const Program& before = nullptr) {
    std::uint64_t ns = 0;
    const auto done = bench.run_program([&](AicpuPort& port) {
      if (before) before(port);
      ns = elapsed(port, [&] { measured(port); });
      return 0;
    });
    EXPECT_FALSE(done.fault.failed());
    return ns;
  }
  AicpuBench bench;
};

TEST_F(Timing, PostedRegisterStoresCost5NsEach) {
  EXPECT_EQ(cost([](AicpuPort& port) {
              for (unsigned i = 0; i < 1000; ++i) port.store_register(i % 24, 0xA0, i);
              return 0;
            }),
            5000U);
}

class ShortList : public Timing {
 protected:
  static model::AicpuProgramConfig config() {
    auto short_list = aicpu_config();
    short_list.register_stores = 5;
    return short_list;
  }
  ShortList() : Timing(config()) {}
};

// The sixth store waits until the first is off the list, the eleventh for the sixth.
TEST_F(ShortList, AShortListOfPostedStoresLimitsTheBurst) {
  EXPECT_EQ(cost([](AicpuPort& port) {
              for (unsigned i = 0; i < 11; ++i) port.store_register(0, 0xA0, i);
              return 0;
            }),
            2 * 95U + 5);
}

TEST_F(Timing, ARegisterLoadCosts100Ns) {
  EXPECT_EQ(cost([](AicpuPort& port) { return static_cast<int>(port.load_register(3, 0x4C8)); }),
            100U);
}

TEST_F(Timing, ASweepOf24CoresCosts2400Ns) {
  EXPECT_EQ(cost([](AicpuPort& port) {
              for (unsigned i = 0; i < 24; ++i) port.load_register(i, 0x4C8);
              return 0;
            }),
            2400U);
}

TEST_F(Timing, AStoreAndALoadOfOneWindowCost240Ns) {
  const auto round_trip = [](unsigned other) {
    return [other](AicpuPort& port) {
      port.store_register(0, 0xA0, 1);
      port.load_register(other, 0x4C8);
      return 0;
    };
  };
  EXPECT_EQ(cost(round_trip(0)), 240U);
  EXPECT_EQ(cost(round_trip(1)), 105U);
}

TEST_F(Timing, ALoadThatHitsCosts3NsAndOneThatMissesTheMemoryToo) {
  const auto load = [](AicpuPort& port) { return static_cast<int>(port.load(kDataAt, 4)); };
  EXPECT_EQ(cost(load), 113U);
  EXPECT_EQ(cost(load, load), 3U);
}

// One load of each of so many lines, so many times.
Program sweep(unsigned lines, unsigned times = 1) {
  return [lines, times](AicpuPort& port) {
    for (unsigned i = 0; i < lines * times; ++i) port.load(kDataAt + i % lines * 64, 8);
    return 0;
  };
}

TEST_F(Timing, LoadsThatChangeTheLineCost41NsEach) {
  EXPECT_EQ(cost(sweep(1, 100), sweep(1)), 100 * 3U);
  EXPECT_EQ(cost(sweep(9, 100), sweep(9)), 900 * 41U);
  EXPECT_EQ(cost(sweep(24), sweep(24)), 984U);  // published: about 1.0 us
}

TEST_F(Timing, TheCacheHoldsItsSizeAndNoMore) {
  EXPECT_EQ(cost(sweep(64), sweep(64)), 64 * 41U);  // 4 KiB
  // One line more: its set of four has five in turn, so each of them misses.
  EXPECT_EQ(cost(sweep(65), sweep(65)), 60 * 41U + 5 * 113);
}

// The load after `between` is of the line of the load before it, or not.
TEST_F(Timing, NothingButLoadsChangesTheLineOfTheLastLoad) {
  constexpr std::uint64_t kOther = kDataAt + 0x1000;
  const std::array<char, 64> whole{};
  const std::vector<Program> all{
      [](AicpuPort& port) { return port.store(kOther, 8, 1), 0; },
      [&](AicpuPort& port) { return port.write(kOther, whole.data(), whole.size()), 0; },
      [](AicpuPort& port) { return port.fetch_add(kOther, 8, 1), 0; },
      [](AicpuPort& port) { return port.invalidate(kOther, 64), 0; },
      [](AicpuPort& port) { return port.load_register(0, 0x4C8), 0; },
      [](AicpuPort& port) { return port.store_register(0, 0xA0, 1), port.barrier(), 0; }};
  for (const auto& between : all) {
    const auto load = [](AicpuPort& port) { return port.load(kDataAt, 8), 0; };
    EXPECT_EQ(cost(load,
                   [&](AicpuPort& port) {
                     port.load(kOther, 8);
                     load(port);
                     return between(port);
                   }),
              3U)
        << &between - all.data();
  }
}

TEST_F(Timing, ALineThatHasGoneIsMissedAndThenThatOfTheLastLoad) {
  const auto load = [](AicpuPort& port) { return port.load(kDataAt, 8), 0; };
  const auto gone = [&](AicpuPort& port) { return load(port), port.invalidate(kDataAt, 8), 0; };
  EXPECT_EQ(cost(load, gone), 113U);
  EXPECT_EQ(cost(load, [&](AicpuPort& port) { return gone(port), load(port); }), 3U);
}

TEST_F(Timing, ALineWrittenAsAWholeIsAnotherUntilItIsLoaded) {
  const std::array<char, 64> whole{};
  const auto write = [&](AicpuPort& port) { return port.write(kDataAt, whole.data(), 64), 0; };
  const auto load = [](AicpuPort& port) { return port.load(kDataAt, 8), 0; };
  EXPECT_EQ(cost(load, write), 41U);
  EXPECT_EQ(cost(load, write), 41U);  // what a block before has loaded is of no consequence
  EXPECT_EQ(cost(load, [&](AicpuPort& port) { return write(port), load(port), write(port); }), 3U);
}

TEST_F(Timing, AReadCostsALoadPerLine) {
  const auto read = [](AicpuPort& port) {
    std::array<char, 130> buffer{};
    port.read(kDataAt + 62, buffer.data(), buffer.size());  // 2 + 64 + 64
    return 0;
  };
  EXPECT_EQ(cost(read), 3 * 113U);
  EXPECT_EQ(cost(read, read), 3 * 41U);
}

TEST_F(Timing, StoresArePostedAndABarrierWaitsForThem) {
  EXPECT_EQ(cost([](AicpuPort& port) {
              for (unsigned i = 0; i < 3; ++i) port.store(kDataAt + 8 * i, 8, i);
              return 0;
            }),
            3U);
  EXPECT_EQ(cost([](AicpuPort& port) {
              for (unsigned i = 0; i < 3; ++i) port.store(kDataAt + 8 * i, 8, i);
              port.barrier();
              return 0;
            }),
            2 + 40U);
}

TEST_F(Timing, AFullStoreBufferHoldsTheCoreUp) {
  EXPECT_EQ(cost([](AicpuPort& port) {
              for (unsigned i = 0; i < 25; ++i) port.store(kDataAt, 4, i);
              return 0;
            }),
            40 + 1U);
}

TEST_F(Timing, AtomicsAndInstructionsCostWhatTheyAreSaidTo) {
  EXPECT_EQ(cost([](AicpuPort& port) { return static_cast<int>(port.fetch_add(kDataAt, 4, 0)); }),
            35U);
  EXPECT_EQ(cost([](AicpuPort& port) {
              port.compare_exchange(kDataAt, 8, 0, 0);
              return 0;
            }),
            35U);
  EXPECT_EQ(cost([](AicpuPort& port) {
              port.compute(17);
              return 0;
            }),
            17U);
}

TEST_F(Timing, ABlockTakesItsLaunchItsImageAndItsReport) {
  const auto first = bench.run_program([](AicpuPort&) { return 0; });
  abi::ImageHeader header;
  std::memcpy(&header, bench.memory.bytes.data() + kImageAt, sizeof header);
  const SimTime pieces = (header.size + 4095) / 4096;
  const SimTime fixed = (150 + 50 + 1000 + 500) * kNs + kMemoryLatency + 3 * kNs;
  EXPECT_EQ(first.when, fixed + pieces * kMemoryLatency);
  // Loaded for good: the next block reads the header alone.
  const SimTime begin = model::sim_now();
  const auto second = bench.run_program([](AicpuPort&) { return 0; });
  EXPECT_EQ(second.when - begin, fixed);
}

using Registers = OnBench<AicpuBench>;

TEST_F(Registers, AStoreReachesTheCoreAfter140NsInOrder) {
  std::uint64_t issued = 0;
  bench.run_program([&](AicpuPort& port) {
    issued = port.system_counter();
    port.store_register(2, 0xA0, 7);
    port.store_register(2, 0xA0, 8);
    return 0;
  });
  ASSERT_EQ(bench.windows.writes.size(), 2U);
  EXPECT_EQ(bench.windows.writes[0].when, (issued + 140) * kNs);
  EXPECT_EQ(bench.windows.writes[1].when, (issued + 145) * kNs);
  EXPECT_EQ(bench.windows.writes[0].value, 7U);
  EXPECT_EQ(bench.windows.writes[1].value, 8U);
}

// The register's value is that of half way.
TEST_F(Registers, ALoadIsSampledAfter50Ns) {
  for (const SimTime offset : {49'999U, 50'000U, 50'001U}) {
    std::uint32_t seen = 9;
    bench.windows.change(5, 0x4C8, 0);
    bench.run_program([&](AicpuPort& port) {
      const std::uint64_t begin = port.system_counter();
      bench.at(begin * kNs + offset, [&] { bench.windows.change(5, 0x4C8, 1); });
      seen = port.load_register(5, 0x4C8);
      return 0;
    });
    EXPECT_EQ(seen, offset <= 50'000 ? 1U : 0U) << offset;
  }
}

TEST_F(Registers, WindowsAndOffsetsThatDoNotExistReadAsAllOnes) {
  bench.run_program([&](AicpuPort& port) {
    EXPECT_EQ(port.core_windows(), 24U);
    EXPECT_EQ(port.load_register(24, 0x4C8), 0xFFFF'FFFFU);
    EXPECT_EQ(port.load_register(0, 0x1400), 0xFFFF'FFFFU);
    EXPECT_EQ(port.load_register(0, 0x4C9), 0xFFFF'FFFFU);
    port.store_register(24, 0xA0, 1);
    return 0;
  });
  EXPECT_TRUE(bench.windows.writes.empty());
}

TEST(Counter, ItCountsAtItsOwnRate) {
  auto config = aicpu_config();
  config.counter_hz = 50'000'000;
  AicpuBench bench(config);
  bench.run_program([](AicpuPort& port) {
    const auto begin = port.system_counter();
    port.compute(20'000);  // 20 us
    EXPECT_EQ(port.system_counter() - begin, 1000U);
    EXPECT_EQ(port.counter_hz(), 50'000'000U);
    return 0;
  });
}

}  // namespace
}  // namespace npu::test
