// SPDX-License-Identifier: Apache-2.0
#include "exec/quiescence.hpp"

#include <algorithm>
#include <utility>

namespace npu::exec {
namespace {

// It waits for an answer, which the last call of a thread does not.
bool waits(const ClientThread& thread) {
  const bool called = thread.stage == Stage::kReady || thread.stage == Stage::kInCall;
  return called && !thread.ends();
}

unsigned count_waiting(const ClientProcess& process) {
  return static_cast<unsigned>(std::count_if(process.threads.begin(), process.threads.end(),
                                             [](const auto& thread) { return waits(*thread); }));
}

// Those that nobody has heard of the end of.
unsigned count_living(const ClientProcess& process) {
  return static_cast<unsigned>(std::count_if(process.threads.begin(), process.threads.end(),
                                             [](const auto& thread) { return !thread->ends(); }));
}

// The last one of that number.
const ClientThread* find(const ClientProcess& process, pid_t thread) {
  const ClientThread* found = nullptr;
  for (const auto& each : process.threads) {
    if (each->id == thread) found = each.get();
  }
  return found;
}

constexpr char kZombie = 'Z';

// The first thread of a process has ended, and others may go on. Of all others a zombie is there
// for a moment only: it has just woken who waits for its end, perhaps after that one was looked at.
bool is_over(pid_t process, const ThreadState& state) {
  return state.state == kZombie && state.thread == process;
}

// Children that have not called npusim, and theirs.
void look_at_children(pid_t process, const std::function<bool(pid_t)>& is_known,
                      std::vector<ThreadState>& look) {
  for (const pid_t child : children_of(process)) {
    if (is_known(child)) continue;
    for (const auto& state : thread_states(child)) {
      if (!is_over(child, state)) look.push_back(state);
    }
    look_at_children(child, is_known, look);
  }
}

bool has_children(const ClientProcess& process) {
  return std::any_of(process.threads.begin(), process.threads.end(), [](const auto& thread) {
    return thread->channel != nullptr && thread->channel->has_children();
  });
}

}  // namespace

bool is_surely_quiet(const ClientProcess& process) {
  if (!process.alive) return true;
  if (process.threads.size() != 1) return false;
  const auto& only = *process.threads.front();
  return waits(only) && only.channel->single_threaded();
}

bool is_quiet(ClientProcess& process, const std::function<bool(pid_t)>& is_known) {
  if (is_surely_quiet(process)) return true;
  const unsigned waiting = count_waiting(process);
  const unsigned living = count_living(process);
  if (waiting > 0 && waiting == living && !has_children(process) &&
      count_threads(process.id) == waiting) {
    return true;
  }
  std::vector<ThreadState> look;
  bool sleeps = true, stopped = false;
  const auto states = thread_states(process.id);
  // A thread has gone without a word: most likely they all are about to, woken by its signal.
  const bool dying = states.size() < living;
  for (const auto& state : states) {
    if (is_over(process.id, state)) continue;
    const auto* const known = find(process, state.thread);
    if (known != nullptr && waits(*known) && !dying) continue;
    // One that has said that it ends may still wake others, also while this looks: one that has
    // gone meanwhile (X) does not sleep.
    sleeps = sleeps && state.state == 'S' && (known == nullptr || !known->ends());
    stopped = stopped || state.state == 'T';
    look.push_back(state);
  }
  if (stopped) {
    if (!process.stalled) ++process.stalls;
    process.stalled = true;
    return true;
  }
  const auto own = look.size();
  look_at_children(process.id, is_known, look);
  // A child that is stopped waits for somebody else as one that sleeps does.
  sleeps = sleeps && std::all_of(look.begin() + static_cast<std::ptrdiff_t>(own), look.end(),
                                 [](const ThreadState& child) {
                                   return child.state == 'S' || child.state == 'T';
                                 });
  if (look.empty()) return waiting > 0 && !dying;
  const bool same = look == process.last_look;
  process.last_look = std::move(look);
  return sleeps && same;
}

}  // namespace npu::exec
