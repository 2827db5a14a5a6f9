// SPDX-License-Identifier: Apache-2.0
// Who sees a store when: its own core at once, all others when it is done.
#include <random>

#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

using model::Writer;

constexpr std::uint64_t kStoredNs = 20'000, kDoneNs = kStoredNs + 40;

// What follows happens at `ns`.
void compute_until(AicpuPort& port, std::uint64_t ns) {
  port.compute(static_cast<unsigned>(ns - port.system_counter()));
}
int store_at(AicpuPort& port, std::uint64_t ns, std::uint64_t value) {
  compute_until(port, ns);
  port.store(kDataAt, 8, value);
  return 0;
}

class StoreVisibility : public testing::Test {
 protected:
  // What core `reader` loads at `ns` of what the other of cores 0 and 1 stores at kStoredNs.
  std::uint64_t seen(unsigned reader, std::uint64_t ns) {
    AicpuBench bench(aicpu_config(), 24, 4, sc_core::sc_gen_unique_name("bench"));
    std::uint64_t value = 9;
    bench.start(1 - reader, [](AicpuPort& port) { return store_at(port, kStoredNs, 7); });
    bench.start(reader, [&](AicpuPort& port) {
      port.load(kDataAt, 8);
      compute_until(port, ns);
      value = port.load(kDataAt, 8);
      return 0;
    });
    bench.run();
    return value;
  }
};

TEST_F(StoreVisibility, ACoreOfAHigherNumberDoesNotSeeItBeforeItIsDone) {
  EXPECT_EQ(seen(1, kDoneNs - 1), 0U);
}
TEST_F(StoreVisibility, ACoreOfAHigherNumberSeesItThen) {
  EXPECT_EQ(seen(1, kDoneNs), 7U);
}
TEST_F(StoreVisibility, ACoreOfALowerNumberDoesNotSeeItBeforeItIsDone) {
  EXPECT_EQ(seen(0, kDoneNs - 1), 0U);
}
TEST_F(StoreVisibility, ACoreOfALowerNumberSeesItThen) {
  EXPECT_EQ(seen(0, kDoneNs), 7U);
}

TEST_F(StoreVisibility, MemoryHasItWhenItIsDone) {
  AicpuBench bench;
  std::uint32_t before = 9, after = 9;
  bench.at(kDoneNs * kNs - 1, [&] { before = bench.peek(kDataAt); });
  bench.at(kDoneNs * kNs + 1, [&] { after = bench.peek(kDataAt); });
  bench.run_program([](AicpuPort& port) { return store_at(port, kStoredNs, 7); });
  EXPECT_EQ(before, 0U);
  EXPECT_EQ(after, 7U);
}

TEST_F(StoreVisibility, TheCoreItselfSeesItAtOnceThoughOthersTakeTheLine) {
  AicpuBench bench;
  bench.at(kStoredNs * kNs + 500, [&] { bench.poke(Writer::kAiCore, kDataAt + 4, 3); });
  bench.run_program([](AicpuPort& port) {
    port.load(kDataAt, 8);
    compute_until(port, kStoredNs);
    port.store(kDataAt, 4, 7);
    EXPECT_EQ(port.load(kDataAt, 8), 7U | std::uint64_t{3} << 32);
    return 0;
  });
  EXPECT_EQ(bench.peek(kDataAt), 7U);
}

// The line is asked for before the store is done, and comes after.
TEST_F(StoreVisibility, TheCoreItselfSeesItInALineThatItFetchesMeanwhile) {
  AicpuBench bench;
  bench.run_program([](AicpuPort& port) {
    port.store(kDataAt, 4, 7);
    EXPECT_EQ(port.load(kDataAt, 8), 7U);
    port.store(kDataAt + 64, 4, 8);
    port.compute(100);
    EXPECT_EQ(port.load(kDataAt + 64, 8), 8U);
    return 0;
  });
}

TEST_F(StoreVisibility, ACoreSAtomicsAndInvalidationsWaitForItsStores) {
  AicpuBench bench;
  bench.run_program([](AicpuPort& port) {
    port.store(kDataAt, 8, 7);
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.fetch_add(kDataAt, 8, 1), 7U); }), 38 + 35U);
    port.store(kDataAt + 8, 8, 7);
    EXPECT_EQ(elapsed(port, [&] { port.invalidate(kDataAt, 4); }), 38 + 2U);
    port.store(kDataAt + 8, 8, 7);
    EXPECT_EQ(elapsed(port, [&] { port.fetch_add(kDataAt + 64, 8, 1); }), 38 + 35U);
    return 0;
  });
  EXPECT_EQ(bench.peek(kDataAt), 8U);
}

