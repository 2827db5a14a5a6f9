// SPDX-License-Identifier: Apache-2.0
// A run up to an instant (--until, --save), and one that goes on from there (--resume). What is
// saved is not the machine: it is which run it was, and digests of what it had come to. Going on
// runs the beginning again, checks the digests at the instant, and goes on, perhaps with other
// values of parameters that are read later and with faults that happen later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/options.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/run_monitor.hpp"
#include "tools/cli/saved_point.hpp"
#include "tools/reports/report.hpp"
#include "workloads/framework/registry.hpp"

namespace npu::cli {

class RunPoint : public Observer {
 public:
  // With --resume the options become those of the run that was saved. Without it and --save this
  // only hands on to the monitor.
  static tl::expected<RunPoint, Failure> read(Options& options);

  // Before the run, when `report` has its identity and `parameters` their values. All of them live
  // until the run has ended. Bad input: it is another program, configuration or file than when it
  // was saved, or what is to change cannot be.
  Outcome begin(const workloads::Workload& workload, const Options& options,
                workloads::ParameterSet& parameters, reports::Report& report, RunMonitor& monitor);

  const std::atomic<bool>& raised() const override { return Interruption::raised(); }
  bool look(workloads::SimulatorView& simulator) override;
  // The run has ended, by itself or because look() said so.
  void end(Picoseconds now, bool well);

  // The instant of --save has come.
  bool is_to_be_written() const { return mode_ == Mode::kSave && !awaited_; }
  // Why it is none of the runs that were asked for.
  const std::optional<Failure>& failure() const { return failure_; }
  // Writes the file of --save, and says so.
  Outcome write();

 private:
  enum class Mode { kNone, kSave, kResume };

  static tl::expected<RunPoint, Failure> read_saved(Options& options);
  Outcome check_identity(const workloads::Workload& workload) const;
  Outcome check_changes(const workloads::Workload& workload);
  void change();
  bool reach(const workloads::SimulatorView& simulator);

  Mode mode_ = Mode::kNone;
  bool awaited_ = false;  // the instant has not come
  SavedPoint point_;
  std::optional<OptionFile> file_;    // of --save
  std::string name_;                  // of the file
  std::vector<std::string> changes_;  // --set of --resume
  std::optional<workloads::ParameterSet>
      changed_;  // values from the first read of a changed one on
  std::optional<Failure> failure_;
  std::uint64_t looks_ = 0;
  workloads::ParameterSet* parameters_ = nullptr;
  reports::Report* report_ = nullptr;
  RunMonitor* monitor_ = nullptr;
};

}  // namespace npu::cli
