// SPDX-License-Identifier: Apache-2.0
// More ranks than a communicator opens all queues for at once.
#include <set>

#include "npu/abi/registers.hpp"
#include "tests/system/collectives/collective_bench.hpp"
#include "tests/system/support/super_node.hpp"

namespace npu::test {
namespace {

constexpr unsigned kManyRanks = 70;

void expect_sums(CollectiveAlgorithm algorithm) {
  Machine machine(super_node(kManyRanks, {"hbm.fidelity=run"}));
  machine.run([algorithm](platform::Platform& host) {
    auto options = CollectiveBench::options();
    options.timeout = 100_ms;  // the last rank waits for a message that has passed all others
    CollectiveBench bench(host, kManyRanks, options);
    constexpr std::size_t kCount = 200;
    std::vector<int> sums(kCount);
    for (unsigned rank = 0; rank < kManyRanks; ++rank) {
      std::vector<int> values(kCount);
      for (unsigned i = 0; i < kCount; ++i) {
        values[i] = static_cast<int>((rank + 1) * (i + 3));
        sums[i] += values[i];
      }
      bench.write(bench.ranks[rank].from, rank, values);
    }
    for (unsigned turn = 0; turn < 2; ++turn) {
      bench.run_all(
          [&](unsigned rank, const CollectiveCall& call) {
            auto& own = bench.ranks[rank];
            return bench.all->all_reduce(rank, call, own.from, own.to, kCount, Reduction::kSum);
          },
          CollectiveType::kInt32, algorithm);
    }
    for (unsigned rank = 0; rank < kManyRanks; ++rank) {
      EXPECT_EQ(bench.read<int>(bench.ranks[rank].to, rank, kCount), sums) << "rank " << rank;
    }
  });
}

TEST(ManyRanks, AddUpInARing) {
  expect_sums(CollectiveAlgorithm::kRing);
}

TEST(ManyRanks, AddUpInStepsOfTwo) {
  expect_sums(CollectiveAlgorithm::kNhr);
}

// The cards that may read and write this one's memory.
std::set<unsigned> let_in(CollectiveBench& bench, unsigned card) {
  const auto bdf = bench.ranks[card].device->info().bdf();
  auto region = must(bench.host.map_bar(bdf, 0, 0, 4_KiB, platform::Caching::kUncached));
  std::set<unsigned> cards;
  for (unsigned i = 0; i < kManyRanks; ++i) {
    const auto word = region->read64(abi::HccsAccess::kOffset + abi::HccsWord::offset_of(i));
    if ((word & abi::HccsWord::bit_of(i)) != 0) cards.insert(i);
  }
  return cards;
}

// NHR and its barrier: ranks that are a power of two before and behind.
TEST(ManyRanks, MapTheMemoryOfThoseTheyWorkWith) {
  Machine machine(super_node(kManyRanks, {"hbm.fidelity=run"}));
  machine.run([](platform::Platform& host) {
    auto options = CollectiveBench::options();
    options.timeout = 100_ms;
    CollectiveBench bench(host, kManyRanks, options);
    EXPECT_EQ(let_in(bench, 3), std::set<unsigned>());
    bench.run_all(
        [&](unsigned rank, const CollectiveCall& call) { return bench.all->barrier(rank, call); });
    EXPECT_EQ(let_in(bench, 3), (std::set<unsigned>{1, 2, 4, 5, 7, 11, 19, 35, 41, 57, 65, 69}));
    bench.run_all([&](unsigned rank, const CollectiveCall& call) {
      auto& own = bench.ranks[rank];
      return bench.all->all_reduce(rank, call, own.from, own.to, 200, Reduction::kSum);
    });
    std::set<unsigned> partners;
    for (unsigned distance = 1; distance < kManyRanks; distance *= 2) {
      partners.insert((3 + distance) % kManyRanks);
      partners.insert((3 + kManyRanks - distance) % kManyRanks);
    }
    EXPECT_EQ(let_in(bench, 3), partners);
    bench.all.reset();
    EXPECT_EQ(let_in(bench, 3), std::set<unsigned>()) << "nobody has it any more";
  });
}

// A rank may leave while others still map for the first time.
TEST(ManyRanks, WhoHasLeftIsMappedByNobody) {
  Machine machine(super_node(kManyRanks, {"hbm.fidelity=run"}));
  machine.on<CollectiveBench>(kManyRanks, [](CollectiveBench& bench) {
    std::vector<std::unique_ptr<platform::Task>> tasks;
    tasks.push_back(must(bench.host.tasks().spawn("leaves", [&] {
      static_cast<void>(bench.all->leave(5, bench.host.clock().now() + 1_ms));
    })));
    bench.try_all([&](unsigned rank, const CollectiveCall& call) -> Result<StreamMark> {
      return bench.all->barrier(rank, call);
    });
    for (auto& task : tasks) task->join();
    for (unsigned rank : {1U, 3U, 4U, 6U}) EXPECT_FALSE(bench.ranks[rank].ended) << rank;
    bench.all.reset();
    EXPECT_EQ(let_in(bench, 5), std::set<unsigned>());
  });
}

TEST(ManyRanks, AreTooManyForVectorCores) {
  Machine machine(super_node(kManyRanks, {"hbm.fidelity=run"}));
  machine.on<CollectiveBench>(kManyRanks, [](CollectiveBench& bench) {
    auto& own = bench.ranks[69];
    const CollectiveCall call{own.stream.get(), CollectiveType::kInt32, CollectiveAlgorithm::kAiv};
    const auto refused = bench.all->all_reduce(69, call, own.from, own.to, 8, Reduction::kSum);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(refused.error().context, "aiv: at most 64 ranks, here are 70");
    EXPECT_NE(bench.all->choose(driver::CollectiveOperation::kAllReduce, 1024),
              CollectiveAlgorithm::kAiv);
  });
}

}  // namespace
}  // namespace npu::test