TEST_F(StoreVisibility, AnInvalidationOfTranslationsWaitsForIt) {
  AicpuBench bench;
  std::vector<int> held;
  for (const auto ns : {kStoredNs - 1, kStoredNs + 1, kDoneNs - 1, kDoneNs + 1}) {
    bench.at(ns * kNs, [&] { held.push_back(bench.held); });
  }
  bench.run_program([](AicpuPort& port) { return store_at(port, kStoredNs, 7); });
  EXPECT_EQ(held, (std::vector<int>{0, 1, 1, 0}));
}

TEST_F(StoreVisibility, AResetLosesWhatIsNotDone) {
  AicpuBench bench;
  bench.at(kDoneNs * kNs - 1, [&] { bench.programs.function_reset(0); });
  bench.start(0, [](AicpuPort& port) {
    compute_until(port, kStoredNs - 2);
    port.store(kDataAt + 8, 8, 6);
    return store_at(port, kStoredNs, 7);
  });
  bench.run();
  EXPECT_EQ(bench.peek(kDataAt + 8), 6U);
  EXPECT_EQ(bench.peek(kDataAt), 0U);
  EXPECT_EQ(bench.held, 0);
  bench.run_program([](AicpuPort& port) { return port.store(kDataAt, 8, 5), 0; });
  EXPECT_EQ(bench.peek(kDataAt), 5U);
}

TEST_F(StoreVisibility, WhatMemoryRefusesLateEndsTheProgramAtItsNextAccess) {
  AicpuBench bench;
  bench.unmapped_from = 4_MiB;
  bool stored_on = false, went_on = false;
  const auto done = bench.run_program([&](AicpuPort& port) {
    port.store(4_MiB, 4, 1);
    stored_on = true;
    port.compute(1'000'000);
    port.load(kDataAt, 4);
    went_on = true;
    return 0;
  });
  EXPECT_TRUE(stored_on);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(done.fault.code, FaultCode::kTranslation);
  EXPECT_EQ(done.fault.address, 4_MiB);
  EXPECT_LT(done.when, 50'000 * kNs) << "the rest is not computed";
}

// Three cores hand numbered messages to each other through memory: data, barrier, number. Whoever
// sees a number sees the data that belongs to it, and numbers never go back; with few and many
// entries, short and long stores, polled naively or not.
class Messages : public testing::TestWithParam<unsigned> {};

TEST_P(Messages, ComeWholeAndInOrder) {
  std::mt19937 random(GetParam());
  const auto upto = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
  auto config = aicpu_config();
  config.store_done = Picoseconds(upto(300) * 1000);
  config.store_buffer = 1 + upto(6);
  config.snoop = Picoseconds(upto(1) * 300'000);
  config.snoops_dma = upto(1) != 0;
  AicpuBench bench(config);
  bench.programs.poll_naively(upto(1) != 0);
  constexpr unsigned kCores = 3, kMessages = 40;
  const auto box = [](unsigned core) { return kDataAt + core * 16'384; };
  std::array<std::uint64_t, kCores> received{};
  for (unsigned i = 0; i < kCores; ++i) {
    const unsigned seed = upto(1'000'000);
    bench.start(i, [&, i, seed](AicpuPort& port) {
      std::mt19937 own(seed);
      const std::uint64_t mine = box(i), from = box((i + 1) % kCores);
      std::uint64_t last = 0;
      for (std::uint64_t number = 1; number <= kMessages || last < kMessages;) {
        if (number <= kMessages) {
          const unsigned words = 1 + static_cast<unsigned>(own() % 20);
          // Whose reader has not come so far overwrites the slot of nobody: there is one for each.
          const std::uint64_t slot = mine + 64 + number * 192;
          std::vector<std::uint64_t> data(words, number);
          data.push_back(~number);
          port.write(slot, data.data(), data.size() * 8);
          EXPECT_EQ(port.load(slot, 8), number) << "its own";
          port.barrier();
          port.store(mine, 8, number);
          ++number;
        }
        const std::uint64_t seen = port.load(from, 8);
        EXPECT_GE(seen, last);
        if (seen != 0 && seen != last) {
          const std::uint64_t slot = from + 64 + seen * 192;
          std::uint64_t at = slot;
          while (port.load(at, 8) == seen && at < slot + 184) at += 8;
          EXPECT_GT(at, slot) << "message " << seen;
          EXPECT_EQ(port.load(at, 8), ~seen) << "message " << seen;
        }
        last = seen;
        port.compute(static_cast<unsigned>(own() % 500));
        port.poll_again(~std::uint64_t{0});
      }
      received[i] = last;
      return 0;
    });
  }
  bench.run(10_ms);
  EXPECT_EQ(bench.done.size(), kCores);
  for (const auto& done : bench.done) EXPECT_FALSE(done.fault.failed());
  for (const auto last : received) EXPECT_EQ(last, kMessages);
  EXPECT_EQ(bench.held, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Messages, testing::Range(1U, 25U));

}  // namespace
}  // namespace npu::test
