// SPDX-License-Identifier: Apache-2.0
// The ranks of a collective operation: cards 0 .. ranks - 1, a process and a stream on each, and
// memory for what an operation takes and gives. Each rank has a task of its own, as it would have a
// process.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "npu/driver/collectives.hpp"
#include "workloads/framework/measurement.hpp"
#include "workloads/programs/support/collective_values.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {

// Operations by vector cores as published (hccl.md E2): an A3 does small ones so by itself,
// others only if they are told to. `blocks` is a parameter of the workload, of which a card
// has at most as many as vector cores.
Result<driver::VectorCollectives> vector_collectives(Context& context);
// Kernels of a stream on this card for vector cores are on vector cores alone.
void use_vector_cores(const Context& context, std::uint32_t card,
                      driver::ExecutionStreamOptions* options);

class CollectiveRanks {
 public:
  // `bytes`: of the largest operation, for each rank.
  static Result<std::unique_ptr<CollectiveRanks>> open(Context& context, unsigned ranks,
                                                       Bytes bytes,
                                                       const driver::CommunicatorOptions& options);
  ~CollectiveRanks();
  CollectiveRanks(const CollectiveRanks&) = delete;
  CollectiveRanks& operator=(const CollectiveRanks&) = delete;

  driver::Communicator& communicator() { return *communicator_; }
  unsigned count() const { return static_cast<unsigned>(ranks_.size()); }
  QueueSession& session(unsigned rank) { return *ranks_[rank].session; }
  driver::ExecutionStream& stream(unsigned rank) { return *ranks_[rank].stream; }
  // Inputs where they are compared later: `verify` bytes of each block, in windows.
  Status prepare(const CollectiveProblem& problem, Bytes verify);
  // What was compared, in bytes.
  Result<Bytes> compare(const CollectiveProblem& problem, Bytes verify);

  // By the cards' own clocks, behind a barrier: from the first rank's begin to the last one's end.
  Result<MeasuredSpan> run(const CollectiveProblem& problem, driver::CollectiveAlgorithm algorithm,
                           unsigned times);
  // The same of any operation, `times` one behind the other; `most`: how long each may take.
  using Part = std::function<Result<driver::StreamMark>(unsigned rank)>;
  Result<MeasuredSpan> run(const Part& part, unsigned times, Picoseconds most);
  Status close();

 private:
  struct Rank {
    std::unique_ptr<driver::Device> device;
    std::unique_ptr<QueueSession> session;
    std::unique_ptr<driver::ArgumentPool> arguments;
    std::unique_ptr<driver::ExecutionStream> stream;
    platform::DmaMemory* times = nullptr;  // of the host: begin and end, ns
    driver::DeviceAddress from, to;
    Status status;
  };
  using Visit =
      std::function<Status(Rank&, unsigned rank, unsigned block, std::uint64_t first, Bytes size)>;

  explicit CollectiveRanks(Context& context) : context_(context) {}
  Status open(Rank& rank, const driver::ScanResult& found, unsigned number, Bytes bytes);
  Status for_windows(const CollectiveProblem& problem, unsigned blocks, Bytes verify,
                     const Visit& visit);
  Status run_rank(Rank& rank, unsigned number, const Part& part, unsigned times, Picoseconds most);
  Result<driver::StreamMark> call(Rank& rank, unsigned number, const CollectiveProblem& problem,
                                  driver::CollectiveAlgorithm algorithm);
  std::uint64_t time_of(const Rank& rank, unsigned which) const;

  Context& context_;
  std::vector<Rank> ranks_;
  std::unique_ptr<driver::Communicator> communicator_;
};

}  // namespace npu::workloads
