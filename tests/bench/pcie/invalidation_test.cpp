// SPDX-License-Identifier: Apache-2.0
// ATS invalidations: the request is a message down to the card, its completion one up, behind the
// writes that the card has posted before.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kAtsMessage = 8 + 16 + 4;  // framing, header, DLLPs
constexpr std::uint64_t kAtsArrival = 60'000 + wire(kAtsMessage + 8) + 50'000 + 20'000;
constexpr std::uint64_t kAtsReturn = wire(kAtsMessage) + 50'000 + 60'000;

struct Invalidations {
  explicit Invalidations(const model::SystemConfig& config = one_card()) : bench(config) {
    for (unsigned i = 0; i < bench.fabric.cards(); ++i) {
      auto& endpoint = bench.fabric.endpoint(i);
      endpoint.on_invalidation([this](unsigned function, std::uint64_t request) {
        arrived = model::sim_now() - begin;
        told = function;
        pending = request;
        return over_at_once;
      });
    }
  }
  // By a host task.
  void invalidate(Bdf card) {
    begin = model::sim_now();
    bench.access(model::TransactionKind::kInvalidation, tlm::TLM_WRITE_COMMAND,
                 std::uint64_t{card.packed()} << 12, 8, kBuffer);
    returned = model::sim_now() - begin;
  }

  void end(std::uint64_t) { bench.fabric.endpoint(0).invalidated(pending); }

  PcieBench bench;
  std::uint64_t begin = 0, arrived = 0, returned = 0;
  std::uint64_t pending = 0;
  bool over_at_once = true;
  unsigned told = 99;
};

TEST(Invalidation, IsAMessageDownAndOneUp) {
  Invalidations seen;
  seen.bench.run([&] { seen.invalidate(kCard); });
  EXPECT_EQ(seen.arrived, kAtsArrival);
  EXPECT_EQ(seen.returned, kAtsArrival + kAtsReturn);
  EXPECT_EQ(seen.told, 0U);
  EXPECT_EQ(seen.bench.completion, Completion::kSuccess);
}

TEST(Invalidation, IsCompleteWhenTheFunctionSaysSo) {
  constexpr std::uint64_t kBusy = 7'000'000;
  Invalidations seen;
  seen.over_at_once = false;
  seen.bench.run([&] {
    seen.bench.simulation.agenda.at<&Invalidations::end>(model::sim_now() + kAtsArrival + kBusy,
                                                         seen);
    seen.invalidate(kCard);
  });
  EXPECT_EQ(seen.arrived, kAtsArrival);
  EXPECT_EQ(seen.returned, kAtsArrival + kBusy + kAtsReturn);
}

TEST(Invalidation, IsRoutedByTheCardsNumberThroughASwitch) {
  Invalidations seen(two_bridges());
  seen.bench.run([&] { seen.invalidate({3, 0, 0}); });
  const std::uint64_t hop = 100'000 + 50'000;  // switch and second link
  EXPECT_EQ(seen.arrived, kAtsArrival + hop + wire(kAtsMessage + 8));
  EXPECT_EQ(seen.returned,
            kAtsArrival + kAtsReturn + 2 * hop + wire(kAtsMessage + 8) + wire(kAtsMessage));
}

