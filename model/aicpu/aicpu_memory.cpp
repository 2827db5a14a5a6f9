// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/aicpu_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace npu::model {

using abi::FaultCode;

namespace {
constexpr Bytes kCacheLineBytes = CoherentCache::kLine;

// The part of [address, address + length) in the line of `address`.
Bytes in_line(std::uint64_t address, Bytes length) {
  return std::min(length, kCacheLineBytes - address % kCacheLineBytes);
}
}  // namespace

AicpuMemory::AicpuMemory(AicpuShared& shared, unsigned number, AicpuThread& thread,
                         PollRounds& rounds, AicpuStores::Owner& owner, AicpuWork& work)
    : shared_(shared),
      number_(number),
      thread_(thread),
      rounds_(rounds),
      work_(work),
      l1_hit_(ticks(shared.config.l1_hit)),
      l1_other_line_(ticks(shared.config.l1_other_line)),
      cache_(shared.config.l1, shared.config.l1_ways),
      requests_(shared, number, thread, rounds),
      fetch_(shared, number, thread, requests_, rounds),
      stores_(shared, number, thread, requests_, fetch_, owner) {}

void AicpuMemory::begin() {
  cache_.clear();
  last_line_ = kNoLine;
  stores_.begin();
}

void AicpuMemory::reset() {
  fetch_.forget();
  if (requests_.waiting()) requests_.answered(Completion::kCompleterAbort);
  cache_.clear();
  stores_.reset();
}

void AicpuMemory::check_alignment(std::uint64_t address, unsigned bytes, bool write) {
  if (address % bytes != 0) thread_.fault(FaultCode::kInvalidSize, address, write);
}

// --- loads -----------------------------------------------------------------------------------

// Whether the last load was of this line, which it is from now on. Nothing else changes it: by what
// is measured a core pays for each line that its loads come to, whatever it does in between. Of a
// line that has gone meanwhile the load misses anyway.
bool AicpuMemory::same_line(std::uint64_t address) {
  const std::uint64_t begin = address - address % kCacheLineBytes;
  return std::exchange(last_line_, begin) == begin;
}

// The line's bytes at the program's time, which has come and goes on by what the load takes.
unsigned char* AicpuMemory::line(std::uint64_t address) {
  ++work_.loads;
  const bool same = same_line(address);
  if (auto* const cached = cache_.touch(thread_.space(), address)) {
    thread_.pass(same ? l1_hit_ : l1_other_line_);
    return cached;
  }
  ++work_.misses;
  return missed_line(address - address % kCacheLineBytes, address);
}

// With order.rule=weakest. A core may load what it has an address of long before its program does,
// and keep it: here the neighbour of a line that comes, and what the two point to.
void AicpuMemory::prefetch(std::uint64_t begin, const unsigned char* bytes) {
  Line neighbour;
  follow_pointers(bytes);
  if (fetch_early(begin ^ kCacheLineBytes, neighbour)) follow_pointers(neighbour.data());
}

void AicpuMemory::follow_pointers(const unsigned char* bytes) {
  for (Bytes at = 0; at < kCacheLineBytes; at += sizeof(std::uint64_t)) {
    std::uint64_t pointer = 0;
    Line line;
    std::memcpy(&pointer, bytes + at, sizeof pointer);
    fetch_early(pointer - pointer % kCacheLineBytes, line);
  }
}

// Whether it has; half of what there is.
bool AicpuMemory::fetch_early(std::uint64_t begin, Line& line) {
  const SpaceId space = thread_.space();
  if (begin == 0 || !shared_.sim.weakest->half() || cache_.holds(space, begin)) return false;
  if (!shared_.memory.local(space, begin)) return false;
  const auto read = shared_.memory.read(space, begin, line.data(), line.size());
  if (read != Completion::kSuccess) return false;
  stores_.patch(begin, line.data());
  std::memcpy(cache_.install(space, begin), line.data(), line.size());
  shared_.caches(number_, space, begin);
  return true;
}

unsigned char* AicpuMemory::missed_line(std::uint64_t begin, std::uint64_t address) {
  fetch_.fetch(begin);
  thread_.pass(l1_hit_);
  if (shared_.sim.weakest && fetch_.bytes() != nullptr) prefetch(begin, fetch_.bytes());
  const SpaceId space = thread_.space();
  unsigned char* const bytes = cache_.install(space, begin);
  shared_.caches(number_, space, begin);  // a write may have come meanwhile
  if (const auto* const fetched = fetch_.bytes()) {
    std::memcpy(bytes, fetched, kCacheLineBytes);
    stores_.patch(begin, bytes);
    return bytes;
  }
  const auto completion = shared_.memory.read(space, begin, bytes, kCacheLineBytes);
  if (completion == Completion::kSuccess) {
    stores_.patch(begin, bytes);
    return bytes;
  }
  cache_.drop(space, begin, kCacheLineBytes);
  thread_.fault(device_fault(completion), address, false);
}

