// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/point_runs.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "npu/base/shortened.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/sweep/runner.hpp"
#include "workloads/framework/parameter_text.hpp"

namespace npu::cli {
namespace {

constexpr std::uint64_t kMostJobs = 4096;

// The processors that this process may use.
unsigned processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
}

}  // namespace

tl::unexpected<Failure> give_up(const Error& error) {
  return tl::unexpected(to_failure(error, error.context));
}

tl::expected<std::uint64_t, Failure> number_of(const std::string& option, const std::string& text,
                                               std::uint64_t least, std::uint64_t most) {
  const auto number = workloads::parse_integer(text);
  if (number && *number >= least && *number <= most) return *number;
  return bad_input(
      fmt::format("{}: found '{}'; allowed: {}..{}", option, shortened(text), least, most));
}

tl::expected<unsigned, Failure> jobs_of(const std::string& option) {
  if (option.empty()) return processors();
  const auto number = number_of("--jobs", option, 1, kMostJobs);
  if (!number) return tl::unexpected(number.error());
  return static_cast<unsigned>(*number);
}

tl::expected<int, Failure> run_points(const std::string& name,
                                      const std::vector<const sweep::PlannedPoint*>& points,
                                      const std::string& results, unsigned jobs,
                                      sweep::SweepState& state) {
  // Of a single point the command itself says all there is to say.
  sweep::SweepProgress progress(name, state.total == 1);
  sweep::Runner runner(results, jobs, progress);
  const Status ran = runner.run(points, state);
  if (ran) return 0;
  if (ran.error().code != ErrorCode::kAborted) return give_up(ran.error());
  return runner.signal();
}

void end_by(int signal, const std::string& name, const sweep::SweepState& state,
            const std::string& hint) {
  const std::string line =
      fmt::format("npusim: {}: stopped by SIG{} with {} of {} points done{}{}\n", name,
                  ::sigabbrev_np(signal), state.before + state.done, state.total,
                  state.failed > 0 ? fmt::format(" and {} failed", state.failed) : "", hint);
  std::fputs(line.c_str(), stderr);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::_exit(kExitFailure);
}

}  // namespace npu::cli
