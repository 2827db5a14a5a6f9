// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/known_temporary.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>

namespace npu::reports {
namespace {

enum class State { kFree, kTaken, kKnown };

// Static, so that a handler may read it at any time.
struct Place {
  std::atomic<State> state{State::kFree};
  char path[PATH_MAX] = {};
};
static_assert(std::atomic<State>::is_always_lock_free);

std::array<Place, 16> places;

}  // namespace

KnownTemporary::KnownTemporary(const std::string& path) : place_(places.size()) {
  if (path.size() >= PATH_MAX) return;
  for (std::size_t i = 0; i < places.size(); ++i) {
    State state = State::kFree;
    if (!places[i].state.compare_exchange_strong(state, State::kTaken)) continue;
    std::memcpy(places[i].path, path.c_str(), path.size() + 1);
    places[i].state = State::kKnown;
    place_ = i;
    return;
  }
}

KnownTemporary::~KnownTemporary() {
  if (place_ < places.size()) places[place_].state = State::kFree;
}

void unlink_temporaries() {
  for (auto& each : places) {
    if (each.state == State::kKnown) ::unlink(each.path);
  }
}

}  // namespace npu::reports
