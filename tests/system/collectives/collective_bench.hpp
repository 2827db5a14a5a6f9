// SPDX-License-Identifier: Apache-2.0
// Ranks on cards 0 .. n - 1, each with a process, a stream, memory and a task of its own.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "npu/driver/collectives.hpp"
#include "npu/driver/compute_groups.hpp"
#include "npu/driver/staged_copies.hpp"
#include "tests/system/support/machine.hpp"
#include "workloads/framework/program_images.hpp"

namespace npu::test {

using driver::CollectiveAlgorithm;
using driver::CollectiveCall;
using driver::CollectiveType;
using driver::Communicator;
using driver::DeviceAddress;
using driver::Reduction;
using driver::StreamMark;

struct CollectiveBenchRank {
  std::unique_ptr<driver::Device> device;
  std::unique_ptr<driver::ProcessContext> process;
  std::unique_ptr<driver::ArgumentPool> arguments;
  std::unique_ptr<driver::ExecutionStream> stream;
  std::unique_ptr<driver::StagedCopies> copies;
  DeviceAddress from, to;
  Status ended;
};

class CollectiveBench {
 public:
  static constexpr Bytes kMemory = 6_MiB;  // each of `from` and `to`

  explicit CollectiveBench(platform::Platform& machine_host, unsigned count,
                           const driver::CommunicatorOptions& wanted = options())
      : host(machine_host), ranks(count) {
    std::vector<driver::CommunicatorRank> members;
    for (unsigned i = 0; i < count; ++i) {
      auto& rank = ranks[i];
      rank.device = open_card(host, i);
      rank.process = must(driver::ProcessContext::open(*rank.device));
      rank.arguments = std::make_unique<driver::ArgumentPool>(*rank.process);
      rank.stream = open_stream(rank);
      rank.copies = must(driver::StagedCopies::open(*rank.process));
      rank.from = must(rank.process->space().allocate(kMemory)).address;
      rank.to = must(rank.process->space().allocate(kMemory)).address;
      members.push_back({rank.process.get()});
    }
    all = must(Communicator::create(members, wanted));
  }
  ~CollectiveBench() { all.reset(); }

  // For kernels on vector cores; coupled cores are all of one kind.
  static std::unique_ptr<driver::ExecutionStream> open_stream(CollectiveBenchRank& rank) {
    const auto card = must(driver::compute_groups(*rank.device)).front();
    driver::ExecutionStreamOptions options;
    auto& cores = options.cores[static_cast<std::size_t>(driver::LaunchCores::kVector)];
    if (card.vector_cores != 0) cores = {};
    for (unsigned i = card.cluster_count; i < card.cluster_count + card.vector_cores; ++i) {
      cores[i / 64] |= std::uint64_t{1} << i % 64;
    }
    return must(driver::ExecutionStream::open(*rank.process, *rank.arguments, options));
  }
  static driver::CommunicatorOptions options() {
    driver::CommunicatorOptions options;
    options.buffer = 2_MiB;
    options.timeout = 2_ms;
    options.vector.kernel = must(workloads::program_image("vector_collective"));
    options.vector.half = 64_KiB;
    options.vector.one_shot = 8_KiB;
    return options;
  }
  template <class T>
  void write(DeviceAddress at, unsigned rank, const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    EXPECT_TRUE(ranks[rank].copies->write(at, {bytes, values.size() * sizeof(T)}));
  }
  template <class T>
  std::vector<T> read(DeviceAddress at, unsigned rank, std::size_t count) {
    std::vector<T> values(count);
    auto* bytes = reinterpret_cast<std::byte*>(values.data());
    EXPECT_TRUE(ranks[rank].copies->read(at, {bytes, count * sizeof(T)}));
    return values;
  }
  // Each rank's part in its own task, and the end of its stream's work: CollectiveBenchRank::ended.
  using Part = std::function<Result<StreamMark>(unsigned rank, const CollectiveCall& call)>;
  void try_all(const Part& part, CollectiveType type = CollectiveType::kFp32,
               CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAutomatic) {
    std::vector<std::unique_ptr<platform::Task>> tasks;
    for (unsigned i = 0; i < ranks.size(); ++i) {
      tasks.push_back(must(host.tasks().spawn("rank", [&, i] {
        const CollectiveCall call{ranks[i].stream.get(), type, algorithm};
        const auto mark = part(i, call);
        ranks[i].ended = mark ? ranks[i].stream->wait(host.clock().now() + 10_s)
                              : Status(fail(mark.error().code, mark.error().context));
      })));
    }
    for (auto& task : tasks) task->join();
  }
  void run_all(const Part& part, CollectiveType type = CollectiveType::kFp32,
               CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAutomatic) {
    try_all(part, type, algorithm);
    for (const auto& rank : ranks) EXPECT_TRUE(rank.ended) << rank.ended.error().message();
  }

  platform::Platform& host;
  std::vector<CollectiveBenchRank> ranks;
  std::unique_ptr<Communicator> all;
};

inline const std::string kEightCards = "system-8x910b.yaml";
inline const std::string kPair = "system-2x910b2.yaml";

}  // namespace npu::test
