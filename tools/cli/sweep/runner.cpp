// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

#include "npu/base/child_program.hpp"
#include "npu/base/errno_text.hpp"
#include "npu/base/write_all.hpp"
#include "tools/cli/sweep/branches_file.hpp"
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

// Points of the same machine together, in the order of the first of each.
std::vector<std::vector<const PlannedPoint*>> by_machine(
    const std::vector<const PlannedPoint*>& points) {
  std::vector<std::vector<const PlannedPoint*>> groups;
  std::map<std::string, std::size_t> numbers;
  for (const auto* point : points) {
    const auto [known, is_new] = numbers.emplace(point->machine, groups.size());
    if (is_new) groups.emplace_back();
    groups[known->second].push_back(point);
  }
  return groups;
}

// Each branch holds the other end while it runs.
void wait_for_branches(const FileDescriptor& ends) {
  if (!ends) return;
  ::fcntl(ends.get(), F_SETFL, 0);
  std::array<char, 256> text{};
  ssize_t size = 0;
  do {
    size = ::read(ends.get(), text.data(), text.size());
  } while (size > 0 || (size < 0 && errno == EINTR));
}

tl::unexpected<Error> not_started() {
  return fail(ErrorCode::kIo, "a run cannot be started: " + errno_text(errno));
}

}  // namespace

Runner::Runner(std::string results, unsigned jobs, SweepProgress& progress)
    : results_(std::move(results)), jobs_(jobs), progress_(progress) {}

Runner::~Runner() {
  stop_all();
}

Status Runner::run(const std::vector<const PlannedPoint*>& points, SweepState& state) {
  const auto groups = by_machine(points);
  const auto of_each =
      jobs_ / static_cast<unsigned>(std::clamp<std::size_t>(groups.size(), 1, jobs_));
  std::size_t next = 0;
  while (next < groups.size() || !running_.empty()) {
    // Before anything is made of how a run ended: Ctrl-C ends runs as well.
    if (stop_.came()) {
      stop_all();
      return fail(ErrorCode::kAborted, "stopped");
    }
    while (next < groups.size() && running_.size() < jobs_) {
      if (auto ok = start(groups[next], of_each); !ok) return ok;
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

Status Runner::start(const Points& points, unsigned jobs) {
  Run run;
  for (const auto* point : points) {
    run.branches.push_back({point, PointFolder(results_, point->identity)});
    if (auto ok = run.branches.back().folder.begin(); !ok) return ok;
  }
  if (auto ok = start_process(run, jobs); !ok) return ok;
  running_.push_back(std::move(run));
  return {};
}

Status Runner::start_process(Run& run, unsigned jobs) const {
  const auto& first = run.branches.front();
  auto arguments = first.point->arguments;
  for (const auto& set : first.point->sets) arguments.push_back("--set=" + set);
  FileDescriptor input, output;
  if (run.branches.size() == 1) {
    arguments.push_back("--report=" + first.folder.running());
  } else {
    std::vector<sweep::Branch> branches;
    for (const auto& [point, folder, ended] : run.branches) {
      branches.push_back({point->sets, folder.running(), folder.log()});
    }
    const std::string text = branches_text(branches);
    input = memory_file("branches", {reinterpret_cast<const std::byte*>(text.data()), text.size()});
    std::array<int, 2> pipe{-1, -1};
    if (!input || ::lseek(input.get(), 0, SEEK_SET) != 0 || ::pipe2(pipe.data(), O_CLOEXEC) != 0) {
      return not_started();
    }
    run.ends = FileDescriptor(pipe[0]);
    output = FileDescriptor(pipe[1]);
    ::fcntl(run.ends.get(), F_SETFL, O_NONBLOCK);
    arguments.insert(arguments.end(), {"--branches=/dev/stdin", fmt::format("--jobs={}", jobs)});
  }
  const auto process = start_npusim(arguments, first.folder.log(), input.get(), output.get());
  if (!process) return forward_error(process);
  run.process = *process;
  return {};
}

void Runner::wait() {
  std::vector<pollfd> files{{stop_.file(), POLLIN, 0}, {children_.file(), POLLIN, 0}};
  for (const auto& run : running_) {
    if (run.ends) files.push_back({run.ends.get(), POLLIN, 0});
  }
  constexpr int kRedraw = 1000;  // ms
  ::poll(files.data(), files.size(), progress_.on_terminal() ? kRedraw : -1);
  children_.take();
}

Status Runner::read_ends(Run& run, SweepState& state) {
  std::array<char, 4096> text{};
  ssize_t size = 0;
  while (run.ends && (size = ::read(run.ends.get(), text.data(), text.size())) > 0) {
    run.said.append(text.data(), static_cast<std::size_t>(size));
  }
  if (size == 0) run.ends.reset();  // no process is left that could write
  for (const auto& [number, exit_code] : take_ends(run.said)) {
    if (number >= run.branches.size() || run.branches[number].ended) continue;
    if (auto ok = end(run.branches[number], exit_code, signal_line(exit_code), state); !ok) {
      return ok;
    }
  }
  return {};
}

Status Runner::reap(SweepState& state) {
  for (std::size_t i = 0; i < running_.size();) {
    int status = 0;
    const bool ended = ::waitpid(running_[i].process, &status, WNOHANG) == running_[i].process;
    // Ctrl-C reaches this process before a run has ended by it.
    if (stop_.came()) {
      if (ended) running_[i].process = -1;
      return {};
    }
    if (auto ok = read_ends(running_[i], state); !ok) return ok;
    if (!ended) {
      ++i;
      continue;
    }
    Run run = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    if (auto ok = end_all(run, exit_code_of(status), state); !ok) return ok;
  }
  return {};
}

// The process has ended: so has every branch of which nothing is known yet, with what it said last.
Status Runner::end_all(Run& run, int exit_code, SweepState& state) {
  std::string line = signal_line(exit_code);
  if (run.branches.size() > 1 && line.empty()) line = run.branches.front().folder.last_words();
  for (auto& branch : run.branches) {
    if (branch.ended) continue;
    if (auto ok = end(branch, exit_code, line, state); !ok) return ok;
  }
  return {};
}

Status Runner::end(Branch& branch, int exit_code, std::string line, SweepState& state) {
  branch.ended = true;
  if (exit_code == 0) {
    const Status accepted = branch.folder.accept();
    if (accepted) {
      ++state.done;
      return {};
    }
    if (accepted.error().code != ErrorCode::kWrongData) return accepted;
    line = accepted.error().context;
  }
  const auto failed = branch.folder.reject(exit_code, line);
  if (!failed) return forward_error(failed);
  if (++state.failed > kShownFailures) return {};
  progress_.say(fmt::format("point {} ({}) failed, exit code {}: {}", branch.point->number,
                            branch.point->label, failed->exit_code, failed->line));
  return {};
}

void Runner::stop_all() {
  for (const auto& run : running_) {
    if (run.process > 0) ::kill(run.process, SIGKILL);
  }
  for (const auto& run : running_) {
    int status = 0;
    if (run.process > 0) ::waitpid(run.process, &status, 0);
    wait_for_branches(run.ends);
    for (const auto& branch : run.branches) {
      if (!branch.ended) branch.folder.abandon();
    }
  }
  running_.clear();
}

}  // namespace npu::sweep
