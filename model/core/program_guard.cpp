// SPDX-License-Identifier: Apache-2.0
#include "model/core/program_guard.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "model/core/program_run.hpp"

namespace npu::model {
namespace {

constexpr std::size_t kHandlerStack = std::size_t{64} << 10;
constexpr std::array<int, 5> kCrashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// Of the one thread that runs programs; a fork's child has no timer.
struct State {
  pid_t owner = 0;
  timer_t timer{};
  bool has_timer = false;
  volatile bool armed = false;
  volatile unsigned programs = 0;  // that have begun and not ended
  unsigned timeout = ProgramGuard::kTimeout;
  const ProgramRun* last = nullptr;  // what the last tick has seen
  std::uint64_t calls = 0;
  unsigned still = 0;  // ticks
  std::array<struct sigaction, kCrashes.size()> before{};
};
State g_state;

int tick_signal() {
  return SIGRTMIN + 5;
}

// For handlers of signals: a line in one piece, nothing allocated.
template <class... Args>
[[noreturn]] void end_with(const ProgramRun& run, fmt::format_string<Args...> text,
                           Args&&... args) {
  std::array<char, 512> line{};
  const auto& who = run.identity();
  char* at = line.data();
  const auto room = [&] { return static_cast<std::size_t>(line.data() + line.size() - 1 - at); };
  at = fmt::format_to_n(at, room(), "npusim: {} {}, block {} of {}", who.core, who.number,
                        who.block, who.blocks)
           .out;
  if (who.name[0] != 0) at = fmt::format_to_n(at, room(), " of kernel {}", who.name.data()).out;
  at = fmt::format_to_n(at, room(), ": ").out;
  at = fmt::format_to_n(at, room(), text, std::forward<Args>(args)...).out;
  *at++ = '\n';
  const auto written =
      write(STDERR_FILENO, line.data(), static_cast<std::size_t>(at - line.data()));
  static_cast<void>(written);
  _exit(ProgramGuard::kExitCode);
}

void set_timer(time_t seconds) {
  const itimerspec every{{seconds, 0}, {seconds, 0}};
  timer_settime(g_state.timer, 0, &every, nullptr);
  g_state.armed = seconds != 0;
}

// A process that is stopped, or looked at in a debugger, gets no ticks meanwhile.
void tick(int) {
  State& state = g_state;
  const ProgramRun* const run = detail::running_program;
  if (state.programs == 0) return set_timer(0);
  const bool same =
      run != nullptr && run->in_program() && run == state.last && run->calls() == state.calls;
  state.still = same ? state.still + 1 : 0;
  if (same && state.still >= state.timeout) {
    end_with(*run, "no call of its port for {} s, it hangs", state.still);
  }
  state.last = run;
  state.calls = run == nullptr ? 0 : run->calls();
}

const char* what(int signal) {
  switch (signal) {
    case SIGFPE:
      return "an arithmetic exception (a division by zero?)";
    case SIGILL:
      return "an instruction that the host does not know";
    default:
      return "it gave up by abort()";
  }
}

void crash(int signal, siginfo_t* info, void*) {
  const ProgramRun* const run = detail::running_program;
  if (run != nullptr && run->in_program()) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const bool access = signal == SIGSEGV || signal == SIGBUS;
    if (access && run->on_stack(address)) end_with(*run, "its stack is too small for it");
    if (access) {
      end_with(*run,
               "it followed a pointer to 0x{:X}, where the host has no memory; device memory is "
               "reached through the port alone",
               address);
    }
    end_with(*run, "{}", what(signal));
  }
  // The model's own: as if nobody had been here.
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    if (kCrashes[i] == signal) sigaction(signal, &g_state.before[i], nullptr);
  }
  if (signal == SIGABRT || info->si_code <= 0) raise(signal);  // sent: it would not come again
}

void handle(int signal, int flags, void (*handler)(int, siginfo_t*, void*),
            struct sigaction* before) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(signal, &action, before);
}

void install() {
  static std::array<char, kHandlerStack> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  sigaltstack(&other, nullptr);
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    handle(kCrashes[i], SA_ONSTACK, &crash, &g_state.before[i]);
  }
  handle(
      tick_signal(), SA_ONSTACK | SA_RESTART, [](int s, siginfo_t*, void*) { tick(s); }, nullptr);
}

void make_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = tick_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  g_state.has_timer = timer_create(CLOCK_MONOTONIC, &event, &g_state.timer) == 0;
  g_state.armed = false;
}

}  // namespace

void ProgramGuard::program_begins() {
  State& state = g_state;
  state.programs = state.programs + 1;
  if (state.armed && state.owner == getpid()) return;
  if (state.owner == 0) install();
  if (state.owner != getpid()) make_timer();
  state.owner = getpid();
  state.still = 0;
  if (state.has_timer) set_timer(1);
}

void ProgramGuard::program_ends() {
  g_state.programs = g_state.programs - 1;
}

void ProgramGuard::set_timeout(unsigned seconds) {
  g_state.timeout = std::max(seconds, 1U);
}

}  // namespace npu::model
