// SPDX-License-Identifier: Apache-2.0
// A poll loop that skips ahead must be indistinguishable from one that does not.
#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

struct PollResult {
  std::uint64_t seen_at;
  std::int64_t busy;
  std::uint64_t executed, calls;
};

// Polls a word that a device changes at `change` (0: never) until then or `deadline`, with as many
// instructions a round.
PollResult poll(HostBench& bench, bool skip, std::uint64_t instructions, std::uint64_t start_charge,
                std::uint64_t change, std::uint64_t deadline) {
  PollResult result{};
  std::uint64_t counter = 7'000;
  bench.cpus.executed().follow(instructions == 0 ? nullptr : &counter);
  bench.run([&] {
    auto& host = static_cast<platform::Platform&>(bench.platform);
    const auto mapping =
        bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kBidirectional, 0);
    volatile auto* word = reinterpret_cast<std::uint64_t*>(mapping.memory.data);
    if (change != 0) {
      bench.at(change, [&bench, mapping, word] {
        *word = 1;
        bench.memory.written(mapping.memory.data, 8, 0);
      });
    }
    bench.cpus.charge(Picoseconds(static_cast<std::int64_t>(start_charge)));
    const auto limit = model::instant(deadline);
    const ConstByteSpan watched = skip ? ConstByteSpan(mapping.memory.data, 8) : ConstByteSpan();
    while (*word == 0 && host.clock().now() < limit) {
      counter += instructions;
      ++result.calls;
      host.clock().relax(watched, limit);
    }
    result.seen_at = bench.cpus.local_now();
    result.busy = bench.cpus.current().usage.busy.count();
    result.executed = bench.cpus.executed().all();
  });
  return result;
}

constexpr std::uint64_t kRound = 37'000, kInstruction = 200;

// Each case once skipping and once naive, in processes of their own: the numbers are closed forms.
struct Case {
  bool skip;
  std::uint64_t instructions, start_charge, change, deadline, expected;
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return (info.param.skip ? "Skip" : "Naive") + std::to_string(info.index);
}

class Poll : public testing::TestWithParam<Case> {};

TEST_P(Poll, SeesTheChangeAtTheFirstRoundBehindIt) {
  HostBench bench;
  const auto& c = GetParam();
  const auto result = poll(bench, c.skip, c.instructions, c.start_charge, c.change, c.deadline);
  EXPECT_EQ(result.seen_at, c.expected);
  EXPECT_EQ(result.busy, static_cast<std::int64_t>(c.expected));
  const auto round = kRound + c.instructions * kInstruction;
  EXPECT_EQ(result.executed, (c.expected - c.start_charge) / round * c.instructions);
  EXPECT_LE(result.calls, c.skip ? 4U : 201U);
}

std::vector<Case> cases_of(bool skip, std::uint64_t instructions, std::uint64_t charge) {
  const auto round = [&](std::uint64_t k) {
    return charge + k * (kRound + instructions * kInstruction);
  };
  const auto one = [&](std::uint64_t change, std::uint64_t deadline, std::uint64_t expected) {
    return Case{skip, instructions, charge, change, deadline, expected};
  };
  constexpr std::uint64_t kLong = 100'000'000;
  std::vector<Case> all;
  for (const std::uint64_t k : {1U, 2U, 3U, 200U}) {
    all.push_back(one(round(k), kLong, round(k)));          // on a round
    all.push_back(one(round(k) + 1, kLong, round(k + 1)));  // just after one
    all.push_back(one(round(k) - 1, kLong, round(k)));      // just before one
  }
  all.push_back(one(0, round(5) - 1, round(5)));  // deadline
  all.push_back(one(0, round(5) + 1, round(6)));
  all.push_back(one(round(9), round(2), round(2)));            // deadline before change
  if (charge > 500) all.push_back(one(500, kLong, round(1)));  // while still computing
  return all;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool skip : {true, false}) {
    for (const std::uint64_t instructions : {0ULL, 1ULL, 100ULL}) {
      for (const std::uint64_t charge : {0ULL, 1ULL, 12'345ULL}) {
        const auto some = cases_of(skip, instructions, charge);
        all.insert(all.end(), some.begin(), some.end());
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(SkippingAndNaive, Poll, testing::ValuesIn(cases()), case_name);

TEST(PollTrace, OneRoundCostsOneRound) {
  on_bench<HostBench>([](HostBench& bench) {
    auto& clock = static_cast<platform::Platform&>(bench.platform).clock();
    const auto before = clock.now();
    clock.relax({}, Instant::never());
    EXPECT_EQ((clock.now() - before).count(), static_cast<std::int64_t>(kRound));
  });
}

}  // namespace
}  // namespace npu::test
