// SPDX-License-Identifier: Apache-2.0
#include "driver/collectives/phases.hpp"

#include <algorithm>
#include <numeric>

namespace npu::driver {
namespace {

PlanPlace buffer_at(Bytes offset) {
  return {PlanMemory::kBuffer, offset};
}

// To its own place in the buffer. Nothing, if it is empty.
void read_chunk(PlanStep& step, unsigned peer, const PlanRange& chunk, bool reduces) {
  if (chunk.size() == 0) return;
  step.reads.push_back({peer, chunk.begin, buffer_at(chunk.begin), chunk.size(), reduces});
}

void add_reader(PlanStep& step, unsigned reader, Bytes size) {
  if (size == 0) return;
  for (const auto known : step.readers) {
    if (known == reader) return;
  }
  step.readers.push_back(reader);
}

// From the first to behind the last of chunks that lie behind each other.
PlanRange joined(const PlanChunks& chunks, unsigned first, unsigned end) {
  return {chunks[first].begin, chunks[end - 1].end};
}

// Ranges that lie behind each other become one.
void read_chunks(PlanStep& step, unsigned peer, PlanChunks chunks, bool reduces) {
  std::sort(chunks.begin(), chunks.end(),
            [](const PlanRange& a, const PlanRange& b) { return a.begin < b.begin; });
  PlanRange now;
  for (const auto& chunk : chunks) {
    if (chunk.begin != now.end) {
      read_chunk(step, peer, now, reduces);
      now.begin = chunk.begin;
    }
    now.end = chunk.end;
  }
  read_chunk(step, peer, now, reduces);
}

// Largest power of two below `ranks`; 0: one rank.
unsigned farthest(unsigned ranks) {
  unsigned distance = 0;
  for (unsigned i = 1; i < ranks; i *= 2) distance = i;
  return distance;
}

// The chunks that `me` gets in the all-gather's step of this distance, from the rank so far before:
// those at odd multiples of the distance before its own.
PlanChunks nhr_chunks(const PlanRank& me, unsigned distance, const PlanChunks& chunks) {
  PlanChunks found;
  for (unsigned at = distance; at < me.ranks; at += 2 * distance) {
    found.push_back(chunks[me.before(at)]);
  }
  return found;
}

struct Halves {
  unsigned kept_first, kept_end, given_first, given_end;
};

// Of the chunks that `rank` and its partner have in the step of this distance.
Halves halves(unsigned rank, unsigned distance) {
  const unsigned first = rank / (2 * distance) * 2 * distance;
  const unsigned middle = first + distance, end = middle + distance;
  if ((rank & distance) == 0) return {first, middle, middle, end};
  return {middle, end, first, middle};
}

}  // namespace

Bytes bytes_of(const PlanChunks& chunks) {
  Bytes bytes = 0;
  for (const auto& chunk : chunks) bytes += chunk.size();
  return bytes;
}

PlanChunks deal(std::uint64_t elements, Bytes size, unsigned ranks) {
  PlanChunks chunks;
  const std::uint64_t each = elements / ranks, more = elements % ranks;
  Bytes at = 0;
  for (unsigned i = 0; i < ranks; ++i) {
    const Bytes bytes = size * (each + (i < more ? 1 : 0));
    chunks.push_back({at, at + bytes});
    at += bytes;
  }
  return chunks;
}

// In which even ranks are before odd ones, and so again in each half.
PlanChunks in_nhr_order(const PlanChunks& chunks) {
  std::vector<unsigned> order(chunks.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [](unsigned a, unsigned b) {
    const unsigned differs = a ^ b;
    return (a & differs & (0U - differs)) < (b & differs & (0U - differs));
  };
  std::sort(order.begin(), order.end(), before);
  PlanChunks placed(chunks.size());
  for (std::size_t i = 0; i < order.size(); ++i) placed[order[i]] = chunks[i];
  return placed;
}

void reduce_scatter_mesh(Plan& plan, const PlanRank& me, const PlanChunks& from,
                         const PlanChunks& to) {
  PlanStep step;
  const auto place = [&from](unsigned rank) {
    return PlanPlace{PlanMemory::kFrom, from[rank].begin};
  };
  const Bytes own = from[me.rank].size();
  step.copies.push_back({place(me.rank), buffer_at(to[me.rank].begin), own});
  me.for_peers([&](unsigned peer) {
    add_reader(step, peer, own);
    if (from[peer].size() == 0) return;
    step.writes.push_back({peer, place(peer), to[peer].begin, from[peer].size()});
  });
  plan.push_back(std::move(step));
}

void all_gather_mesh(Plan& plan, const PlanRank& me, const PlanChunks& chunks, PlanPlace to) {
  PlanStep step;
  const auto& own = chunks[me.rank];
  const auto place = [&](const PlanRange& chunk) {
    return PlanPlace{to.memory, to.offset + chunk.begin};
  };
  step.beside.push_back({buffer_at(own.begin), place(own), own.size()});
  me.for_peers([&](unsigned peer) {
    const auto& chunk = chunks[peer];
    add_reader(step, peer, own.size());
    if (chunk.size() == 0) return;
    step.reads.push_back({peer, chunk.begin, place(chunk), chunk.size(), false});
  });
  plan.push_back(std::move(step));
}

void reduce_scatter_ring(Plan& plan, const PlanRank& me, const PlanChunks& chunks) {
  for (unsigned i = 0; i + 1 < me.ranks; ++i) {
    PlanStep step;
    read_chunk(step, me.before(1), chunks[me.before(2 + i)], true);
    add_reader(step, me.behind(1), chunks[me.before(1 + i)].size());
    plan.push_back(std::move(step));
  }
}

void all_gather_ring(Plan& plan, const PlanRank& me, const PlanChunks& chunks) {
  for (unsigned i = 0; i + 1 < me.ranks; ++i) {
    PlanStep step;
    read_chunk(step, me.before(1), chunks[me.before(1 + i)], false);
    add_reader(step, me.behind(1), chunks[me.before(i)].size());
    plan.push_back(std::move(step));
  }
}

// The all-gather backwards: who gave there gets here.
void reduce_scatter_nhr(Plan& plan, const PlanRank& me, const PlanChunks& chunks) {
  for (unsigned distance = 1; distance < me.ranks; distance *= 2) {
    PlanStep step;
    const unsigned giver = me.behind(distance);
    read_chunks(step, giver, nhr_chunks({giver, me.ranks}, distance, chunks), true);
    add_reader(step, me.before(distance), bytes_of(nhr_chunks(me, distance, chunks)));
    plan.push_back(std::move(step));
  }
}

void all_gather_nhr(Plan& plan, const PlanRank& me, const PlanChunks& chunks) {
  for (unsigned distance = farthest(me.ranks); distance != 0; distance /= 2) {
    PlanStep step;
    read_chunks(step, me.before(distance), nhr_chunks(me, distance, chunks), false);
    const PlanRank reader{me.behind(distance), me.ranks};
    add_reader(step, reader.rank, bytes_of(nhr_chunks(reader, distance, chunks)));
    plan.push_back(std::move(step));
  }
}

void reduce_scatter_halving(Plan& plan, const PlanRank& me, const PlanChunks& chunks,
                            const std::vector<unsigned>& names) {
  for (unsigned distance = me.ranks / 2; distance != 0; distance /= 2) {
    PlanStep step;
    const auto own = halves(me.rank, distance);
    const unsigned partner = names[me.rank ^ distance];
    read_chunk(step, partner, joined(chunks, own.kept_first, own.kept_end), true);
    add_reader(step, partner, joined(chunks, own.given_first, own.given_end).size());
    plan.push_back(std::move(step));
  }
}

void all_gather_doubling(Plan& plan, const PlanRank& me, const PlanChunks& chunks,
                         const std::vector<unsigned>& names) {
  for (unsigned distance = 1; distance < me.ranks; distance *= 2) {
    PlanStep step;
    const auto own = halves(me.rank, distance);
    const unsigned partner = names[me.rank ^ distance];
    read_chunk(step, partner, joined(chunks, own.given_first, own.given_end), false);
    add_reader(step, partner, joined(chunks, own.kept_first, own.kept_end).size());
    plan.push_back(std::move(step));
  }
}

}  // namespace npu::driver
