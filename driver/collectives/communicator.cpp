// SPDX-License-Identifier: Apache-2.0
// The communicator itself: set-up, choice of algorithms, and parts.
#include <fmt/format.h>

#include <algorithm>

#include "driver/collectives/communicator_impl.hpp"
#include "driver/collectives/vector_part.hpp"
#include "driver/queue/process_impl.hpp"
#include "driver/support/impl_of.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

using Algorithm = CollectiveAlgorithm;
using Operation = CollectiveOperation;

constexpr Bytes kLargestBuffer = Bytes{4} << 30;

bool works_with_neighbours(Operation operation, Algorithm algorithm) {
  return algorithm == Algorithm::kRing &&
         (operation == Operation::kAllReduce || operation == Operation::kAllGather ||
          operation == Operation::kReduceScatter || operation == Operation::kBarrier);
}

Status check_algorithm(Operation operation, Algorithm algorithm) {
  if (has_algorithm(operation, algorithm)) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} has no algorithm {}", to_string(operation), to_string(algorithm)));
}

Status check_options(const std::vector<CommunicatorRank>& ranks,
                     const CommunicatorOptions& options) {
  if (ranks.empty() || ranks.size() > kMaxRanks) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} ranks: a communicator has 1 to {}", ranks.size(), kMaxRanks));
  }
  for (const auto& rank : ranks) {
    if (rank.process == nullptr) {
      return fail(ErrorCode::kInvalidArgument, "a rank without a process");
    }
  }
  if (options.buffer < kPageSize || options.buffer > kLargestBuffer) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a buffer of {} bytes: 2 MiB to 4 GiB", options.buffer));
  }
  if (options.timeout < Picoseconds{1000}) {
    return fail(ErrorCode::kInvalidArgument, "a timeout below 1 ns");
  }
  if (auto known = check_vector(options.vector); !known) return known;
  for (std::size_t i = 0; i < kCollectiveOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (auto known = check_algorithm(operation, options.algorithms[i]); !known) return known;
  }
  return {};
}

tl::unexpected<Error> no_link(const std::string& what, unsigned low, unsigned high) {
  return fail(ErrorCode::kUnsupported,
              fmt::format("{}: no link between the cards of ranks {} and {}", what, low, high));
}

}  // namespace

Communicator::Impl::~Impl() {
  for (auto& member : members) static_cast<void>(member->leave(Instant{}));
}

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::~Communicator() = default;

Result<std::unique_ptr<Communicator>> Communicator::create(
    const std::vector<CommunicatorRank>& ranks, const CommunicatorOptions& options) {
  if (auto there = check_options(ranks, options); !there) return forward_error(there);
  CommunicatorOptions rounded = options;
  rounded.buffer = *checked_align_up(options.buffer, kPageSize);
  auto impl = std::make_unique<Impl>(rounded);
  const auto count = static_cast<unsigned>(ranks.size());
  for (unsigned i = 0; i < count; ++i) {
    impl->members.push_back(std::make_unique<CollectiveMember>(*ranks[i].process, i, count));
    if (auto there = impl->members.back()->open(rounded.buffer, rounded.vector); !there) {
      return forward_error(there);
    }
  }
  for (auto& member : impl->members) {
    if (auto there = member->meet(impl->members); !there) return forward_error(there);
  }
  impl->note_links();
  return std::unique_ptr<Communicator>(new Communicator(std::move(impl)));
}

unsigned Communicator::ranks() const {
  return impl_->ranks();
}

Bytes Communicator::buffer() const {
  return impl_->options.buffer;
}

CollectiveAlgorithm Communicator::choose(CollectiveOperation operation, Bytes bytes) const {
  return impl_->choose(operation, bytes);
}

// All pairs at once where there are links for it, else the neighbours alone; of many ranks those
// that differ in one bit of their numbers, or one after the other.
CollectiveAlgorithm Communicator::Impl::choose(Operation operation, Bytes bytes) const {
  const auto wanted = options.algorithms[static_cast<std::size_t>(operation)];
  if (wanted != Algorithm::kAutomatic) return wanted;
  if (unlinked && has_algorithm(operation, Algorithm::kRing)) return Algorithm::kRing;
  // A stream for each pair of so many ranks is more than they are worth.
  if (ranks() > CollectiveMember::kMostAtOnce) {
    for (const auto steps : {Algorithm::kNhr, Algorithm::kPairwise}) {
      if (has_algorithm(operation, steps)) return steps;
    }
    return Algorithm::kMesh;
  }
  const bool by_cores = options.vector.kernel.size != 0 &&
                        bytes <= options.vector.largest[static_cast<std::size_t>(operation)] &&
                        has_algorithm(operation, Algorithm::kAiv);
  if (by_cores) return Algorithm::kAiv;
  const bool small = bytes <= options.one_shot;
  return small && has_algorithm(operation, Algorithm::kOneShot) ? Algorithm::kOneShot
                                                                : Algorithm::kMesh;
}

Status Communicator::leave(unsigned rank, Instant deadline) {
  if (rank >= ranks()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("no rank {} of {}", rank, ranks()));
  }
  auto left = impl_->members[rank]->leave(deadline);
  for (auto& member : impl_->members) {
    const MutexHolder holder(member->lock());
    member->note_failure(fmt::format("rank {} has left", rank));
  }
  return left;
}

Result<std::optional<std::string>> Communicator::failure(unsigned rank) {
  if (rank >= ranks() || impl_->members[rank]->has_left()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("no rank {} of {}", rank, ranks()));
  }
  const MutexHolder holder(impl_->members[rank]->lock());
  return impl_->members[rank]->failure();
}

