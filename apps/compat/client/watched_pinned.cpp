// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/watched_pinned.hpp"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "apps/compat/client/page_faults.hpp"
#include "apps/compat/client/request.hpp"
#include "apps/compat/client/signals_held.hpp"

namespace npu::compat {
namespace {

constexpr std::uintptr_t kWatchedPage = 4096;
constexpr std::size_t kMostWatched = 64;

struct Watched {
  std::uintptr_t begin = 0, end = 0;  // pages; end 0: none
  std::uintptr_t address = 0;         // that the program knows of ...
  std::uint64_t memory = 0;           // ... this memory ...
  std::size_t offset = 0;             // ... at this place
  std::size_t size = 0;               // as long
  std::uint64_t stream = 0;
  bool writes = false;  // the card does
};

bool operator==(const Watched& left, const Watched& right) {
  return left.begin == right.begin && left.end == right.end && left.memory == right.memory &&
         left.offset == right.offset && left.stream == right.stream;
}

// As many copies at a time as are watched; nothing is allocated, because faults come at any time.
struct Watches {
  std::mutex lock;
  std::array<Watched, kMostWatched> all;
  std::atomic<bool> any{false};
};
Watches watches;

void set_rights(const Watched& each, int rights) {
  ::mprotect(reinterpret_cast<void*>(each.begin), each.end - each.begin, rights);
}

// Of all, of which some may have the same pages: what is written has no rights. Locked.
void protect_watched() {
  for (const bool writes : {false, true}) {
    for (const auto& each : watches.all) {
      if (each.end == 0 || each.writes != writes) continue;
      set_rights(each, writes ? PROT_NONE : PROT_READ);
    }
  }
}

template <class Condition>
void drop_if(Condition condition) {
  if (!watches.any) return;
  const Locked held(watches.lock);
  bool left = false, dropped = false;
  for (auto& each : watches.all) {
    if (each.end == 0) continue;
    if (condition(each)) {
      set_rights(each, PROT_READ | PROT_WRITE);
      each = {};
      dropped = true;
    } else {
      left = true;
    }
  }
  if (left && dropped) protect_watched();
  watches.any = left;
}

// What a call that has returned with success may have waited for, or seen to have ended.
enum class Waits { kNothing, kStream, kSome, kAll };

Waits waits(Call call, const Words& words, const Words& answer) {
  switch (call) {
    case Call::kResetDevice:
    case Call::kResetDeviceForce:
    case Call::kFinalize:
      return Waits::kAll;
    case Call::kSynchronizeStream:
    case Call::kDestroyStream:
    case Call::kDestroyStreamForce:
    case Call::kStreamAbort:
    case Call::kStreamStop:
      return Waits::kStream;
    // Those that have looked and seen nothing yet.
    case Call::kStreamQuery:
      return answer[0] != 0 ? Waits::kNothing : Waits::kStream;
    case Call::kQueryEvent:
      return answer[0] == 0 ? Waits::kNothing : Waits::kSome;
    // Copies that are in no stream wait for themselves alone.
    case Call::kCopyIn:
      return message_of<Request<Call::kCopyIn>>(words).order.in_stream == 0 ? Waits::kNothing
                                                                            : Waits::kSome;
    case Call::kCopyOut:
      return message_of<Request<Call::kCopyOut>>(words).order.in_stream == 0 ? Waits::kNothing
                                                                             : Waits::kSome;
    case Call::kSynchronizeDevice:
    case Call::kSynchronizeEvent:
    case Call::kEventElapsedTime:
    case Call::kCopyTurn:
    case Call::kProcessReport:
      return Waits::kSome;
    default:
      return Waits::kNothing;
  }
}

// Of what is watched still npusim knows whether the program knows it to be over.
void drop_what_is_over(Channel& channel) {
  std::array<Watched, kMostWatched> all;
  {
    const Locked held(watches.lock);
    all = watches.all;
  }
  for (const auto& one : all) {
    if (one.end == 0) continue;
    const Request<Call::kCopyIsOver> asked{one.memory, one.offset, one.size, one.stream};
    if (channel.call(Call::kCopyIsOver, words_of(asked), kAnyDevice, 0) != 0) continue;
    if (message_of<Answer<Call::kCopyIsOver>>(channel.words()).number == 0) continue;
    drop_if([&one](const Watched& each) { return each == one; });
  }
}

}  // namespace

bool races_are_looked_for() {
  static const bool kLooked = std::getenv(kRacesVariable) != nullptr;
  return kLooked;
}

void watch_copy(const void* begin, std::size_t count, const PinnedPlace& place, bool writes,
                std::uint64_t stream) {
  if (!races_are_looked_for() || count == 0) return;
  Watched one;
  one.address = reinterpret_cast<std::uintptr_t>(begin);
  one.memory = place.memory;
  one.offset = place.offset;
  one.size = count;
  one.stream = stream;
  one.writes = writes;
  one.begin = (one.address + kWatchedPage - 1) / kWatchedPage * kWatchedPage;
  one.end = (one.address + count) / kWatchedPage * kWatchedPage;
  // What is behind the end of such memory is nobody's.
  if (!place.registered && place.left == count)
    one.end = (one.address + count + kWatchedPage - 1) / kWatchedPage * kWatchedPage;
  if (one.begin >= one.end) return;
  catch_page_faults();
  const Locked held(watches.lock);
  for (auto& each : watches.all) {
    if (each.end != 0) continue;
    each = one;
    watches.any = true;
    protect_watched();
    return;
  }
}

bool touch_watched(const void* begin, std::size_t count, bool write) {
  if (!watches.any || count == 0) return false;
  const int error = errno;
  const auto from = reinterpret_cast<std::uintptr_t>(begin), to = from + count;
  std::array<Watched, kMostWatched> met;
  std::size_t found = 0;
  drop_if([&](const Watched& each) {
    if (each.begin >= to || from >= each.end) return false;
    met[found++] = each;
    return true;
  });
  Channel* const channel = found == 0 ? nullptr : channel_of_this_thread();
  if (channel != nullptr && !channel->in_call()) {
    const OnDevice same;
    for (std::size_t i = 0; i < found; ++i) {
      const auto first = from < met[i].begin ? met[i].begin : from;
      const auto last = to < met[i].end ? to : met[i].end;
      ask<Call::kHostAccess>(
          {met[i].memory, met[i].offset + (first - met[i].address), last - first, write});
    }
  }
  errno = error;
  return found != 0;
}

void returned_from(Channel& channel, Call call, const Words& words, const Words& answer) {
  if (!watches.any) return;
  const auto what = waits(call, words, answer);
  if (what == Waits::kNothing) return;
  if (what == Waits::kAll) return watch_nothing();
  if (what == Waits::kStream) {
    const auto stream = words[0];
    drop_if([stream](const Watched& each) { return each.stream == stream; });
  }
  if (watches.any) drop_what_is_over(channel);
}

void watch_nothing() {
  drop_if([](const Watched&) { return true; });
}

}  // namespace npu::compat
