// SPDX-License-Identifier: Apache-2.0
// An AICPU's accesses to device memory.
#include <algorithm>
#include <cstring>
#include <utility>

#include "model/aicpu/aicpu_core.hpp"

namespace npu::model {

using abi::FaultCode;

namespace {
constexpr Bytes kCacheLineBytes = CoherentCache::kLine;

// The part of [address, address + length) in the line of `address`.
Bytes in_line(std::uint64_t address, Bytes length) {
  return std::min(length, kCacheLineBytes - address % kCacheLineBytes);
}
}  // namespace

void AicpuCore::fault(FaultCode code, std::uint64_t address, bool write) {
  if (!fault_.failed()) fault_ = {code, address, block_.vmid, write};
  throw Ended{};
}

void AicpuCore::check_alignment(std::uint64_t address, unsigned bytes, bool write) {
  if (address % bytes != 0) fault(FaultCode::kInvalidSize, address, write);
}

// The program waits for a read of memory, at the end of which the bytes are to be taken.
void AicpuCore::timed_read(std::uint64_t address, Bytes length) {
  synchronise();
  rounds_.acted();
  await_answer(Access::kRead, address, length);
}

// Whether the program has waited for the translation. The access is to be made at its end: whoever
// has memory moved waits for nobody who is still to make one.
bool AicpuCore::translate(Access access, std::uint64_t address) {
  if (shared_.memory.knows(block_.vmid, address, access == Access::kTranslateWrite)) return false;
  await_answer(access, address, 1);
  synchronise();
  return true;
}

void AicpuCore::await_answer(Access access, std::uint64_t address, Bytes length) {
  waiting_ = true;
  shared_.request(number_, access, block_.vmid, address, length, block_.cause);
  while (waiting_) sim_.agenda.wait(answer_);
  fetching_ = false;
  local_ = std::max(local_, sim_now());
  check();
  if (completion_ != Completion::kSuccess) {
    fault(device_fault(completion_), address, access == Access::kTranslateWrite);
  }
}

void AicpuCore::answered(Completion completion) {
  completion_ = completion;
  waiting_ = false;
  sim_.agenda.notify(answer_);
}

// Requests for a line are served behind what AI Cores have written to it before.
void AicpuCore::await_writes(std::uint64_t address, Bytes length) {
  const SimTime arrival = shared_.arrival(block_.vmid, address, length);
  if (arrival <= local_) return;
  rounds_.acted();
  local_ = arrival;
  synchronise();
}

// The bytes are those of the time at which the line was asked for, or was last to be dropped.
void AicpuCore::sample() {
  fetch_is_valid_ = shared_.memory.read(block_.vmid, fetch_at_, fetched_.data(), fetched_.size()) ==
                    Completion::kSuccess;
}

void AicpuCore::fetch(std::uint64_t begin) {
  translate(Access::kTranslateRead, begin);
  await_writes(begin, kCacheLineBytes);
  synchronise();
  rounds_.acted();
  fetching_ = true;
  fetch_at_ = begin;
  shared_.caches(number_, block_.vmid, begin);
  sample();
  await_answer(Access::kRead, begin, kCacheLineBytes);
}

// Whether the last load was of this line, which it is from now on. Nothing else changes it: by what
// is measured a core pays for each line that its loads come to, whatever it does in between. Of a
// line that has gone meanwhile the load misses anyway.
bool AicpuCore::same_line(std::uint64_t address) {
  const std::uint64_t begin = address - address % kCacheLineBytes;
  return std::exchange(last_line_, begin) == begin;
}

// The line's bytes at the program's time, which has come and goes on by what the load takes.
unsigned char* AicpuCore::line(std::uint64_t address) {
  ++statistics_.loads;
  const bool same = same_line(address);
  if (auto* const cached = cache_.touch(block_.vmid, address)) {
    local_ += same ? l1_hit_ : l1_other_line_;
    return cached;
  }
  ++statistics_.misses;
  const std::uint64_t begin = address - address % kCacheLineBytes;
  fetch(begin);
  local_ += l1_hit_;
  unsigned char* const bytes = cache_.install(block_.vmid, begin);
  shared_.caches(number_, block_.vmid, begin);  // a write may have come meanwhile
  if (fetch_is_valid_) {
    std::memcpy(bytes, fetched_.data(), kCacheLineBytes);
    store_buffer_.patch(begin, bytes);
    return bytes;
  }
  const auto completion = shared_.memory.read(block_.vmid, begin, bytes, kCacheLineBytes);
  if (completion == Completion::kSuccess) {
    store_buffer_.patch(begin, bytes);
    return bytes;
  }
  cache_.drop(block_.vmid, begin, kCacheLineBytes);
  fault(device_fault(completion), address, false);
}

std::uint64_t AicpuCore::load(std::uint64_t address, unsigned bytes) {
  check_alignment(address, bytes, false);
  if (rounds_.replaying()) {
    if (const auto* const look = rounds_.replayed(false, address, bytes)) {
      const std::uint64_t value = look->value;
      const SimTime began = rounds_.began();
      local_ = began + look->ended;
      same_line(address);
      cache_.touch(block_.vmid, address);
      rounds_.saw(
          {address, value, began + look->sampled, local_, static_cast<std::uint8_t>(bytes), false});
      return value;
    }
  }
  synchronise();
  const SimTime sampled = local_;
  std::uint64_t value = 0;
  std::memcpy(&value, line(address) + address % kCacheLineBytes, bytes);
  rounds_.saw({address, value, sampled, local_, static_cast<std::uint8_t>(bytes), false});
  return value;
}

void AicpuCore::read(std::uint64_t address, void* data, Bytes length) {
  rounds_.acted();
  auto* to = static_cast<unsigned char*>(data);
  while (length > 0) {
    const Bytes part = in_line(address, length);
    synchronise();
    std::memcpy(to, line(address) + address % kCacheLineBytes, part);
    address += part, to += part, length -= part;
  }
}

// One store of the core, within a line: it sees the bytes from now on, and everybody else when the
// store is done. A whole line is cached without having been read.
void AicpuCore::post(std::uint64_t address, const void* data, Bytes length) {
  check();
  rounds_.acted();
  ++statistics_.stores;
  local_ = memory_stores_.post(local_);
  synchronise();
  if (translate(Access::kTranslateWrite, address)) memory_stores_.postpone(local_);
  store_buffer_.push(address, data, length, shared_.memory.hold(block_.vmid));
  sim_.agenda.at<&AicpuCore::store_done>(memory_stores_.all_done(), *this, resets_);
  if (length == kCacheLineBytes) shared_.caches(number_, block_.vmid, address);
  unsigned char* const cached = length == kCacheLineBytes ? cache_.install(block_.vmid, address)
                                                          : cache_.find(block_.vmid, address);
  if (cached != nullptr) std::memcpy(cached + address % kCacheLineBytes, data, length);
  local_ += ticks(shared_.config.store);
}

// The oldest one. What memory refuses although its translation permits it is told too late for the
// access: the program ends at its next one.
void AicpuCore::store_done(std::uint64_t resets) {
  if (resets != resets_) return;  // lost on its way
  const auto& store = store_buffer_.oldest();
  const auto completion = shared_.write(number_, Writer::kAicpu, block_.vmid, store.address,
                                        store.bytes.data(), store.length);
  if (fetches(block_.vmid, store.address, store.length)) sample();
  shared_.memory.release(store.hold);
  const auto address = store.address;
  store_buffer_.pop();
  if (completion == Completion::kSuccess) return;
  if (!fault_.failed()) fault_ = {device_fault(completion), address, block_.vmid, true};
  stop();
}

// The core's own stores are done first.
void AicpuCore::await_stores() {
  const SimTime done = memory_stores_.all_done();
  if (done <= local_) return;
  local_ = done;
  synchronise();
}

void AicpuCore::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  check_alignment(address, bytes, true);
  post(address, &value, bytes);
}