std::uint64_t AicpuMemory::load(std::uint64_t address, unsigned bytes) {
  check_alignment(address, bytes, false);
  const auto shown_bytes = static_cast<std::uint8_t>(bytes);
  if (rounds_.replaying()) {
    if (const auto* const look = rounds_.replayed(false, address, bytes)) {
      const std::uint64_t value = look->value;
      const SimTime began = rounds_.began();
      thread_.set_local(began + look->ended);
      same_line(address);
      cache_.touch(thread_.space(), address);
      rounds_.saw({address, value, began + look->sampled, thread_.local(), shown_bytes, false});
      return value;
    }
  }
  thread_.synchronise();
  const SimTime sampled = thread_.local();
  std::uint64_t value = 0;
  std::memcpy(&value, line(address) + address % kCacheLineBytes, bytes);
  rounds_.saw({address, value, sampled, thread_.local(), shown_bytes, false});
  return value;
}

void AicpuMemory::read(std::uint64_t address, void* data, Bytes length) {
  rounds_.acted();
  auto* to = static_cast<unsigned char*>(data);
  while (length > 0) {
    const Bytes part = in_line(address, length);
    thread_.synchronise();
    std::memcpy(to, line(address) + address % kCacheLineBytes, part);
    address += part, to += part, length -= part;
  }
}

// --- stores ----------------------------------------------------------------------------------

// Within a line. A whole line is cached without having been read.
void AicpuMemory::post(std::uint64_t address, const void* data, Bytes length, bool releases) {
  thread_.check();
  rounds_.acted();
  ++work_.stores;
  stores_.post(address, data, length, releases);
  const SpaceId space = thread_.space();
  if (length == kCacheLineBytes) shared_.caches(number_, space, address);
  unsigned char* const cached =
      length == kCacheLineBytes ? cache_.install(space, address) : cache_.find(space, address);
  if (cached != nullptr) std::memcpy(cached + address % kCacheLineBytes, data, length);
  thread_.pass(ticks(shared_.config.store));
}

void AicpuMemory::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  check_alignment(address, bytes, true);
  post(address, &value, bytes, true);
}

void AicpuMemory::write(std::uint64_t address, const void* data, Bytes length) {
  const auto* from = static_cast<const unsigned char*>(data);
  while (length > 0) {
    const Bytes part = in_line(address, length);
    post(address, from, part, false);
    address += part, from += part, length -= part;
  }
}

// Stores to registers leave in their order, and behind what is in memory.
void AicpuMemory::barrier() {
  thread_.check();
  rounds_.acted();
  thread_.reach(stores_.all_done());
}

void AicpuMemory::invalidate(std::uint64_t address, Bytes length) {
  if (length == 0) return;
  rounds_.acted();
  thread_.synchronise();
  stores_.await_all();
  requests_.await_writes(address, length);
  cache_.drop(thread_.space(), address, length);
  const Bytes lines = (address + length - 1) / kCacheLineBytes - address / kCacheLineBytes + 1;
  thread_.pass(lines * ticks(shared_.config.invalidate));
}

// --- atomics ---------------------------------------------------------------------------------

// At the point of coherence, at one time for everybody.
std::uint64_t AicpuMemory::modify(std::uint64_t address, unsigned bytes,
                                  std::uint64_t (*change)(std::uint64_t, std::uint64_t,
                                                          std::uint64_t),
                                  std::uint64_t a, std::uint64_t b) {
  check_alignment(address, bytes, true);
  rounds_.acted();
  ++work_.atomics;
  thread_.synchronise();
  requests_.translate(AicpuShared::Access::kTranslateWrite, address);
  stores_.await_all();
  requests_.await_writes(address, bytes);
  const SpaceId space = thread_.space();
  std::uint64_t before = 0;
  auto completion = shared_.memory.read(space, address, &before, bytes);
  if (completion != Completion::kSuccess) thread_.fault(device_fault(completion), address, true);
  const std::uint64_t after = change(before, a, b);
  if (std::memcmp(&before, &after, bytes) != 0) {
    completion = shared_.write(number_, Writer::kAicpuAtomic, space, address, &after, bytes);
    if (completion != Completion::kSuccess) thread_.fault(device_fault(completion), address, true);
  }
  unsigned char* const cached = cache_.find(space, address);
  if (cached != nullptr) std::memcpy(cached + address % kCacheLineBytes, &after, bytes);
  thread_.pass(ticks(shared_.config.atomic));
  return before;
}

std::uint64_t AicpuMemory::fetch_add(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  return modify(
      address, bytes, [](std::uint64_t v, std::uint64_t a, std::uint64_t) { return v + a; }, value,
      0);
}

std::uint64_t AicpuMemory::compare_exchange(std::uint64_t address, unsigned bytes,
                                            std::uint64_t expected, std::uint64_t desired) {
  return modify(
      address, bytes,
      [](std::uint64_t v, std::uint64_t a, std::uint64_t b) { return v == a ? b : v; },
      bytes == 8 ? expected : expected & 0xFFFF'FFFF, desired);
}

}  // namespace npu::model
