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

struct Watched {
  std::uintptr_t begin = 0, end = 0;  // pages; end 0: none
  std::uintptr_t address = 0;         // that the program knows of ...
  std::uint64_t memory = 0;           // ... this memory ...
  std::size_t offset = 0;             // ... at this place
  std::uint64_t stream = 0;
};

// As many copies at a time as are watched; nothing is allocated, because faults come at any time.
struct Watches {
  std::mutex lock;
  std::array<Watched, 64> all;
  std::atomic<bool> any{false};
};
Watches watches;

void set_rights(const Watched& each, int rights) {
  ::mprotect(reinterpret_cast<void*>(each.begin), each.end - each.begin, rights);
}

template <class Condition>
void drop_if(Condition condition) {
  if (!watches.any) return;
  const Locked held(watches.lock);
  bool left = false;
  for (auto& each : watches.all) {
    if (each.end == 0) continue;
    if (condition(each)) {
      set_rights(each, PROT_READ | PROT_WRITE);
      each = {};
    } else {
      left = true;
    }
  }
  watches.any = left;
}

// Whether the call waits for work or looks whether it has ended.
bool waits(Call call) {
  switch (call) {
    case Call::kSynchronizeDevice:
    case Call::kSynchronizeStream:
    case Call::kStreamQuery:
    case Call::kSynchronizeEvent:
    case Call::kQueryEvent:
    case Call::kEventElapsedTime:
    case Call::kDestroyStream:
    case Call::kDestroyStreamForce:
    case Call::kResetDevice:
    case Call::kResetDeviceForce:
    case Call::kFinalize:
    case Call::kCopyTurn:
    case Call::kCopyIn:
    case Call::kCopyOut:
    case Call::kCopyPinned:
    case Call::kProcessReport:
    case Call::kStreamAbort:
    case Call::kStreamStop:
      return true;
    default:
      return false;
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
  one.stream = stream;
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
    set_rights(one, writes ? PROT_NONE : PROT_READ);
    return;
  }
}

bool touch_watched(const void* begin, std::size_t count, bool write) {
  if (!watches.any || count == 0) return false;
  const int error = errno;
  const auto from = reinterpret_cast<std::uintptr_t>(begin), to = from + count;
  std::array<Watched, 64> met;
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

void returned_from(Call call, const Words& words, const Words& answer) {
  if (!watches.any || !waits(call)) return;
  // Those that have looked and seen nothing yet.
  if (call == Call::kStreamQuery && answer[0] != 0) return;
  if (call == Call::kQueryEvent && answer[0] == 0) return;
  if (call == Call::kSynchronizeStream) {
    const auto stream = words[0];
    return drop_if([stream](const Watched& each) { return each.stream == stream; });
  }
  // A copy in a stream waits for nothing.
  if (call == Call::kCopyPinned &&
      message_of<Request<Call::kCopyPinned>>(words).order.in_stream != 0)
    return;
  drop_if([](const Watched&) { return true; });
}

void watch_nothing() {
  drop_if([](const Watched&) { return true; });
}

}  // namespace npu::compat