// --- Parts -----------------------------------------------------------------------------------

Status Communicator::Impl::check(unsigned rank, const CollectiveCall& call,
                                 const std::vector<DeviceAddress>& elements) const {
  if (rank >= ranks() || members[rank]->has_left()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("no rank {} of {}", rank, ranks()));
  }
  const Bytes size = abi::element_size(call.type);
  if (call.stream == nullptr || size == 0) {
    return fail(ErrorCode::kInvalidArgument, "no stream, or no such type");
  }
  for (const auto at : elements) {
    if (at.value % size == 0) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("address {:#x} of elements of {} bytes", at.value, size));
  }
  return {};
}

Result<CollectiveAlgorithm> Communicator::Impl::algorithm_for(const CollectiveCall& call,
                                                              Operation operation,
                                                              Bytes bytes) const {
  const auto algorithm =
      call.algorithm != Algorithm::kAutomatic ? call.algorithm : choose(operation, bytes);
  if (auto known = check_algorithm(operation, algorithm); !known) return forward_error(known);
  if (algorithm == Algorithm::kAiv) {
    if (auto can = check_vector_cores(); !can) return forward_error(can);
  }
  // Links of all ranks: one that is refused alone leaves the others waiting.
  const bool neighbours = works_with_neighbours(operation, algorithm);
  if (const auto& missing = neighbours ? unlinked_neighbours : unlinked) {
    return no_link(fmt::format("{} by {}", to_string(operation), to_string(algorithm)),
                   missing->first, missing->second);
  }
  return algorithm;
}

void Communicator::Impl::note_links() {
  for (unsigned low = 0; low < ranks(); ++low) {
    for (unsigned high = low + 1; high < ranks(); ++high) {
      if (members[low]->is_linked(high) && members[high]->is_linked(low)) continue;
      const std::pair pair(low, high);
      if (!unlinked) unlinked = pair;
      const bool neighbours = high == low + 1 || high - low + 1 == ranks();
      if (neighbours && !unlinked_neighbours) unlinked_neighbours = pair;
    }
  }
}

Status Communicator::Impl::check_peers(unsigned rank, const CollectiveCall& call,
                                       const std::vector<PeerTransfer>& transfers) const {
  if (auto known = check_algorithm(Operation::kExchange, call.algorithm); !known) return known;
  for (const auto& each : transfers) {
    if (members[rank]->is_linked(each.peer)) continue;
    return no_link(each.sends ? "send" : "receive", rank, each.peer);
  }
  return {};
}

Result<StreamMark> Communicator::Impl::run(unsigned rank, const CollectiveCall& call,
                                           const PartWriter::Data& data, PlanRequest request) {
  request.element = abi::element_size(call.type);
  const auto algorithm = algorithm_for(call, request.operation, request.count * request.element);
  if (!algorithm) return forward_error(algorithm);
  request.algorithm = *algorithm;
  const bool barrier = request.operation == Operation::kBarrier;
  if (request.count == 0 && !barrier) return call.stream->last();
  if (request.algorithm == Algorithm::kAiv) return launch(rank, call, data, request);
  return part(rank, call, data, [&](PartWriter& writer) -> Status {
    const PlanRank me{rank, ranks()};
    const auto most = elements_per_turn(request, ranks(), options.buffer);
    if (barrier) return writer.write(make_plan(request, me, 0, 0));
    for (std::uint64_t first = 0; first < request.count; first += most) {
      const auto plan = make_plan(request, me, first, std::min(most, request.count - first));
      if (auto there = writer.write(plan); !there) return there;
    }
    return {};
  });
}

Result<StreamMark> Communicator::Impl::run_with_all(unsigned rank, const CollectiveCall& call,
                                                    const PartWriter::Data& data,
                                                    const ExchangeRequest& request) {
  const auto algorithm = algorithm_for(call, Operation::kExchange, 0);
  if (!algorithm) return forward_error(algorithm);
  return run(rank, call, data, std::vector{request});
}

Result<StreamMark> Communicator::Impl::run(unsigned rank, const CollectiveCall& call,
                                           const PartWriter::Data& data,
                                           const std::vector<ExchangeRequest>& requests) {
  return part(rank, call, data, [&](PartWriter& writer) -> Status {
    for (const auto& request : requests) {
      const Bytes window = exchange_window(request, options.buffer);
      for (std::uint64_t turn = 0;; ++turn) {
        const auto plan = make_exchange(request, {rank, ranks()}, window, turn);
        if (!plan) break;
        if (auto there = writer.write(*plan); !there) return there;
      }
    }
    return {};
  });
}

Result<StreamMark> Communicator::Impl::part(unsigned rank, const CollectiveCall& call,
                                            const PartWriter::Data& data,
                                            const std::function<Status(PartWriter&)>& write) {
  auto& member = *members[rank];
  const MutexHolder holder(member.lock());
  if (const auto& failure = member.failure()) return fail(ErrorCode::kDeviceFault, *failure);
  PartWriter writer(member, rank, data, options.timeout);
  auto mark = writer.begin(*call.stream);
  if (!mark) return mark;
  auto written = write(writer);
  if (written) written = writer.end();
  if (written) return mark;
  // What is missing of the part ends the peers' waits and the caller's by their timeouts.
  member.note_failure(written.error().context);
  return forward_error(written);
}

}  // namespace npu::driver
