// SPDX-License-Identifier: Apache-2.0
// What a communicator is made of, and how a rank's part is submitted.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "driver/collectives/operation_plan.hpp"
#include "driver/collectives/part_writer.hpp"
#include "npu/abi/expert_exchange.hpp"

namespace npu::driver {

struct Communicator::Impl {
  explicit Impl(const CommunicatorOptions& wanted) : options(wanted) {}
  ~Impl();

  unsigned ranks() const { return static_cast<unsigned>(members.size()); }
  CollectiveAlgorithm choose(CollectiveOperation operation, Bytes bytes) const;
  // Arguments that every operation has. `elements`: addresses of some.
  Status check(unsigned rank, const CollectiveCall& call,
               const std::vector<DeviceAddress>& elements) const;
  // The algorithm to use, if the operation has it and the links are there: the same for each rank.
  Result<CollectiveAlgorithm> algorithm_for(const CollectiveCall& call,
                                            CollectiveOperation operation, Bytes bytes) const;
  // Fills in the pairs below, after the members have met.
  void note_links();
  // The same of an exchange with those peers alone.
  Status check_peers(unsigned rank, const CollectiveCall& call,
                     const std::vector<PeerTransfer>& transfers) const;

  // An operation with equal counts.
  Result<StreamMark> run(unsigned rank, const CollectiveCall& call, const PartWriter::Data& data,
                         PlanRequest request);
  // An exchange of all ranks with each other.
  Result<StreamMark> run_with_all(unsigned rank, const CollectiveCall& call,
                                  const PartWriter::Data& data, const ExchangeRequest& request);
  // Exchanges one after the other.
  Result<StreamMark> run(unsigned rank, const CollectiveCall& call, const PartWriter::Data& data,
                         const std::vector<ExchangeRequest>& requests);
  // That vector cores can do something at all: kUnsupported.
  Status check_vector_cores() const;
  // The words of a launch for vector cores, by its number and its timeout in ns.
  using LaunchWords =
      std::function<std::vector<std::uint64_t>(std::uint64_t number, std::uint64_t timeout)>;
  // A launch on the caller's stream, told these words and the windows' addresses; under the rank's
  // lock, behind begin_launches().
  Result<StreamMark> launch(unsigned rank, const CollectiveCall& call, std::uint32_t blocks,
                            const LaunchWords& words);
  // Launches follow each other: who changes streams waits here for the last one.
  Status begin_launches(unsigned rank, const CollectiveCall& call);
  // An operation by vector cores.
  Result<StreamMark> launch(unsigned rank, const CollectiveCall& call, const PartWriter::Data& data,
                            const PlanRequest& request);
  // Tokens to experts and back: what both check, and the launch of the words but for its number.
  Status check_exchange(unsigned rank, const CollectiveCall& call, const ExpertShape& shape) const;
  Result<StreamMark> exchange(unsigned rank, const CollectiveCall& call, const ExpertShape& shape,
                              abi::ExpertExchange work);
  Result<StreamMark> dispatch(unsigned rank, const CollectiveCall& call, const ExpertShape& shape,
                              const DispatchTensors& tensors);
  Result<StreamMark> combine(unsigned rank, const CollectiveCall& call, const ExpertShape& shape,
                             const CombineTensors& tensors);
  // The part in which `write` writes the plans.
  Result<StreamMark> part(unsigned rank, const CollectiveCall& call, const PartWriter::Data& data,
                          const std::function<Status(PartWriter&)>& write);

  const CommunicatorOptions options;
  CollectiveMember::Members members;
  // The first two ranks without a link between them, and the first of those that are neighbours.
  std::optional<std::pair<unsigned, unsigned>> unlinked, unlinked_neighbours;
};

}  // namespace npu::driver
