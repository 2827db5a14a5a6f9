// SPDX-License-Identifier: Apache-2.0
// Runs points as processes, a number of them at a time. Points that differ in parameters alone
// begin as one process, which divides where one of these parameters is first read
// (run_branches.hpp).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "npu/base/file_descriptor.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/sweep/child_signals.hpp"
#include "tools/cli/sweep/planned_point.hpp"
#include "tools/cli/sweep/point_folder.hpp"
#include "tools/cli/sweep/sweep_progress.hpp"

namespace npu::sweep {

class Runner {
 public:
  // `results`: the results directory, which is there. Takes SIGINT, SIGTERM and SIGHUP from here
  // on.
  Runner(std::string results, unsigned jobs, SweepProgress& progress);
  ~Runner();  // no run goes on
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Runs all points, in their order; `state` counts. A run that fails is recorded in its folder and
  // the others go on. kAborted: a signal came; kIo, kInvalidArgument: something of the results
  // cannot be written, or no process be started. Runs that had not ended leave nothing then.
  Status run(const std::vector<const PlannedPoint*>& points, SweepState& state);
  int signal() const { return stop_.number(); }

 private:
  using Points = std::vector<const PlannedPoint*>;
  struct Branch {
    const PlannedPoint* point;
    PointFolder folder;
    bool ended = false;
  };
  struct Run {
    pid_t process = -1;
    std::vector<Branch> branches;  // one: the process itself
    FileDescriptor ends;           // what a process that divides says of their ends
    std::string said;
  };
  // `jobs`: branches at a time.
  Status start(const Points& points, unsigned jobs);
  Status start_process(Run& run, unsigned jobs) const;
  Status read_ends(Run& run, SweepState& state);
  Status reap(SweepState& state);
  Status end_all(Run& run, int exit_code, SweepState& state);
  Status end(Branch& branch, int exit_code, std::string line, SweepState& state);
  void wait();
  void stop_all();

  std::string results_;
  unsigned jobs_;
  SweepProgress& progress_;
  cli::StopSignals stop_;
  ChildSignals children_;
  std::vector<Run> running_;
};

}  // namespace npu::sweep
