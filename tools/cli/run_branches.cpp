// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/run_branches.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "npu/base/child_program.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/write_all.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/point_runs.hpp"
#include "tools/cli/run_checks.hpp"
#include "tools/reports/input_file.hpp"

namespace npu::cli {
namespace {

using sweep::Branch;
using workloads::ParameterSet;

// Ends a branch that cannot go on.
[[noreturn]] void give_up(const Branch& branch, const std::string& text) {
  std::fputs(("npusim: " + shortened(branch.log, kShownPath) + ": " + text + "\n").c_str(), stderr);
  ::_exit(kExitFailure);
}

void tell(const sweep::BranchEnd& end) {
  const std::string line = sweep::line_of(end);
  write_all(STDOUT_FILENO, {reinterpret_cast<const std::byte*>(line.data()), line.size()});
}

// Standard error is that of the common beginning up to here, and goes to a file of the branch's
// own.
void take_log(const Branch& branch) {
  std::error_code code;
  constexpr const char* kCommon = "/proc/self/fd/2";
  if (std::filesystem::equivalent(kCommon, branch.log, code)) return;
  if (std::filesystem::is_regular_file(kCommon)) {
    std::filesystem::copy_file(kCommon, branch.log,
                               std::filesystem::copy_options::overwrite_existing, code);
  }
  constexpr mode_t kMode = 0666;
  const FileDescriptor log(
      ::open(branch.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode));
  if (!log || ::dup2(log.get(), STDERR_FILENO) < 0) give_up(branch, "cannot be written");
}

// `common`: what --set says of the run itself.
tl::expected<ParameterSet, Failure> values_of(const Branch& branch,
                                              const workloads::Workload& workload,
                                              const std::vector<std::string>& common) {
  ParameterSet values(workload.parameters);
  for (const auto& set : branch.sets) {
    const std::string where = "--branches: --set " + shortened(set) + ": ";
    if (is_parameter(workload, set.substr(0, set.find('=')))) {
      const Status assigned = values.assign(set);
      if (!assigned) return bad_input(where + assigned.error().context);
    } else if (std::find(common.begin(), common.end(), set) == common.end()) {
      return bad_input(where + "no parameter of " + workload.name + ", and not set for the run");
    }
  }
  if (workload.check == nullptr) return values;
  const Status usable = workload.check(values, config_directories());
  if (!usable) return bad_input("--branches: " + usable.error().context);
  return values;
}

Outcome check_options_beside(const Options& options) {
  for (const auto* file :
       {&options.report, &options.html, &options.config_out, &options.trace, &options.vcd}) {
    if (file->empty()) continue;
    return bad_input(
        "--branches: each branch writes its own report; there is no --report, --html, "
        "--config-out, --trace or --vcd");
  }
  if (options.watch) return bad_input("--branches: --watch shows one run");
  return {};
}

}  // namespace

tl::expected<RunBranches, Failure> RunBranches::read(const Options& options,
                                                     const workloads::Workload& workload) {
  RunBranches all;
  if (options.branches.empty()) {
    if (options.sweep.jobs.empty()) return all;
    return bad_input("run: --jobs is of --branches");
  }
  if (auto ok = check_options_beside(options); !ok) return tl::unexpected(ok.error());
  const auto text = reports::read_file(options.branches);
  if (!text) return bad_input("--branches: " + text.error().context);
  auto branches = sweep::parse_branches(*text);
  if (!branches) {
    return bad_input(shortened(options.branches, kShownPath) + ": " + branches.error().context);
  }
  const auto jobs = jobs_of(options.sweep.jobs);
  if (!jobs) return tl::unexpected(jobs.error());
  all.jobs_ = *jobs;
  for (const auto& branch : *branches) {
    auto values = values_of(branch, workload, options.sets);
    if (!values) return tl::unexpected(values.error());
    all.values_.push_back(std::move(*values));
  }
  all.branches_ = std::move(*branches);
  return all;
}

void RunBranches::begin(ParameterSet& parameters, std::function<void(const Branch&)> divided) {
  if (branches_.empty()) return;
  parameters_ = &parameters;
  divided_ = std::move(divided);
  const auto common = parameters.texts();
  std::vector<std::string> different;
  for (std::size_t i = 0; i < common.size(); ++i) {
    for (const auto& values : values_) {
      if (values.texts()[i] == common[i]) continue;
      different.push_back(common[i].first);
      break;
    }
  }
  parameters.before_reading(std::move(different), [this](std::string_view name) {
    divide(fmt::format("at {}, where {} is read", time_text(clock_()), name));
  });
}

void RunBranches::divide(const std::string& where) {
  if (branches_.empty()) return;
  std::fputs(fmt::format("npusim: {} runs part {}\n", branches_.size(), where).c_str(), stderr);
  parameters_->before_reading({}, {});
  std::fflush(nullptr);
  const int parent = ::getpid();
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    while (running_.size() >= jobs_) wait_for_one();
    const pid_t branch = ::fork();
    if (branch == 0) return become(i, parent);
    if (branch > 0) {
      running_.emplace(branch, i);
    } else {
      std::fputs("npusim: no process for a branch\n", stderr);
      tell({i, kExitFailure});
    }
  }
  while (!running_.empty()) wait_for_one();
  ::_exit(0);  // the branches end in order, and clean up
}

void RunBranches::become(std::size_t number, int parent) {
  const Branch branch = branches_[number];
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExitFailure);
  take_log(branch);
  // Open until the branch has ended, by which a sweep that is stopped knows that it has.
  ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const FileDescriptor nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nowhere || ::dup2(nowhere.get(), STDOUT_FILENO) < 0) give_up(branch, "no standard output");
  for (const auto& [name, text] : values_[number].texts()) {
    if (auto set = parameters_->set(name, text); !set) give_up(branch, set.error().context);
  }
  branches_.clear();
  running_.clear();
  divided_(branch);
}

void RunBranches::wait_for_one() {
  int status = 0;
  const pid_t ended = ::waitpid(-1, &status, 0);
  if (ended < 0 && errno == EINTR && Interruption::signal() != 0 && !signalled_) {
    signalled_ = true;
    for (const auto& [process, number] : running_) ::kill(process, Interruption::signal());
  }
  const auto found = running_.find(ended);
  if (found == running_.end()) return;
  tell({found->second, exit_code_of(status)});
  running_.erase(found);
}

}  // namespace npu::cli
