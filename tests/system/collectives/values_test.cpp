// SPDX-License-Identifier: Apache-2.0
// Every operation by random arguments against a plain reference (collective_values.hpp): counts
// that ranks do not divide, 0 and 1 elements, data larger than the buffers.
#include <random>

#include "tests/system/collectives/collective_bench.hpp"
#include "tests/system/support/super_node.hpp"
#include "workloads/programs/support/collective_values.hpp"

namespace npu::test {
namespace {

using driver::CollectiveOperation;
using workloads::CollectiveProblem;

constexpr CollectiveType kTypes[] = {CollectiveType::kInt8,  CollectiveType::kInt16,
                                     CollectiveType::kInt32, CollectiveType::kFp16,
                                     CollectiveType::kBf16,  CollectiveType::kFp32};

Result<StreamMark> call(CollectiveBench& bench, unsigned rank, const CollectiveCall& how,
                        const CollectiveProblem& problem) {
  const auto from = bench.ranks[rank].from, to = bench.ranks[rank].to;
  auto& all = *bench.all;
  switch (problem.operation) {
    case CollectiveOperation::kAllReduce:
      return all.all_reduce(rank, how, from, to, problem.count, problem.reduction);
    case CollectiveOperation::kAllGather:
      return all.all_gather(rank, how, from, to, problem.count);
    case CollectiveOperation::kReduceScatter:
      return all.reduce_scatter(rank, how, from, to, problem.count, problem.reduction);
    case CollectiveOperation::kBroadcast:
      return all.broadcast(rank, how, rank == problem.root ? from : to, problem.count,
                           problem.root);
    case CollectiveOperation::kReduce:
      return all.reduce(rank, how, from, to, problem.count, problem.reduction, problem.root);
    case CollectiveOperation::kScatter:
      return all.scatter(rank, how, from, to, problem.count, problem.root);
    default:
      return all.all_to_all(rank, how, from, to, problem.count);
  }
}

void expect_right(CollectiveBench& bench, const CollectiveProblem& problem,
                  CollectiveAlgorithm algorithm) {
  const Bytes block = problem.block_bytes();
  for (unsigned rank = 0; rank < problem.ranks; ++rank) {
    for (unsigned i = 0; i < problem.blocks_from(); ++i) {
      std::vector<std::byte> bytes(block);
      problem.fill(rank, i, 0, {bytes.data(), block});
      bench.write(bench.ranks[rank].from + i * block, rank, bytes);
    }
  }
  bench.run_all(
      [&](unsigned rank, const CollectiveCall& how) { return call(bench, rank, how, problem); },
      problem.type, algorithm);
  for (unsigned rank = 0; rank < problem.ranks; ++rank) {
    if (problem.operation == CollectiveOperation::kBroadcast && rank == problem.root) continue;
    for (unsigned i = 0; i < problem.blocks_to(); ++i) {
      std::vector<std::byte> expected(block);
      if (!problem.expect(rank, i, 0, {expected.data(), block})) continue;
      ASSERT_EQ(bench.read<std::byte>(bench.ranks[rank].to + i * block, rank, block), expected)
          << to_string(problem.operation) << " by " << to_string(algorithm) << ", " << problem.count
          << " elements of type " << static_cast<int>(problem.type) << ", rank " << rank << " of "
          << problem.ranks << ", block " << i;
    }
  }
}

void run_random(CollectiveBench& bench, std::mt19937& random, CollectiveOperation operation,
                std::uint64_t most) {
  for (std::size_t i = 0; i < driver::kCollectiveAlgorithms; ++i) {
    const auto algorithm = static_cast<CollectiveAlgorithm>(i);
    if (!driver::has_algorithm(operation, algorithm)) continue;
    CollectiveProblem problem;
    problem.operation = operation;
    problem.type = kTypes[random() % 6];
    problem.reduction = static_cast<Reduction>(1 + random() % 3);
    problem.ranks = static_cast<unsigned>(bench.ranks.size());
    problem.root = static_cast<unsigned>(random() % problem.ranks);
    problem.count = random() % 8 == 0 ? random() % 3 : random() % most;
    problem.seed = random();
    expect_right(bench, problem, algorithm);
  }
}

constexpr CollectiveOperation kOperations[] = {
    CollectiveOperation::kAllReduce,     CollectiveOperation::kAllGather,
    CollectiveOperation::kReduceScatter, CollectiveOperation::kBroadcast,
    CollectiveOperation::kReduce,        CollectiveOperation::kScatter,
    CollectiveOperation::kAllToAll};

class CollectiveValues : public testing::TestWithParam<unsigned> {};

TEST_P(CollectiveValues, AreThoseOfAPlainReference) {
  const unsigned ranks = GetParam();
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(ranks, [&](auto& bench) {
    std::mt19937 random(ranks);
    for (const auto operation : kOperations) run_random(bench, random, operation, 3000);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CollectiveValues, testing::Range(1U, 9U));

// Algorithms that work with few peers: those of the others are mapped by nobody.
class ManyRanksValues : public testing::TestWithParam<unsigned> {};

TEST_P(ManyRanksValues, AreThoseOfAPlainReference) {
  std::mt19937 random(GetParam());
  const auto ranks = static_cast<unsigned>(65 + random() % 8);
  constexpr CollectiveAlgorithm kAlgorithms[] = {
      CollectiveAlgorithm::kAutomatic, CollectiveAlgorithm::kNhr, CollectiveAlgorithm::kRing,
      CollectiveAlgorithm::kHalvingDoubling, CollectiveAlgorithm::kPairwise};
  Machine machine(super_node(ranks + ranks % 2, {"hbm.fidelity=run"}));
  machine.run([&](platform::Platform& host) {
    auto options = CollectiveBench::options();
    options.timeout = 100_ms;  // the last rank waits for a message that has passed all others
    CollectiveBench bench(host, ranks, options);
    for (const auto operation : kOperations) {
      auto algorithm = CollectiveAlgorithm::kAutomatic;
      do {
        algorithm = kAlgorithms[random() % std::size(kAlgorithms)];
      } while (!driver::has_algorithm(operation, algorithm));
      CollectiveProblem problem;
      problem.operation = operation;
      problem.type = random() % 2 == 0 ? CollectiveType::kInt32 : CollectiveType::kFp32;
      problem.reduction = static_cast<Reduction>(1 + random() % 3);
      problem.ranks = ranks;
      problem.root = static_cast<unsigned>(random() % ranks);
      problem.count = 1 + random() % 300;
      problem.seed = random();
      expect_right(bench, problem, algorithm);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, ManyRanksValues, testing::Range(1U, 3U));

// 2 MiB of buffer, up to 3 MiB of data.
TEST(CollectiveTurns, DataThatIsLargerThanTheBufferGoesThroughItInTurns) {
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(3U, [](CollectiveBench& bench) {
    CollectiveProblem problem;
    problem.ranks = 3;
    problem.root = 1;
    problem.type = CollectiveType::kInt16;
    for (const auto operation : kOperations) {
      problem.operation = operation;
      const unsigned blocks = std::max(problem.blocks_from(), problem.blocks_to());
      problem.count = 1'500'001 / blocks;
      expect_right(bench, problem,
                   operation == CollectiveOperation::kAllReduce ? CollectiveAlgorithm::kNhr
                                                                : CollectiveAlgorithm::kAutomatic);
    }
  });
}

}  // namespace
}  // namespace npu::test
