// SPDX-License-Identifier: Apache-2.0
#include "driver/collectives/part_writer.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::driver {

PartWriter::PartWriter(CollectiveMember& member, unsigned rank, const Data& data,
                       Picoseconds timeout)
    : member_(member), rank_(rank), data_(data), timeout_(timeout), entries_(member.told.size()) {}

// The caller's stream first: what the others submit may have to wait for room, which this makes.
Result<StreamMark> PartWriter::begin(ExecutionStream& stream) {
  const auto part = ++member_.parts;
  const abi::QueueEntry around[] = {entries::record_memory(member_.begin(), part),
                                    entries::wait_memory(member_.end(), part, timeout_)};
  auto mark = stream.submit(around, 2);
  entries_[rank_].push_back(entries::wait_memory(member_.begin(), part, timeout_));
  return mark;
}

Status PartWriter::write(const Plan& plan) {
  for (const auto& each : plan) {
    if (auto there = reach(each); !there) return there;
    step(each);
    if (auto there = flush_if_full(); !there) return there;
  }
  return {};
}

Status PartWriter::reach(const PlanStep& step) {
  for (const auto peer : step.readers) {
    if (auto there = member_.reach(peer); !there) return there;
  }
  for (const auto& each : step.reads) {
    if (auto there = member_.reach(each.peer); !there) return there;
  }
  for (const auto& each : step.writes) {
    if (auto there = member_.reach(each.peer); !there) return there;
  }
  return {};
}

Status PartWriter::end() {
  entries_[rank_].push_back(entries::record_memory(member_.end(), member_.parts));
  return flush();
}

DeviceAddress PartWriter::place(const PlanPlace& at) const {
  switch (at.memory) {
    case PlanMemory::kFrom:
      return data_.from + at.offset;
    case PlanMemory::kTo:
      return data_.to + at.offset;
    case PlanMemory::kBuffer:
      break;
  }
  return member_.buffer_of(rank_) + at.offset;
}

void PartWriter::copy(const PlanCopy& copy) {
  const auto from = place(copy.from), to = place(copy.to);
  if (from == to || copy.size == 0) return;
  entries_[rank_].push_back(entries::copy_on_device(from, to, copy.size));
}

// In pieces, so that the card's engines share the work of several peers evenly.
void PartWriter::move(Entries& entries, unsigned peer, const Move& all) const {
  const bool leaves = !member_.is_on_card_of(peer);
  const Bytes pieces = ceil_div(all.size, kPiece);
  const Bytes each = ceil_div(all.size, pieces * kPieceUnit) * kPieceUnit;
  for (Bytes at = 0; at < all.size; at += each) {
    const Bytes size = std::min(each, all.size - at);
    const auto from = all.from + at, to = all.to + at;
    if (all.reduces) {
      entries.push_back(entries::reduce(leaves, from, to, size, data_.type, data_.reduction));
    } else if (leaves) {
      entries.push_back(entries::copy_to_peer(from, to, size));
    } else {
      entries.push_back(entries::copy_on_device(from, to, size));
    }
  }
}

void PartWriter::read(Entries& entries, const PlanRead& read) const {
  move(entries, read.peer,
       {member_.buffer_of(read.peer) + read.from, place(read.to), read.size, read.reduces});
}

void PartWriter::write(Entries& entries, const PlanWrite& write) const {
  move(entries, write.peer,
       {place(write.from), member_.buffer_of(write.peer) + write.to, write.size, true});
}

void PartWriter::tell(Entries& entries, unsigned peer) {
  entries.push_back(entries::record_memory(member_.at_peer(peer), ++member_.told[peer]));
}

void PartWriter::hear(Entries& entries, unsigned peer) {
  entries.push_back(entries::wait_memory(member_.from_peer(peer), ++member_.heard[peer], timeout_));
}

void PartWriter::step(const PlanStep& step) {
  for (const auto& each : step.copies) copy(each);
  const bool one_source =
      std::all_of(step.reads.begin(), step.reads.end(),
                  [&](const PlanRead& read) { return read.peer == step.reads.front().peer; });
  const bool is_pair = one_source && step.readers.size() <= 1 && step.writes.empty();
  if (step.meets || is_pair) {
    step_on_one(step);
  } else {
    step_on_many(step);
  }
}

// When all meet, one record for each says all.
void PartWriter::step_on_one(const PlanStep& step) {
  auto& entries = entries_[rank_];
  for (const auto reader : step.readers) tell(entries, reader);
  for (const auto& each : step.beside) copy(each);
  if (!step.reads.empty()) {
    const unsigned peer = step.reads.front().peer;
    hear(entries, peer);
    for (const auto& each : step.reads) read(entries, each);
    tell(entries, peer);
  }
  for (const auto reader : step.readers) hear(entries, reader);
}

void PartWriter::step_on_many(const PlanStep& step) {
  std::vector<bool> takes_part(entries_.size()), reads_here(entries_.size());
  for (const auto reader : step.readers) takes_part[reader] = reads_here[reader] = true;
  for (const auto& each : step.reads) takes_part[each.peer] = true;
  for (const auto& each : step.writes) takes_part[each.peer] = true;
  const auto fork = ++member_.forked;
  entries_[rank_].push_back(entries::record_memory(member_.fork(), fork));
  for (const auto& each : step.beside) copy(each);
  for (unsigned peer = 0; peer < entries_.size(); ++peer) {
    if (!takes_part[peer]) continue;
    auto& entries = entries_[peer];
    entries.push_back(entries::wait_memory(member_.fork(), fork, timeout_));
    if (reads_here[peer]) tell(entries, peer);
    bool any = false;
    for (const auto& each : step.reads) {
      if (each.peer != peer) continue;
      if (!any) hear(entries, peer);
      any = true;
      read(entries, each);
    }
    for (const auto& each : step.writes) {
      if (each.peer != peer) continue;
      if (!any) hear(entries, peer);
      any = true;
      write(entries, each);
    }
    if (any) tell(entries, peer);
    if (reads_here[peer]) hear(entries, peer);
    const auto join = ++member_.joined[peer];
    entries.push_back(entries::record_memory(member_.join(peer), join));
    entries_[rank_].push_back(entries::wait_memory(member_.join(peer), join, timeout_));
  }
}

Status PartWriter::flush_if_full() {
  for (const auto& entries : entries_) {
    if (entries.size() > kBatch) return flush();
  }
  return {};
}

// The rank's own stream first: the others wait for its forks.
Status PartWriter::flush() {
  const auto submit = [&](unsigned number) -> Status {
    auto& entries = entries_[number];
    const auto stream = member_.stream_for(number);
    if (!stream) return forward_error(stream);
    for (std::size_t at = 0; at < entries.size(); at += kBatch) {
      const auto count = std::min(kBatch, entries.size() - at);
      const auto mark = (*stream)->submit(entries.data() + at, count);
      if (!mark) return forward_error(mark);
    }
    entries.clear();
    return {};
  };
  if (auto there = submit(rank_); !there) return there;
  for (unsigned i = 0; i < entries_.size(); ++i) {
    if (i == rank_ || entries_[i].empty()) continue;
    if (auto there = submit(i); !there) return there;
  }
  return {};
}

}  // namespace npu::driver