void AicpuCore::write(std::uint64_t address, const void* data, Bytes length) {
  const auto* from = static_cast<const unsigned char*>(data);
  while (length > 0) {
    const Bytes part = in_line(address, length);
    post(address, from, part);
    address += part, from += part, length -= part;
  }
}

// At the point of coherence, at one time for everybody.
std::uint64_t AicpuCore::modify(std::uint64_t address, unsigned bytes,
                                std::uint64_t (*change)(std::uint64_t, std::uint64_t,
                                                        std::uint64_t),
                                std::uint64_t a, std::uint64_t b) {
  check_alignment(address, bytes, true);
  rounds_.acted();
  ++statistics_.atomics;
  synchronise();
  translate(Access::kTranslateWrite, address);
  await_stores();
  await_writes(address, bytes);
  std::uint64_t before = 0;
  auto completion = shared_.memory.read(block_.vmid, address, &before, bytes);
  if (completion != Completion::kSuccess) fault(device_fault(completion), address, true);
  const std::uint64_t after = change(before, a, b);
  if (std::memcmp(&before, &after, bytes) != 0) {
    completion = shared_.write(number_, Writer::kAicpuAtomic, block_.vmid, address, &after, bytes);
    if (completion != Completion::kSuccess) fault(device_fault(completion), address, true);
  }
  unsigned char* const cached = cache_.find(block_.vmid, address);
  if (cached != nullptr) std::memcpy(cached + address % kCacheLineBytes, &after, bytes);
  local_ += ticks(shared_.config.atomic);
  return before;
}

std::uint64_t AicpuCore::fetch_add(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  return modify(
      address, bytes, [](std::uint64_t v, std::uint64_t a, std::uint64_t) { return v + a; }, value,
      0);
}

std::uint64_t AicpuCore::compare_exchange(std::uint64_t address, unsigned bytes,
                                          std::uint64_t expected, std::uint64_t desired) {
  return modify(
      address, bytes,
      [](std::uint64_t v, std::uint64_t a, std::uint64_t b) { return v == a ? b : v; },
      bytes == 8 ? expected : expected & 0xFFFF'FFFF, desired);
}

void AicpuCore::invalidate(std::uint64_t address, Bytes length) {
  if (length == 0) return;
  rounds_.acted();
  synchronise();
  await_stores();
  await_writes(address, length);
  cache_.drop(block_.vmid, address, length);
  const Bytes lines = (address + length - 1) / kCacheLineBytes - address / kCacheLineBytes + 1;
  local_ += lines * ticks(shared_.config.invalidate);
}

// Stores to registers leave in their order, and behind what is in memory.
void AicpuCore::barrier() {
  check();
  rounds_.acted();
  local_ = std::max(local_, memory_stores_.all_done());
}

void AicpuCore::drop_lines(SpaceId vmid, std::uint64_t address, Bytes length, bool later) {
  if (fetches(vmid, address, length)) sample();
  if (!cache_.drop(vmid, address, length) || !sleeping_) return;
  const std::uint64_t end = address + length - 1;
  for (const auto& look : rounds_.looks()) {
    if (look.is_register) continue;
    if (look.place / kCacheLineBytes >= address / kCacheLineBytes &&
        look.place / kCacheLineBytes <= end / kCacheLineBytes) {
      return look_changed(later);
    }
  }
}

}  // namespace npu::model
