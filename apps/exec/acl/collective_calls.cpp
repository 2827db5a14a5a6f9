// SPDX-License-Identifier: Apache-2.0
// Collective operations: the part of a rank, in the order of its stream.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "apps/exec/acl/collectives.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;

// HcclReduceOp, of a call that is not compared with those of other ranks yet: they have refused
// theirs, and may be further. kInvalidParameter; kFeature: not of such elements.
Value<driver::Reduction> reduction_of(std::uint64_t number, std::uint64_t type) {
  using Reduction = driver::Reduction;
  constexpr Reduction kAll[] = {Reduction::kSum, Reduction::kProduct, Reduction::kMax,
                                Reduction::kMin};
  if (number >= std::size(kAll)) return fault(kInvalidParameter, "no such reduction");
  const auto elements = type_of_elements(type);
  if (!elements) return forward_fault(elements);
  if (!abi::can_reduce(*elements, kAll[number])) {
    return fault(kFeature, "the engines compute no such reduction of such elements");
  }
  return kAll[number];
}

Outcome check_peer(const Part& part, std::uint64_t peer) {
  if (peer < part.ranks()) return {};
  return fault(kInvalidParameter, "no such rank");
}

// A part and where it reads and writes: `reads` and `writes` elements.
struct Movement {
  Part part;
  DeviceAddress from, to;
};
Value<Movement> movement_of(Caller& caller, Part part, const wire::CollectiveWork& work,
                            std::uint64_t reads, std::uint64_t writes) {
  const auto from = memory_of(caller, part, work.from, reads);
  if (!from) return forward_fault(from);
  const auto to = memory_of(caller, part, work.to, writes);
  if (!to) return forward_fault(to);
  return Movement{std::move(part), *from, *to};
}

// Counts that each rank has as many of.
enum class Side : std::uint8_t { kNone, kOne, kAll };
std::uint64_t elements(Side side, const wire::CollectiveWork& work, const Part& part) {
  const std::uint64_t ranks = side == Side::kAll ? part.ranks() : 1;
  return side == Side::kNone ? 0 : work.count * ranks;
}

CollectiveSignature signature_of(Call call, const wire::CollectiveWork& work) {
  return {call, work.count, work.type, work.reduction, work.peer};
}
constexpr bool is_of_all(Call call) {
  return call != Call::kSend && call != Call::kReceive;
}

// begin(movement): the driver's operation.
template <Call kCall, class Begin>
Outcome move(Caller& caller, const CallOf<kCall>& work, Side reads, Side writes,
             const Begin& begin) {
  auto part = part_of(caller, work);
  if (!part) return forward_fault(part);
  const auto sent = elements(reads, work, *part);
  const auto received = elements(writes, work, *part);
  const auto movement = movement_of(caller, std::move(*part), work, sent, received);
  if (!movement) return forward_fault(movement);
  if (!is_of_all(kCall)) return told_of(caller, movement->part, begin(*movement));
  return begin_operation(caller, movement->part, signature_of(kCall, work),
                         [&] { return begin(*movement); });
}
// The same with a reduction: begin(movement, reduction).
template <Call kCall, class Begin>
Outcome reduce_by(Caller& caller, const CallOf<kCall>& work, Side reads, Side writes,
                  const Begin& begin) {
  const auto reduction = reduction_of(work.reduction, work.type);
  if (!reduction) return forward_fault(reduction);
  return move(caller, work, reads, writes,
              [&](const Movement& to) { return begin(to, *reduction); });
}

