// SPDX-License-Identifier: Apache-2.0
// Cards of which only neighbours have a link.
#include <algorithm>

#include "tests/system/collectives/collective_bench.hpp"

namespace npu::test {
namespace {

TEST(CollectiveRing, AddsUpWhereOnlyNeighboursHaveLinks) {
  Machine({"fabric=ring", "hbm.fidelity=run"}, kEightCards)
      .on<CollectiveBench>(8U, [](CollectiveBench& bench) {
        for (unsigned rank = 0; rank < 8; ++rank) {
          bench.write(bench.ranks[rank].from, rank, std::vector<int>(100, 1 << rank));
        }
        bench.run_all(
            [&](unsigned rank, const CollectiveCall& call) {
              return bench.all->all_reduce(rank, call, bench.ranks[rank].from, bench.ranks[rank].to,
                                           100, Reduction::kSum);
            },
            CollectiveType::kInt32);
        for (unsigned rank = 0; rank < 8; ++rank) {
          EXPECT_EQ(bench.read<int>(bench.ranks[rank].to, rank, 100), std::vector<int>(100, 255));
        }
      });
}

// Whoever comes last: of five ranks none is through before it.
class CollectiveBarrier : public testing::TestWithParam<CollectiveAlgorithm> {};

TEST_P(CollectiveBarrier, EndsOnNoRankBeforeAllHaveCome) {
  constexpr unsigned kMembers = 5;
  Machine({"hbm.fidelity=run"}, kEightCards)
      .on<CollectiveBench>(kMembers, [](CollectiveBench& bench) {
        for (unsigned last = 0; last < kMembers; ++last) {
          Instant came;
          std::vector<Instant> through(kMembers);
          const auto meet = [&](unsigned rank, const CollectiveCall& call) -> Result<StreamMark> {
            auto& host = bench.host;
            if (rank == last) {
              host.clock().sleep_until(host.clock().now() + 100_us);
              came = host.clock().now();
            }
            const auto mark = bench.all->barrier(rank, call);
            if (!mark) return mark;
            const auto ended = bench.ranks[rank].stream->wait(host.clock().now() + 1_ms);
            through[rank] = host.clock().now();
            return ended ? mark : Result<StreamMark>(forward_error(ended));
          };
          bench.run_all(meet, CollectiveType::kFp32, GetParam());
          EXPECT_GT(*std::min_element(through.begin(), through.end()), came) << last;
        }
      });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, CollectiveBarrier,
                         testing::Values(CollectiveAlgorithm::kMesh, CollectiveAlgorithm::kRing,
                                         CollectiveAlgorithm::kNhr));

}  // namespace
}  // namespace npu::test