TEST(Invalidation, WithoutACardEndsAtOnce) {
  Invalidations seen;
  seen.bench.run([&] { seen.invalidate({9, 0, 0}); });
  EXPECT_EQ(seen.arrived, 0U);
  EXPECT_EQ(seen.returned, 2 * 60'000U);
  EXPECT_EQ(seen.bench.completion, Completion::kUnsupportedRequest);
}

TEST(Invalidation, OfAFunctionThatCachesNothingIsRefused) {
  Invalidations seen(two_bridges());
  seen.bench.run([&] { seen.invalidate({0x81, 0, 1}); });
  EXPECT_EQ(seen.told, 99U);
  EXPECT_EQ(seen.bench.completion, Completion::kUnsupportedRequest);
}

TEST(Invalidation, IsAskedForOfFunctionsWithAts) {
  PcieBench bench(two_bridges());
  EXPECT_TRUE(bench.fabric.caches_translations({0x81, 0, 0}));
  EXPECT_FALSE(bench.fabric.caches_translations({0x81, 0, 1}));
  EXPECT_FALSE(bench.fabric.caches_translations({0x80, 0, 0})) << "a root port";
  EXPECT_FALSE(bench.fabric.caches_translations({9, 0, 0}));
  bench.fabric.link(2).set_down(true);
  EXPECT_FALSE(bench.fabric.caches_translations({0x81, 0, 0})) << "gone";
}

// Something happens in a twentieth of its time; the parameter says in which.
class InvalidationMeets : public testing::TestWithParam<unsigned> {
 public:
  static constexpr unsigned kInstants = 20;

 protected:
  static constexpr std::uint64_t kWhole = kAtsArrival + kAtsReturn;
  std::uint64_t after() const { return GetParam() * kWhole / kInstants; }
  void meet(std::function<void()> action) {
    seen.bench.run([this, action = std::move(action)] {
      seen.bench.enable_bus_master();
      sc_core::sc_spawn([this, action] {
        sc_core::wait(sc_core::sc_time::from_value(after()));
        action();
      });
      seen.invalidate(kCard);
      written = seen.bench.memory.writes.size();
    });
  }
  Invalidations seen;
  std::size_t written = 0;  // by the card, at its end
};

// However long it takes to become visible.
TEST_P(InvalidationMeets, WritesAndEndsBehindThoseBeforeItsArrival) {
  seen.bench.memory.latency_at[kBuffer] = 5_us;
  meet([this] { seen.bench.chip().write(kBuffer, {1}); });
  EXPECT_EQ(written, after() < kAtsArrival ? 1U : 0U);
  EXPECT_EQ(seen.bench.memory.writes.size(), 1U);
}

TEST(Invalidation, DoesNotOvertakeTheHostsOwnWrites) {
  Invalidations seen;
  auto& bench = seen.bench;
  std::uint64_t alone = 0;
  bench.run([&] {
    seen.invalidate(kCard);
    alone = seen.arrived;
    for (unsigned i = 0; i < 64; ++i) bench.write(bench.bar(2) + 64 * i, i, 8);
    seen.invalidate(kCard);
    EXPECT_EQ(bench.chip().memory_writes.size(), 64U);
  });
  EXPECT_GT(seen.arrived, alone);
}

TEST(Invalidation, EndsAtTheTimeoutWhenTheCompletionIsLost) {
  Invalidations seen;
  seen.bench.run([&] {
    seen.bench.endpoint().drop_next_completion(model::Endpoint::CompletionSide::kSent);
    seen.invalidate(kCard);
  });
  EXPECT_EQ(seen.arrived, kAtsArrival);
  EXPECT_EQ(seen.returned, 200'000'000U);
  EXPECT_EQ(seen.bench.completion, Completion::kTimeout);
}

TEST(Invalidation, LeavesReadsTheirOwnTimeout) {
  Invalidations seen;
  auto& bench = seen.bench;
  std::uint64_t read = 0;
  bench.run([&] {
    bench.endpoint().drop_next_completion(model::Endpoint::CompletionSide::kSent);
    seen.invalidate(kCard);
    bench.endpoint().drop_next_completion(model::Endpoint::CompletionSide::kSent);
    const auto begin = model::sim_now();
    bench.read(bench.bar(0));
    read = model::sim_now() - begin;
  });
  EXPECT_EQ(read, 100'000'000U);
}

TEST_P(InvalidationMeets, TheEndOfTheLink) {
  meet([this] { seen.bench.fabric.link(0).set_down(true); });
  EXPECT_LE(seen.returned, kWhole);
  // What is past the link has been answered.
  EXPECT_EQ(seen.bench.completion,
            after() < kWhole - 60'000 ? Completion::kUnsupportedRequest : Completion::kSuccess);
}

// A function in reset has nothing cached, and its device does not ask it.
TEST_P(InvalidationMeets, AReset) {
  meet([this] {
    const auto express = seen.bench.find_capability(kCard, pci::kCapPciExpress);
    model::ConfigRequest reset;
    reset.bdf = kCard.packed();
    reset.offset = express + pci::kExpDeviceControl;
    reset.width = 2;
    reset.is_write = true;
    reset.value = pci::kExpDeviceControlFlr;
    seen.bench.fabric.root_complex().config_access(reset);
  });
  const bool before = after() < kAtsArrival;
  EXPECT_EQ(seen.returned, kWhole);
  EXPECT_EQ(seen.told, before ? 99U : 0U);
  EXPECT_EQ(seen.bench.completion, before ? Completion::kUnsupportedRequest : Completion::kSuccess);
}

INSTANTIATE_TEST_SUITE_P(Instants, InvalidationMeets,
                         testing::Range(0U, InvalidationMeets::kInstants));

}  // namespace
}  // namespace npu::test
