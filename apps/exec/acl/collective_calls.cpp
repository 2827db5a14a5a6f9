// SPDX-License-Identifier: Apache-2.0
// Collective operations: the part of a rank, in the order of its stream.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/exec/acl/collectives.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;

// HcclReduceOp. kInvalidParameter.
Value<driver::Reduction> reduction_of(std::uint64_t number) {
  using Reduction = driver::Reduction;
  constexpr Reduction kAll[] = {Reduction::kSum, Reduction::kProduct, Reduction::kMax,
                                Reduction::kMin};
  if (number >= std::size(kAll)) return fault(kInvalidParameter, "no such reduction");
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

// begin(movement): the driver's operation.
template <class Begin>
Outcome move(Caller& caller, const wire::CollectiveWork& work, Side reads, Side writes,
             const Begin& begin) {
  auto part = part_of(caller, work);
  if (!part) return forward_fault(part);
  const auto sent = elements(reads, work, *part);
  const auto received = elements(writes, work, *part);
  const auto movement = movement_of(caller, std::move(*part), work, sent, received);
  if (!movement) return forward_fault(movement);
  return told_of(caller, movement->part, begin(*movement));
}
// The same with a reduction: begin(movement, reduction).
template <class Begin>
Outcome reduce_by(Caller& caller, const wire::CollectiveWork& work, Side reads, Side writes,
                  const Begin& begin) {
  const auto reduction = reduction_of(work.reduction);
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

Outcome serve(Caller& caller, const CallOf<Call::kReduce>& call) {
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
std::uint64_t reach(const List& counts, const List& offsets) {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) end = std::max(end, offsets[i] + counts[i]);
  }
  return end;
}

Outcome move_pieces(Caller& caller, const wire::CollectiveWork& work, const Part& part,
                    const driver::VectorCounts& counts) {
  const auto movement =
      movement_of(caller, part, work, reach(counts.send_counts, counts.send_offsets),
                  reach(counts.receive_counts, counts.receive_offsets));
  if (!movement) return forward_fault(movement);
  return told_of(caller, part,
                 part.communicator().all_to_all_v(part.rank(), part.call, movement->from,
                                                  movement->to, counts));
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kAllToAllV>& call) {
  const auto part = part_of(caller, call);
  if (!part) return forward_fault(part);
  const auto lists = lists_of(call, *part, 4);
  if (!lists) return forward_fault(lists);
  return move_pieces(caller, call, *part, {(*lists)[0], (*lists)[1], (*lists)[2], (*lists)[3]});
}

// Every rank has the same for all.
Outcome serve(Caller& caller, const CallOf<Call::kAllGatherV>& call) {
  const auto part = part_of(caller, call);
  if (!part) return forward_fault(part);
  const auto lists = lists_of(call, *part, 2);
  if (!lists) return forward_fault(lists);
  if ((*lists)[0][part->rank()] != call.count) {
    return fault(kInvalidParameter, "the rank sends another count than it receives of itself");
  }
  return move_pieces(
      caller, call, *part,
      {List(part->ranks(), call.count), List(part->ranks()), (*lists)[0], (*lists)[1]});
}

// A reduction to each rank in turn.
Outcome serve(Caller& caller, const CallOf<Call::kReduceScatterV>& call) {
  const auto part = part_of(caller, call);
  if (!part) return forward_fault(part);
  const auto reduction = reduction_of(call.reduction);
  if (!reduction) return forward_fault(reduction);
  const auto lists = lists_of(call, *part, 2);
  if (!lists) return forward_fault(lists);
  const auto& counts = (*lists)[0];
  const auto& offsets = (*lists)[1];
  if (counts[part->rank()] != call.count) {
    return fault(kInvalidParameter, "the rank receives another count than it sends to itself");
  }
  const auto movement = movement_of(caller, *part, call, reach(counts, offsets), call.count);
  if (!movement) return forward_fault(movement);
  const Bytes element = abi::element_size(part->call.type);
  Outcome done;
  for (unsigned root = 0; done && root < part->ranks(); ++root) {
    if (counts[root] == 0) continue;
    done = told_of(caller, *part,
                   part->communicator().reduce(part->rank(), part->call,
                                               movement->from + offsets[root] * element,
                                               movement->to, counts[root], *reduction, root));
  }
  return done;
}

namespace {

struct Item {
  wire::SendReceiveItem what;
  Part part;  // with the item's type
  DeviceAddress at;
};

// All ranks go through their messages in one order, so that the first of those that are left is the
// next one of both its ranks: first by distance, then every other pair, whose ranks are busy with
// nobody else.
using Turn = std::tuple<unsigned, unsigned, unsigned>;
Turn turn_of(const Item& item) {
  const auto ranks = item.part.ranks();
  const auto peer = static_cast<unsigned>(item.what.peer);
  const bool receives = item.what.receives != 0;
  const unsigned source = receives ? peer : item.part.rank();
  const unsigned target = receives ? item.part.rank() : peer;
  const unsigned distance = (target + ranks - source) % ranks;
  return {distance, distance == 0 ? 0 : source / distance % 2, source};
}

Value<std::vector<Item>> items_of(Caller& caller, const CallOf<Call::kSendReceive>& call) {
  if (call.count > wire::kMostItems) return fault(kInvalidParameter, "too many items");
  const auto given = call.first(call.count * sizeof(wire::SendReceiveItem));
  if (!given) return forward_fault(given);
  std::vector<wire::SendReceiveItem> all(call.count);
  if (!all.empty()) std::memcpy(all.data(), given->data, given->size);
  std::vector<Item> items;
  for (const auto& what : all) {
    auto work = static_cast<const wire::CollectiveWork&>(call);
    work.type = what.type;
    work.count = what.count;
    auto part = part_of(caller, work);
    if (!part) return forward_fault(part);
    if (auto there = check_peer(*part, what.peer); !there) return forward_fault(there);
    const auto at = memory_of(caller, *part, what.address, what.count);
    if (!at) return forward_fault(at);
    items.push_back({what, std::move(*part), *at});
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const auto& a, const auto& b) { return turn_of(a) < turn_of(b); });
  return items;
}

Outcome begin(Caller& caller, const Item& item) {
  const auto& part = item.part;
  const auto peer = static_cast<unsigned>(item.what.peer);
  auto& communicator = part.communicator();
  return told_of(caller, part,
                 item.what.receives != 0
                     ? communicator.receive(part.rank(), part.call, item.at, item.what.count, peer)
                     : communicator.send(part.rank(), part.call, item.at, item.what.count, peer));
}

// What a rank sends to itself: the first of them to its first receive, and so on.
Outcome copy_own(const std::vector<Item>& items) {
  std::vector<const Item*> sent, received;
  for (const auto& item : items) {
    if (item.what.peer != item.part.rank()) continue;
    (item.what.receives != 0 ? received : sent).push_back(&item);
  }
  if (sent.size() != received.size()) {
    return fault(kInvalidParameter, "a rank sends to itself what it does not receive");
  }
  Outcome done;
  for (std::size_t i = 0; done && i < sent.size(); ++i) {
    const Bytes size = sent[i]->what.count * abi::element_size(sent[i]->part.call.type);
    const Bytes room = received[i]->what.count * abi::element_size(received[i]->part.call.type);
    if (size != room) return fault(kInvalidParameter, "a rank sends itself another size");
    if (size == 0) continue;
    const auto entry = driver::entries::copy_on_device(sent[i]->at, received[i]->at, size);
    done = submit(*sent[i]->part.stream, &entry, 1);
  }
  return done;
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kSendReceive>& call) {
  const auto items = items_of(caller, call);
  if (!items) return forward_fault(items);
  Outcome done = copy_own(*items);
  for (const auto& item : *items) {
    if (!done) return done;
    if (item.what.peer != item.part.rank()) done = begin(caller, item);
  }
  return done;
}

}  // namespace npu::exec::acl
