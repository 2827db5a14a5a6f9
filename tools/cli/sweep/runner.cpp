// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/runner.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "npu/base/child_program.hpp"
#include "tools/cli/sweep/child_process.hpp"

namespace npu::sweep {
namespace {

constexpr int kSignalled = 128;
constexpr std::size_t kShownFailures = 10;

// What is known of a run that a signal ended; empty: it had its say itself.
std::string signal_line(int exit_code) {
  if (exit_code <= kSignalled) return {};
  return fmt::format("ended by signal {}: {}", exit_code - kSignalled,
                     ::strsignal(exit_code - kSignalled));
}

}  // namespace

Runner::Runner(std::string results, unsigned jobs, SweepProgress& progress)
    : results_(std::move(results)), jobs_(jobs), progress_(progress) {}

Runner::~Runner() {
  stop_all();
}

Status Runner::run(const std::vector<const PlannedPoint*>& points, SweepState& state) {
  std::size_t next = 0;
  while (next < points.size() || !running_.empty()) {
    // Before anything is made of how a run ended: Ctrl-C ends runs as well.
    if (stop_.came()) {
      stop_all();
      return fail(ErrorCode::kAborted, "stopped");
    }
    while (next < points.size() && running_.size() < jobs_) {
      if (auto ok = start(*points[next]); !ok) return ok;
      ++next;
    }
    state.running = running_.size();
    progress_.show(state);
    wait();
    if (stop_.came()) continue;
    if (auto ok = reap(state); !ok) return ok;
  }
  state.running = 0;
  progress_.show(state);
  return {};
}

Status Runner::start(const PlannedPoint& point) {
  PointFolder folder(results_, point.identity);
  if (auto ok = folder.begin(); !ok) return ok;
  std::vector<std::string> arguments = point.arguments;
  arguments.push_back("--report=" + folder.running());
  const auto process = start_npusim(arguments, folder.log());
  if (!process) return forward_error(process);
  running_.push_back({*process, &point, std::move(folder)});
  return {};
}

void Runner::wait() {
  pollfd files[] = {{stop_.file(), POLLIN, 0}, {children_.file(), POLLIN, 0}};
  constexpr int kRedraw = 1000;  // ms
  ::poll(files, 2, progress_.on_terminal() ? kRedraw : -1);
  children_.take();
}

Status Runner::reap(SweepState& state) {
  for (std::size_t i = 0; i < running_.size();) {
    int status = 0;
    if (::waitpid(running_[i].process, &status, WNOHANG) != running_[i].process) {
      ++i;
      continue;
    }
    // Ctrl-C reaches this process before a run has ended by it.
    if (stop_.came()) {
      running_[i].folder.abandon();
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const Run ended = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    if (auto ok = end(ended, exit_code_of(status), state); !ok) return ok;
  }
  return {};
}

Status Runner::end(const Run& run, int exit_code, SweepState& state) {
  std::string line = signal_line(exit_code);
  if (exit_code == 0) {
    const Status accepted = run.folder.accept();
    if (accepted) {
      ++state.done;
      return {};
    }
    if (accepted.error().code != ErrorCode::kWrongData) return accepted;
    line = accepted.error().context;
  }
  const auto failed = run.folder.reject(exit_code, line);
  if (!failed) return forward_error(failed);
  if (++state.failed > kShownFailures) return {};
  progress_.say(fmt::format("point {} ({}) failed, exit code {}: {}", run.point->number,
                            run.point->label, failed->exit_code, failed->line));
  return {};
}

void Runner::stop_all() {
  for (const auto& run : running_) ::kill(run.process, SIGKILL);
  for (const auto& run : running_) {
    int status = 0;
    ::waitpid(run.process, &status, 0);
    run.folder.abandon();
  }
  running_.clear();
}

}  // namespace npu::sweep
