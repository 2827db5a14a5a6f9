// SPDX-License-Identifier: Apache-2.0
// The operations as their callers know them.
#include <fmt/format.h>

#include <algorithm>

#include "driver/collectives/communicator_impl.hpp"

namespace npu::driver {
namespace {

using Operation = CollectiveOperation;

Status check_reduction(const CollectiveCall& call, Reduction reduction) {
  if (abi::can_reduce(call.type, reduction)) return {};
  return fail(
      ErrorCode::kUnsupported,
      fmt::format("reduction {} of type {}: the engines compute sum, maximum and minimum of "
                  "int8, int16, int32, fp16, bf16 and fp32",
                  static_cast<unsigned>(reduction), static_cast<unsigned>(call.type)));
}

Status check_rank(unsigned rank, unsigned ranks) {
  if (rank < ranks) return {};
  return fail(ErrorCode::kInvalidArgument, fmt::format("no rank {} of {}", rank, ranks));
}

Status check_counts(const VectorCounts& counts, unsigned ranks) {
  if (counts.counts.size() == ranks && counts.offsets.size() == ranks) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} counts and {} offsets for {} ranks", counts.counts.size(),
                          counts.offsets.size(), ranks));
}

tl::unexpected<Error> own_counts_differ() {
  return fail(ErrorCode::kInvalidArgument,
              "what a rank sends to itself and receives differ in size");
}

PlanItem item_of(const VectorCounts& counts, unsigned rank, Bytes size) {
  return {counts.offsets[rank] * size, counts.counts[rank] * size};
}

}  // namespace

Result<StreamMark> Communicator::all_reduce(unsigned rank, const CollectiveCall& call,
                                            DeviceAddress from, DeviceAddress to,
                                            std::uint64_t count, Reduction reduction) {
  if (auto ok = impl_->check(rank, call, {from, to}); !ok) return forward_error(ok);
  if (auto ok = check_reduction(call, reduction); !ok) return forward_error(ok);
  return impl_->run(rank, call, {from, to, call.type, reduction},
                    {Operation::kAllReduce, {}, count});
}

Result<StreamMark> Communicator::all_gather(unsigned rank, const CollectiveCall& call,
                                            DeviceAddress from, DeviceAddress to,
                                            std::uint64_t count) {
  if (auto ok = impl_->check(rank, call, {from, to}); !ok) return forward_error(ok);
  return impl_->run(rank, call, {from, to}, {Operation::kAllGather, {}, count});
}

Result<StreamMark> Communicator::reduce_scatter(unsigned rank, const CollectiveCall& call,
                                                DeviceAddress from, DeviceAddress to,
                                                std::uint64_t count, Reduction reduction) {
  if (auto ok = impl_->check(rank, call, {from, to}); !ok) return forward_error(ok);
  if (auto ok = check_reduction(call, reduction); !ok) return forward_error(ok);
  return impl_->run(rank, call, {from, to, call.type, reduction},
                    {Operation::kReduceScatter, {}, count});
}

Result<StreamMark> Communicator::broadcast(unsigned rank, const CollectiveCall& call,
                                           DeviceAddress data, std::uint64_t count, unsigned root) {
  if (auto ok = impl_->check(rank, call, {data}); !ok) return forward_error(ok);
  if (auto ok = check_rank(root, ranks()); !ok) return forward_error(ok);
  return impl_->run(rank, call, {data, data}, {Operation::kBroadcast, {}, count, 1, root});
}

Result<StreamMark> Communicator::reduce(unsigned rank, const CollectiveCall& call,
                                        DeviceAddress from, DeviceAddress to, std::uint64_t count,
                                        Reduction reduction, unsigned root) {
  if (auto ok = impl_->check(rank, call, {from, rank == root ? to : from}); !ok) {
    return forward_error(ok);
  }
  if (auto ok = check_rank(root, ranks()); !ok) return forward_error(ok);
  if (auto ok = check_reduction(call, reduction); !ok) return forward_error(ok);
  return impl_->run(rank, call, {from, to, call.type, reduction},
                    {Operation::kReduce, {}, count, 1, root});
}

Result<StreamMark> Communicator::scatter(unsigned rank, const CollectiveCall& call,
                                         DeviceAddress from, DeviceAddress to, std::uint64_t count,
                                         unsigned root) {
  if (auto ok = impl_->check(rank, call, {rank == root ? from : to, to}); !ok) {
    return forward_error(ok);
  }
  if (auto ok = check_rank(root, ranks()); !ok) return forward_error(ok);
  return impl_->run(rank, call, {from, to}, {Operation::kScatter, {}, count, 1, root});
}

Result<StreamMark> Communicator::all_to_all(unsigned rank, const CollectiveCall& call,
                                            DeviceAddress from, DeviceAddress to,
                                            std::uint64_t count) {
  if (auto ok = impl_->check(rank, call, {from, to}); !ok) return forward_error(ok);
  return impl_->run(rank, call, {from, to}, {Operation::kAllToAll, {}, count});
}

