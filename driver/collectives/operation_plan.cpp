// SPDX-License-Identifier: Apache-2.0
#include "driver/collectives/operation_plan.hpp"

#include <algorithm>

namespace npu::driver {
namespace {

using Algorithm = CollectiveAlgorithm;
using Operation = CollectiveOperation;

// A turn of an operation as one rank sees it.
struct Turn {
  const PlanRequest& request;
  const PlanRank& me;
  Bytes first, size;  // of the part, in bytes

  // Of rank `part`'s part, where the caller's memory has one per rank.
  Bytes at(unsigned part) const { return part * request.count * request.element + first; }
};

unsigned power_of_two_up_to(unsigned ranks) {
  unsigned power = 1;
  while (2 * power <= ranks) power *= 2;
  return power;
}

// Chunks of the whole buffer, `size` bytes for each rank.
PlanChunks rows(Bytes size, unsigned ranks) {
  PlanChunks chunks;
  for (unsigned i = 0; i < ranks; ++i) chunks.push_back({i * size, (i + 1) * size});
  return chunks;
}

PlanChunks placed(const PlanRequest& request, const PlanChunks& chunks) {
  return request.algorithm == Algorithm::kNhr ? in_nhr_order(chunks) : chunks;
}

// Elements of a turn, a chunk for each rank.
PlanChunks dealt(const Turn& turn) {
  const auto& request = turn.request;
  return placed(request, deal(turn.size / request.element, request.element, turn.me.ranks));
}

// The last part of a plan: copies alone.
void copy_out(Plan& plan, const PlanCopy& copy) {
  if (plan.empty() || !plan.back().reads.empty() || !plan.back().readers.empty())
    plan.push_back({});
  plan.back().copies.push_back(copy);
}

void copy_in(Plan& plan, const PlanCopy& copy) {
  if (plan.empty()) plan.push_back({});
  plan.front().copies.insert(plan.front().copies.begin(), copy);
}

bool is_mesh(Algorithm algorithm) {
  return algorithm == Algorithm::kMesh || algorithm == Algorithm::kOneShot;
}

// Of a turn that lies in chunks, in the caller's memory and so in the buffer.
void reduce_scatter_by(Algorithm algorithm, Plan& plan, const Turn& turn,
                       const PlanChunks& chunks) {
  if (algorithm == Algorithm::kMesh) {
    PlanChunks from = chunks;
    for (auto& chunk : from) {
      chunk.begin += turn.first;
      chunk.end += turn.first;
    }
    return reduce_scatter_mesh(plan, turn.me, from, chunks);
  }
  if (algorithm == Algorithm::kRing) {
    reduce_scatter_ring(plan, turn.me, chunks);
  } else {
    reduce_scatter_nhr(plan, turn.me, chunks);
  }
  copy_in(plan, {{PlanMemory::kFrom, turn.first}, {}, turn.size});
}

// Over the whole buffer, and from there to `to`, if that is elsewhere. A mesh reads to there.
void all_gather_by(Algorithm algorithm, Plan& plan, const PlanRank& me, const PlanChunks& chunks,
                   PlanPlace to) {
  if (algorithm == Algorithm::kMesh) return all_gather_mesh(plan, me, chunks, to);
  if (algorithm == Algorithm::kRing) {
    all_gather_ring(plan, me, chunks);
  } else {
    all_gather_nhr(plan, me, chunks);
  }
  if (to.memory != PlanMemory::kBuffer) copy_out(plan, {{}, to, bytes_of(chunks)});
}

// Everybody reads all of everybody else.
Plan one_shot_reduction(const Turn& turn, bool here) {
  Plan plan(1);
  auto& step = plan.back();
  step.copies.push_back({{PlanMemory::kFrom, turn.first}, {}, turn.size});
  if (here)
    step.copies.push_back(
        {{PlanMemory::kFrom, turn.first}, {PlanMemory::kTo, turn.first}, turn.size});
  turn.me.for_peers([&](unsigned peer) {
    const bool reads = turn.request.operation == Operation::kAllReduce || peer == turn.request.root;
    if (here) step.reads.push_back({peer, 0, {PlanMemory::kTo, turn.first}, turn.size, true});
    if (reads) step.readers.push_back(peer);
  });
  return plan;
}

// Ranks of no power of two: of the first pairs the second member's data go to the first member and
// come back from it.
void halving_doubling(Plan& plan, const Turn& turn) {
  const auto& me = turn.me;
  const unsigned active = power_of_two_up_to(me.ranks), pairs = me.ranks - active;
  const PlanRange all{0, turn.size};
  std::vector<unsigned> names;
  for (unsigned i = 0; i < active; ++i) names.push_back(i < pairs ? 2 * i : i + pairs);
  const bool paired = me.rank < 2 * pairs;
  const unsigned partner = me.rank ^ 1U;
  if (paired && me.rank % 2 == 1) {
    plan.push_back({{}, {}, {partner}, false, {}});
    plan.push_back({{}, {{partner, 0, {}, all.size(), false}}, {}, false, {}});
    return;
  }
  if (paired) plan.push_back({{}, {{partner, 0, {}, all.size(), true}}, {}, false, {}});
  const PlanRank inner{paired ? me.rank / 2 : me.rank - pairs, active};
  const auto chunks = deal(turn.size / turn.request.element, turn.request.element, active);
  reduce_scatter_halving(plan, inner, chunks, names);
  all_gather_doubling(plan, inner, chunks, names);
  if (paired) plan.push_back({{}, {}, {partner}, false, {}});
}

Plan all_reduce(const Turn& turn) {
  const auto algorithm = turn.request.algorithm;
  if (algorithm == Algorithm::kOneShot) return one_shot_reduction(turn, true);
  Plan plan;
  const auto chunks = dealt(turn);
  const PlanPlace to{PlanMemory::kTo, turn.first};
  if (algorithm == Algorithm::kHalvingDoubling) {
    halving_doubling(plan, turn);
    copy_out(plan, {{}, to, turn.size});
    copy_in(plan, {{PlanMemory::kFrom, turn.first}, {}, turn.size});
  } else {
    reduce_scatter_by(algorithm, plan, turn, chunks);
    all_gather_by(algorithm, plan, turn.me, chunks, to);
  }
  return plan;
}

Plan all_gather(const Turn& turn) {
  const auto& me = turn.me;
  Plan plan;
  if (is_mesh(turn.request.algorithm)) {
    PlanStep step;
    step.copies.push_back({{PlanMemory::kFrom, turn.first}, {}, turn.size});
    step.beside.push_back(
        {{PlanMemory::kFrom, turn.first}, {PlanMemory::kTo, turn.at(me.rank)}, turn.size});
    me.for_peers([&](unsigned peer) {
      step.reads.push_back({peer, 0, {PlanMemory::kTo, turn.at(peer)}, turn.size, false});
      step.readers.push_back(peer);
    });
    plan.push_back(std::move(step));
    return plan;
  }
  const auto chunks = placed(turn.request, rows(turn.size, me.ranks));
  all_gather_by(turn.request.algorithm, plan, me, chunks, {});
  copy_in(
      plan,
      {{PlanMemory::kFrom, turn.first}, {PlanMemory::kBuffer, chunks[me.rank].begin}, turn.size});
  for (unsigned i = 0; i < me.ranks; ++i) {
    copy_out(plan,
             {{PlanMemory::kBuffer, chunks[i].begin}, {PlanMemory::kTo, turn.at(i)}, turn.size});
  }
  return plan;
}

Plan reduce_scatter(const Turn& turn) {
  const auto& me = turn.me;
  PlanChunks from;
  for (unsigned i = 0; i < me.ranks; ++i) from.push_back({turn.at(i), turn.at(i) + turn.size});
  Plan plan;
  PlanPlace result;
  if (is_mesh(turn.request.algorithm)) {
    reduce_scatter_mesh(plan, me, from, PlanChunks(me.ranks, {0, turn.size}));
  } else {
    const auto chunks = placed(turn.request, rows(turn.size, me.ranks));
    if (turn.request.algorithm == Algorithm::kRing) {
      reduce_scatter_ring(plan, me, chunks);
    } else {
      reduce_scatter_nhr(plan, me, chunks);
    }
    for (unsigned i = 0; i < me.ranks; ++i) {
      copy_in(
          plan,
          {{PlanMemory::kFrom, from[i].begin}, {PlanMemory::kBuffer, chunks[i].begin}, turn.size});
    }
    result.offset = chunks[me.rank].begin;
  }
  copy_out(plan, {result, {PlanMemory::kTo, turn.first}, turn.size});
  return plan;
}

// The root's data: to everybody at once, or a chunk to each, which all then gather.
Plan broadcast(const Turn& turn) {
  const auto& me = turn.me;
  const bool root = me.rank == turn.request.root;
  Plan plan(1);
  auto& step = plan.back();
  if (root) step.copies.push_back({{PlanMemory::kTo, turn.first}, {}, turn.size});
  if (turn.request.algorithm == Algorithm::kOneShot) {
    if (root) me.for_peers([&](unsigned peer) { step.readers.push_back(peer); });
    if (!root) {
      step.reads.push_back({turn.request.root, 0, {PlanMemory::kTo, turn.first}, turn.size, false});
    }
    return plan;
  }
  const auto chunks = dealt(turn);
  const auto& own = chunks[me.rank];
  if (root) {
    me.for_peers([&](unsigned peer) {
      if (chunks[peer].size() != 0) step.readers.push_back(peer);
    });
  } else if (own.size() != 0) {
    step.reads.push_back(
        {turn.request.root, own.begin, {PlanMemory::kBuffer, own.begin}, own.size(), false});
  }
  all_gather_by(turn.request.algorithm, plan, me, chunks,
                root ? PlanPlace{} : PlanPlace{PlanMemory::kTo, turn.first});
  return plan;
}

// To the root at once, or each its chunk, which the root then reads.
Plan reduce(const Turn& turn) {
  const auto& me = turn.me;
  const bool root = me.rank == turn.request.root;
  if (turn.request.algorithm == Algorithm::kOneShot) return one_shot_reduction(turn, root);
  const auto chunks = dealt(turn);
  Plan plan;
  reduce_scatter_by(turn.request.algorithm, plan, turn, chunks);
  PlanStep step;
  const auto& own = chunks[me.rank];
  const auto place = [&](const PlanRange& chunk) {
    return PlanPlace{PlanMemory::kTo, turn.first + chunk.begin};
  };
  if (root) {
    step.copies.push_back({{PlanMemory::kBuffer, own.begin}, place(own), own.size()});
    me.for_peers([&](unsigned peer) {
      const auto& chunk = chunks[peer];
      if (chunk.size() != 0) {
        step.reads.push_back({peer, chunk.begin, place(chunk), chunk.size(), false});
      }
    });
  } else if (own.size() != 0) {
    step.readers.push_back(turn.request.root);
  }
  plan.push_back(std::move(step));
  return plan;
}

Plan scatter(const Turn& turn) {
  const auto& me = turn.me;
  Plan plan(1);
  auto& step = plan.back();
  const PlanPlace to{PlanMemory::kTo, turn.first};
  if (me.rank != turn.request.root) {
    step.reads.push_back({turn.request.root, me.rank * turn.size, to, turn.size, false});
    return plan;
  }
  me.for_peers([&](unsigned peer) {
    step.copies.push_back(
        {{PlanMemory::kFrom, turn.at(peer)}, {PlanMemory::kBuffer, peer * turn.size}, turn.size});
    step.readers.push_back(peer);
  });
  step.beside.push_back({{PlanMemory::kFrom, turn.at(me.rank)}, to, turn.size});
  return plan;
}

Plan all_to_all(const Turn& turn) {
  const auto& me = turn.me;
  Plan plan(1);
  for (unsigned i = 0; i < me.ranks; ++i) {
    const PlanPlace from{PlanMemory::kFrom, turn.at(i)};
    if (i == me.rank) {
      plan.back().beside.push_back({from, {PlanMemory::kTo, turn.at(i)}, turn.size});
    } else {
      plan.back().copies.push_back({from, {PlanMemory::kBuffer, i * turn.size}, turn.size});
    }
  }
  const bool pairwise = turn.request.algorithm == Algorithm::kPairwise;
  for (unsigned i = 1; i < me.ranks; ++i) {
    if (pairwise && i > 1) plan.push_back({});
    const unsigned peer = me.before(i);
    plan.back().reads.push_back(
        {peer, me.rank * turn.size, {PlanMemory::kTo, turn.at(peer)}, turn.size, false});
    plan.back().readers.push_back(me.behind(i));
  }
  return plan;
}

// A rank meets those so far before and behind it.
PlanStep meeting(const PlanRank& me, unsigned distance) {
  PlanStep step;
  step.meets = true;
  const unsigned behind = me.behind(distance), before = me.before(distance);
  if (behind != me.rank) step.readers.push_back(behind);
  if (before != behind) step.readers.push_back(before);
  return step;
}

// By ring: each meets its neighbours, and so knows after half the way round that all have come. By
// NHR: those twice as far in each step, before which it knows of 2 * distance - 1 ranks.
Plan barrier(Algorithm algorithm, const PlanRank& me) {
  if (algorithm == Algorithm::kRing) return Plan(me.ranks / 2, meeting(me, 1));
  Plan plan;
  if (algorithm == Algorithm::kNhr) {
    for (unsigned i = 1; 2 * i - 1 < me.ranks; i *= 2) plan.push_back(meeting(me, i));
    return plan;
  }
  PlanStep step;
  step.meets = true;
  me.for_peers([&](unsigned peer) { step.readers.push_back(peer); });
  plan.push_back(std::move(step));
  return plan;
}

}  // namespace

std::uint64_t elements_per_turn(const PlanRequest& request, unsigned ranks, Bytes buffer) {
  const bool gathers =
      request.operation == Operation::kAllGather || request.operation == Operation::kReduceScatter;
  const bool parts = request.operation == Operation::kScatter ||
                     request.operation == Operation::kAllToAll ||
                     (gathers && !is_mesh(request.algorithm));
  return (parts ? buffer / ranks : buffer) / request.element;
}

Plan make_plan(const PlanRequest& request, const PlanRank& me, std::uint64_t first,
               std::uint64_t elements) {
  const Turn turn{request, me, first * request.element, elements * request.element};
  switch (request.operation) {
    case Operation::kAllReduce:
      return all_reduce(turn);
    case Operation::kAllGather:
      return all_gather(turn);
    case Operation::kReduceScatter:
      return reduce_scatter(turn);
    case Operation::kBroadcast:
      return broadcast(turn);
    case Operation::kReduce:
      return reduce(turn);
    case Operation::kScatter:
      return scatter(turn);
    case Operation::kAllToAll:
      return all_to_all(turn);
    case Operation::kBarrier:
      return barrier(request.algorithm, me);
    default:
      return {};  // those that are exchanges
  }
}

}  // namespace npu::driver
