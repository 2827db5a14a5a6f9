// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/quiescence.hpp"

#include <algorithm>
#include <utility>

namespace npu::exec {
namespace {

// It waits for an answer, which the last call of a thread does not.
bool waits(const ClientThread& thread) {
  const bool called = thread.stage == Stage::kReady || thread.stage == Stage::kInCall;
  return called && !thread.ends() && !thread.gone;
}

unsigned count_waiting(const ClientProcess& process) {
  return static_cast<unsigned>(std::count_if(process.threads.begin(), process.threads.end(),
                                             [](const auto& thread) { return waits(*thread); }));
}

// Those that nobody has heard of the end of.
unsigned count_living(const ClientProcess& process) {
  return static_cast<unsigned>(
      std::count_if(process.threads.begin(), process.threads.end(),
                    [](const auto& thread) { return !thread->ends() && !thread->gone; }));
}

// The last one of that number.
const ClientThread* find(const ClientProcess& process, pid_t thread) {
  const ClientThread* found = nullptr;
  for (const auto& each : process.threads) {
    if (each->id == thread && !each->gone) found = each.get();
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

// One that is stopped waits for somebody else as one that sleeps does.
bool all_wait(std::vector<ThreadState>::const_iterator begin,
              std::vector<ThreadState>::const_iterator end) {
  return std::all_of(begin, end, [](const ThreadState& child) {
    return child.state == 'S' || child.state == 'T';
  });
}

// What the kernel says of a process at one time.
struct Look {
  std::vector<ThreadState> states;  // of those that wait for no answer
  bool sleeps = true;
  bool stopped = false;
  bool dying = false;  // a thread has gone without a word: most likely they all are about to
};

Look look_at(const ClientProcess& process, const std::function<bool(pid_t)>& is_known) {
  Look look;
  // Signals wake others between one look and the next: the less is looked at the better.
  const auto is_idle = [&](pid_t thread) {
    if (thread == process.id) return false;
    const auto* const known = find(process, thread);
    return known != nullptr ? waits(*known) : thread == process.helper;
  };
  auto states = thread_states(process.id, is_idle);
  look.dying = states.size() < count_living(process);
  // Its first thread has ended: the whole process may be about to, and those that wait for answers.
  const bool ending = std::any_of(states.begin(), states.end(), [&](const ThreadState& state) {
    return is_over(process.id, state);
  });
  const bool all = look.dying || ending;
  if (all) {
    states = thread_states(process.id);
    look.dying = look.dying || states.size() < count_living(process);  // some since the first list
  }
  for (const auto& state : states) {
    if (is_over(process.id, state)) continue;
    const auto* const known = find(process, state.thread);
    const bool idle = is_idle(state.thread) || (known != nullptr && waits(*known));
    if (idle && !all) continue;
    // One that has said that it ends may still wake others, also while this looks: one that has
    // gone meanwhile (X) does not sleep.
    const bool ends = known != nullptr && known->ends();
    look.sleeps = look.sleeps && state.state == 'S' && !ends;
    look.stopped = look.stopped || state.state == 'T';
    look.states.push_back(state);
  }
  const auto own = static_cast<std::ptrdiff_t>(look.states.size());
  look_at_children(process.id, is_known, look.states);
  look.sleeps = look.sleeps && all_wait(look.states.begin() + own, look.states.end());
  return look;
}

// What can be said without asking the kernel.
bool is_surely_quiet(const ClientProcess& process) {
  if (process.threads.size() != 1) return false;
  const auto& only = *process.threads.front();
  return waits(only) && only.channel->single_threaded();
}

// With one question to the kernel: each of its threads, and as many are known as there are, waits
// for an answer, or is a helper's, and it has no children.
bool is_quiet_by_count(const ClientProcess& process) {
  if (is_surely_quiet(process)) return true;
  const unsigned waiting = count_waiting(process);
  return waiting > 0 && waiting == count_living(process) && !had_children(process) &&
         count_threads(process.id) == waiting + (process.helper != 0 ? 1 : 0);
}

// Others have ended it, and its threads wait for answers still as far as they have said. A first
// thread that is in no call may end by itself, and is looked at.
bool is_ending(ClientProcess& process) {
  const auto* const first = find(process, process.id);
  return first != nullptr && waits(*first) && process.first_thread.is_ending(process.id);
}

// Since it was found to be quiet.
bool stays_quiet(ClientProcess& process, const std::function<bool(pid_t)>& is_known) {
  if (process.stalled) return true;
  if (!is_quiet_by_count(process)) {
    const auto look = look_at(process, is_known);
    if (!look.sleeps || look.states != process.seen) return false;
    if (look.states.empty() && look.dying) return false;
  }
  return !is_ending(process);
}

template <class Quiet>
bool all_awaited(ProcessList& processes, Quiet quiet) {
  return std::all_of(processes.begin(), processes.end(), [&](ClientProcess& process) {
    return !process.alive || process.stalled || quiet(process);
  });
}

}  // namespace

bool had_children(const ClientProcess& process) {
  return std::any_of(process.threads.begin(), process.threads.end(), [](const auto& thread) {
    return thread->channel != nullptr && thread->channel->had_children();
  });
}

bool are_quiet_by_count(ProcessList& processes) {
  return all_awaited(processes, is_quiet_by_count) &&
         (!processes.are_several_alive() ||
          all_awaited(processes, [](ClientProcess& process) { return !is_ending(process); }));
}

bool are_quiet(ProcessList& processes) {
  const auto known = [&](pid_t id) { return processes.is_known(id); };
  return all_awaited(processes, [&](ClientProcess& process) { return is_quiet(process, known); }) &&
         (!processes.are_several_alive() || all_awaited(processes, [&](ClientProcess& process) {
           return stays_quiet(process, known);
         }));
}

// The two looks follow one another at once: a thread that signals wake again and again goes on
// sleeping, and would hardly ever be seen to with time between them.
bool is_quiet(ClientProcess& process, const std::function<bool(pid_t)>& is_known) {
  process.seen.clear();
  if (is_quiet_by_count(process)) return true;
  auto look = look_at(process, is_known);
  if (look.stopped) {
    if (!process.stalled) ++process.stalls;
    process.stalled = true;
    return true;
  }
  if (look.states.empty()) return count_waiting(process) > 0 && !look.dying;
  if (!look.sleeps) return false;
  const auto again = look_at(process, is_known);
  if (!again.sleeps || again.states != look.states) return false;
  process.seen = std::move(look.states);
  return true;
}

bool are_quiet(pid_t parent, const std::function<bool(pid_t)>& is_known) {
  std::vector<ThreadState> look, again;
  look_at_children(parent, is_known, look);
  if (look.empty()) return true;
  look_at_children(parent, is_known, again);
  return all_wait(look.begin(), look.end()) && again == look;
}

}  // namespace npu::exec
