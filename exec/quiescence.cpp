// SPDX-License-Identifier: Apache-2.0
#include "exec/quiescence.hpp"

#include <algorithm>
#include <utility>

namespace npu::exec {
namespace {

bool is_in_call(Stage stage) {
  return stage == Stage::kReady || stage == Stage::kInCall;
}

bool all_in_calls(const ClientProcess& process) {
  return std::all_of(process.threads.begin(), process.threads.end(), [](const auto& thread) {
    return is_in_call(thread->stage) || thread->stage == Stage::kEnded;
  });
}

unsigned count_in_calls(const ClientProcess& process) {
  return static_cast<unsigned>(
      std::count_if(process.threads.begin(), process.threads.end(),
                    [](const auto& thread) { return is_in_call(thread->stage); }));
}

const ClientThread* find(const ClientProcess& process, pid_t thread) {
  for (const auto& each : process.threads) {
    if (each->id == thread && each->stage != Stage::kEnded) return each.get();
  }
  return nullptr;
}

}  // namespace

bool is_surely_quiet(const ClientProcess& process) {
  if (!process.alive) return true;
  if (process.threads.size() != 1) return false;
  const auto& only = *process.threads.front();
  return is_in_call(only.stage) && only.channel->single_threaded();
}

bool is_quiet(ClientProcess& process) {
  if (is_surely_quiet(process)) return true;
  const unsigned calling = count_in_calls(process);
  if (calling > 0 && all_in_calls(process) && count_threads(process.id) == calling) return true;
  std::vector<ThreadState> look;
  bool sleeps = true, stopped = false;
  const auto states = thread_states(process.id);
  for (const auto& state : states) {
    const auto* const known = find(process, state.thread);
    if (known != nullptr && is_in_call(known->stage)) continue;
    sleeps = sleeps && (state.state == 'S' || state.state == 'Z' || state.state == 'X');
    stopped = stopped || state.state == 'T';
    look.push_back(state);
  }
  if (stopped) {
    if (!process.stalled) ++process.stalls;
    process.stalled = true;
    return true;
  }
  // A thread that has called may have ended meanwhile: with its last call.
  if (look.empty()) return !states.empty() && calling > 0;
  const bool same = look == process.last_look;
  process.last_look = std::move(look);
  return sleeps && same;
}

}  // namespace npu::exec