Result<StreamMark> Communicator::all_to_all_v(unsigned rank, const CollectiveCall& call,
                                              DeviceAddress from, DeviceAddress to,
                                              const VectorCounts& send,
                                              const VectorCounts& receive) {
  if (auto ok = impl_->check(rank, call, {from, to}); !ok) return forward_error(ok);
  if (auto ok = check_counts(send, ranks()); !ok) return forward_error(ok);
  if (auto ok = check_counts(receive, ranks()); !ok) return forward_error(ok);
  ExchangeRequest request;
  for (unsigned i = 0; i < ranks(); ++i) {
    request.sends.push_back(item_of(send, i, abi::element_size(call.type)));
    request.receives.push_back(item_of(receive, i, abi::element_size(call.type)));
  }
  if (send.counts[rank] != receive.counts[rank]) return own_counts_differ();
  return impl_->run_with_all(rank, call, {from, to}, request);
}

Result<StreamMark> Communicator::all_gather_v(unsigned rank, const CollectiveCall& call,
                                              DeviceAddress from, DeviceAddress to,
                                              const VectorCounts& parts) {
  if (auto ok = impl_->check(rank, call, {from, to}); !ok) return forward_error(ok);
  if (auto ok = check_counts(parts, ranks()); !ok) return forward_error(ok);
  const Bytes size = abi::element_size(call.type);
  ExchangeRequest request;
  request.one_item = true;
  for (unsigned i = 0; i < ranks(); ++i) {
    request.sends.push_back({0, parts.counts[rank] * size});
    request.receives.push_back(item_of(parts, i, size));
  }
  return impl_->run_with_all(rank, call, {from, to}, request);
}

Result<StreamMark> Communicator::reduce_scatter_v(unsigned rank, const CollectiveCall& call,
                                                  DeviceAddress from, DeviceAddress to,
                                                  const VectorCounts& parts, Reduction reduction) {
  if (auto ok = impl_->check(rank, call, {from, to}); !ok) return forward_error(ok);
  if (auto ok = check_reduction(call, reduction); !ok) return forward_error(ok);
  if (auto ok = check_counts(parts, ranks()); !ok) return forward_error(ok);
  const Bytes size = abi::element_size(call.type);
  ExchangeRequest request;
  request.reduces = true;
  for (unsigned i = 0; i < ranks(); ++i) {
    request.sends.push_back(item_of(parts, i, size));
    request.receives.push_back({0, parts.counts[rank] * size});
  }
  return impl_->run_with_all(rank, call, {from, to, call.type, reduction}, request);
}

Result<StreamMark> Communicator::send(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                                      std::uint64_t count, unsigned to_rank) {
  if (to_rank == rank) return fail(ErrorCode::kInvalidArgument, "a rank sends to itself");
  return transfer(rank, call, {{true, to_rank, from, count * abi::element_size(call.type)}});
}

Result<StreamMark> Communicator::receive(unsigned rank, const CollectiveCall& call,
                                         DeviceAddress to, std::uint64_t count,
                                         unsigned from_rank) {
  if (from_rank == rank) return fail(ErrorCode::kInvalidArgument, "a rank receives from itself");
  return transfer(rank, call, {{false, from_rank, to, count * abi::element_size(call.type)}});
}

// The n-th ones of all peers go together. Both ranks of a pair count them in the same way.
Result<StreamMark> Communicator::transfer(unsigned rank, const CollectiveCall& call,
                                          const std::vector<PeerTransfer>& transfers) {
  if (auto ok = impl_->check(rank, call, {}); !ok) return forward_error(ok);
  std::vector<ExchangeRequest> requests;
  std::vector<std::size_t> sends(ranks()), receives(ranks());
  for (const auto& each : transfers) {
    if (auto ok = check_rank(each.peer, ranks()); !ok) return forward_error(ok);
    const auto number = each.sends ? sends[each.peer]++ : receives[each.peer]++;
    if (number == requests.size()) {
      requests.push_back({std::vector<PlanItem>(ranks()), std::vector<PlanItem>(ranks())});
    }
    auto& items = each.sends ? requests[number].sends : requests[number].receives;
    items[each.peer] = {each.at.value, each.size};
  }
  if (auto ok = impl_->check_peers(rank, call, transfers); !ok) return forward_error(ok);
  for (const auto& request : requests) {
    if (request.sends[rank].size == request.receives[rank].size) continue;
    return own_counts_differ();
  }
  return impl_->run(rank, call, {}, requests);
}

Result<StreamMark> Communicator::barrier(unsigned rank, const CollectiveCall& call) {
  if (auto ok = impl_->check(rank, call, {}); !ok) return forward_error(ok);
  return impl_->run(rank, call, {}, {Operation::kBarrier, {}, 0});
}

Result<StreamMark> Communicator::moe_dispatch(unsigned rank, const CollectiveCall& call,
                                              const ExpertShape& shape,
                                              const DispatchTensors& tensors) {
  return impl_->dispatch(rank, call, shape, tensors);
}

Result<StreamMark> Communicator::moe_combine(unsigned rank, const CollectiveCall& call,
                                             const ExpertShape& shape,
                                             const CombineTensors& tensors) {
  return impl_->combine(rank, call, shape, tensors);
}

}  // namespace npu::driver
