// SPDX-License-Identifier: Apache-2.0
// The simulator as a library, for programs that run host programs on a simulated machine. A process
// can have one simulator (a SystemC kernel elaborates once). Programs run one after another.
//
//   auto simulator = npu::sim::Simulator::create("910b");
//   (*simulator)->run([](npu::platform::Platform& platform) { ... Device::open(platform, ...) ...
//   });
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/platform.hpp"

#define NPU_SIM_API __attribute__((visibility("default")))

namespace npu::sim {

class NPU_SIM_API Simulator {
 public:
  // `config` is a path or a name, as with option --config. `overrides` are "key=value" as with
  // --set: the full key or its last part.
  // kInvalidArgument: the configuration is wrong. The context is the line that npusim would print.
  // kAlreadyExists: this process has or had a simulator.
  static Result<std::unique_ptr<Simulator>> create(const std::string& config,
                                                   const std::vector<std::string>& overrides = {});
  // Checks a configuration as create() does, at any time.
  static Status check(const std::string& config, const std::vector<std::string>& overrides = {});
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Runs `program` as the first host task, and returns after it. After an error the simulator
  // cannot run anything.
  // kTimeout: all tasks wait for events that can no longer happen, which the context names; or an
  // earlier run failed.
  // kAborted: `look` of attend() ended the run.
  Status run(std::function<void(platform::Platform&)> program);
  // Call it before run(). Soon after `raised` is set, run() calls `look` between two events of the
  // machine. `look` clears `raised`, and ends the run by returning true.
  void attend(const std::atomic<bool>& raised, std::function<bool()> look);

  // Simulated time since power-up.
  Instant now() const;
  unsigned cards() const;
  // The report of the machine since power-up, as JSON of `npusim run --report` (docs/reports.md):
  // configuration, overrides and counters, without metrics. `workload`: the name of the run in it.
  // `outcome` names a failed run.
  std::string report(const std::string& workload) const;
  // Begins to record events for profile().
  void record();
  // report() with sections from the recorded events: those of `npusim run --profile`, and limits of
  // kernels (docs/reports.md). Ends the recording. Without record() it is report().
  std::string profile(const std::string& workload);
  // Writes what happens from now on as a timeline (docs/timeline.md) until end_trace(), which puts
  // it into its place. kBusy: one is being written; kInvalidArgument, kIo: `path` cannot be
  // written.
  Status begin_trace(const std::string& path);
  // kIo: the file cannot be written. Nothing to do if none is.
  Status end_trace(const std::string& workload);
  // The page of a report of this machine, as that of `npusim run --html` (docs/pages.md). Errors:
  // begin_trace().
  static Status write_page(const std::string& path, const std::string& report);

  // `sink` gets every event until it is removed.
  void add(platform::TraceSink& sink);
  void remove(platform::TraceSink& sink);

  struct Impl;  // the library's own
  Impl& impl() { return *impl_; }

 private:
  explicit Simulator(std::unique_ptr<Impl> impl);
  void end_recording();
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::sim