// Whether the rank is the root of the call. kInvalidHandle, kInvalidParameter.
Value<bool> is_root(Caller& caller, const wire::CollectiveWork& work) {
  const auto part = part_of(caller, work);
  if (!part) return forward_fault(part);
  if (auto there = check_peer(*part, work.peer); !there) return forward_fault(there);
  return part->rank() == work.peer;
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kAllReduce>& call) {
  return reduce_by(caller, call, Side::kOne, Side::kOne, [&](const Movement& move, auto reduction) {
    const auto& part = move.part;
    return part.communicator().all_reduce(part.rank(), part.call, move.from, move.to, call.count,
                                          reduction);
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kAllGather>& call) {
  return move(caller, call, Side::kOne, Side::kAll, [&](const Movement& move) {
    const auto& part = move.part;
    return part.communicator().all_gather(part.rank(), part.call, move.from, move.to, call.count);
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kReduceScatter>& call) {
  return reduce_by(caller, call, Side::kAll, Side::kOne, [&](const Movement& move, auto reduction) {
    const auto& part = move.part;
    return part.communicator().reduce_scatter(part.rank(), part.call, move.from, move.to,
                                              call.count, reduction);
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kBroadcast>& call) {
  const auto root = is_root(caller, call);
  if (!root) return forward_fault(root);
  return move(caller, call, Side::kOne, Side::kNone, [&](const Movement& move) {
    const auto& part = move.part;
    return part.communicator().broadcast(part.rank(), part.call, move.from, call.count,
                                         static_cast<unsigned>(call.peer));
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kReduceToRoot>& call) {
  const auto root = is_root(caller, call);
  if (!root) return forward_fault(root);
  const auto writes = *root ? Side::kOne : Side::kNone;
  return reduce_by(caller, call, Side::kOne, writes, [&](const Movement& move, auto reduction) {
    const auto& part = move.part;
    return part.communicator().reduce(part.rank(), part.call, move.from, move.to, call.count,
                                      reduction, static_cast<unsigned>(call.peer));
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kScatter>& call) {
  const auto root = is_root(caller, call);
  if (!root) return forward_fault(root);
  const auto reads = *root ? Side::kAll : Side::kNone;
  return move(caller, call, reads, Side::kOne, [&](const Movement& move) {
    const auto& part = move.part;
    return part.communicator().scatter(part.rank(), part.call, move.from, move.to, call.count,
                                       static_cast<unsigned>(call.peer));
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kAllToAll>& call) {
  return move(caller, call, Side::kAll, Side::kAll, [&](const Movement& move) {
    const auto& part = move.part;
    return part.communicator().all_to_all(part.rank(), part.call, move.from, move.to, call.count);
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kSend>& call) {
  const auto self = is_root(caller, call);
  if (!self) return forward_fault(self);
  return move(caller, call, Side::kOne, Side::kNone, [&](const Movement& move) {
    const auto& part = move.part;
    return part.communicator().send(part.rank(), part.call, move.from, call.count,
                                    static_cast<unsigned>(call.peer));
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kReceive>& call) {
  const auto self = is_root(caller, call);
  if (!self) return forward_fault(self);
  return move(caller, call, Side::kNone, Side::kOne, [&](const Movement& move) {
    const auto& part = move.part;
    return part.communicator().receive(part.rank(), part.call, move.to, call.count,
                                       static_cast<unsigned>(call.peer));
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kBarrier>& call) {
  return move(caller, call, Side::kNone, Side::kNone, [&](const Movement& move) {
    return move.part.communicator().barrier(move.part.rank(), move.part.call);
  });
}

namespace {

using List = std::vector<std::uint64_t>;

// Lists of the window, each with an item for every rank.
Value<std::vector<List>> lists_of(const CallWindow& call, const Part& part, std::size_t count) {
  const Bytes each = part.ranks() * sizeof(std::uint64_t);
  const auto given = call.first(each * count);
  if (!given) return forward_fault(given);
  std::vector<List> lists(count, List(part.ranks()));
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(lists[i].data(), given->data + i * each, each);
    const auto most = *std::max_element(lists[i].begin(), lists[i].end());
    if (most > wire::kMostElements) return fault(kInvalidParameter, "too many elements");
  }
  return lists;
}

// Elements up to the end of the last piece.
std::uint64_t reach(const driver::VectorCounts& pieces) {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < pieces.counts.size(); ++i) {
    if (pieces.counts[i] != 0) end = std::max(end, pieces.offsets[i] + pieces.counts[i]);
  }
  return end;
}

// The pieces of a call with one list of counts and one of offsets.
struct Pieces {
  Part part;
  driver::VectorCounts all;
};
Value<Pieces> pieces_of(Caller& caller, const wire::CollectiveWork& work, const CallWindow& call) {
  auto part = part_of(caller, work);
  if (!part) return forward_fault(part);
  auto lists = lists_of(call, *part, 2);
  if (!lists) return forward_fault(lists);
  if ((*lists)[0][part->rank()] != work.count) {
    return fault(kInvalidParameter, "the rank's own count is another one in the list of counts");
  }
  return Pieces{std::move(*part), {std::move((*lists)[0]), std::move((*lists)[1])}};
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kAllToAllV>& call) {
  const auto part = part_of(caller, call);
  if (!part) return forward_fault(part);
  const auto lists = lists_of(call, *part, 4);
  if (!lists) return forward_fault(lists);
  const driver::VectorCounts send{(*lists)[0], (*lists)[1]}, receive{(*lists)[2], (*lists)[3]};
  const auto movement = movement_of(caller, *part, call, reach(send), reach(receive));
  if (!movement) return forward_fault(movement);
  return begin_operation(caller, *part, {Call::kAllToAllV, 0, call.type, 0, 0},
                         [&] {
                           return part->communicator().all_to_all_v(part->rank(), part->call,
                                                                    movement->from, movement->to,
                                                                    send, receive);
                         },
                         {send.counts, receive.counts});
}

Outcome serve(Caller& caller, const CallOf<Call::kAllGatherV>& call) {
  const auto pieces = pieces_of(caller, call, call);
  if (!pieces) return forward_fault(pieces);
  const auto& part = pieces->part;
  const auto movement = movement_of(caller, part, call, call.count, reach(pieces->all));
  if (!movement) return forward_fault(movement);
  const CollectiveSignature all{Call::kAllGatherV, 0, call.type, 0, 0, pieces->all.counts};
  return begin_operation(caller, part, all, [&] {
    return part.communicator().all_gather_v(part.rank(), part.call, movement->from, movement->to,
                                            pieces->all);
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kReduceScatterV>& call) {
  const auto reduction = reduction_of(call.reduction, call.type);
  if (!reduction) return forward_fault(reduction);
  const auto pieces = pieces_of(caller, call, call);
  if (!pieces) return forward_fault(pieces);
  const auto& part = pieces->part;
  const auto movement = movement_of(caller, part, call, reach(pieces->all), call.count);
  if (!movement) return forward_fault(movement);
  const CollectiveSignature all{Call::kReduceScatterV, 0, call.type,
                                call.reduction,        0, pieces->all.counts};
  return begin_operation(caller, part, all, [&] {
    return part.communicator().reduce_scatter_v(part.rank(), part.call, movement->from,
                                                movement->to, pieces->all, *reduction);
  });
}

Outcome serve(Caller& caller, const CallOf<Call::kSendReceive>& call) {
  if (call.count > wire::kMostItems) return fault(kInvalidParameter, "too many items");
  const auto given = call.first(call.count * sizeof(wire::SendReceiveItem));
  if (!given) return forward_fault(given);
  std::vector<wire::SendReceiveItem> items(call.count);
  if (!items.empty()) std::memcpy(items.data(), given->data, given->size);
  auto part = part_of(caller, call);
  if (!part) return forward_fault(part);
  std::vector<driver::PeerTransfer> transfers;
  for (const auto& item : items) {
    if (auto there = check_peer(*part, item.peer); !there) return there;
    const auto type = type_of_elements(item.type);
    if (!type) return forward_fault(type);
    part->call.type = *type;
    const auto at = memory_of(caller, *part, item.address, item.count);
    if (!at) return forward_fault(at);
    transfers.push_back({item.receives == 0, static_cast<unsigned>(item.peer), *at,
                         item.count * abi::element_size(*type)});
  }
  part->call.type = driver::CollectiveType::kUint8;
  return told_of(caller, *part, part->communicator().transfer(part->rank(), part->call, transfers));
}

}  // namespace npu::exec::acl
