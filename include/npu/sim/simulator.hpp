// SPDX-License-Identifier: Apache-2.0
// The simulator as a library: give it a configuration, run host programs on its platform. One
// simulator per process (a SystemC kernel elaborates once); programs run one after another.
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
  // `config` is a path or a name, looked up like the --config option; `overrides` are
  // "key=value", the keys in full or by their last part, as --set takes them. kInvalidArgument: the
  // context is the one line the npusim program would print;
  // kAlreadyExists: this process has a simulator, or had one.
  static Result<std::unique_ptr<Simulator>> create(const std::string& config,
                                                   const std::vector<std::string>& overrides = {});
  // What create() would say of a configuration: of any, at any time.
  static Status check(const std::string& config, const std::vector<std::string>& overrides = {});
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Runs `program` as the first host task and returns when it has returned. kTimeout: all tasks
  // wait for something that can no longer happen; the context says who for what, and the
  // simulator cannot run anything more. kAborted: attend()'s `look` has ended it; the same holds.
  Status run(std::function<void(platform::Platform&)> program);
  // Before run(): `look` is called soon after `raised` was set, between two events of the machine
  // and on the stack of run()'s caller. It clears `raised`; true ends the run where it is.
  void attend(const std::atomic<bool>& raised, std::function<bool()> look);

  // Simulated time since power-up.
  Instant now() const;
  unsigned cards() const;
  // What the machine has done since power-up, as the JSON of `npusim run --report`
  // (docs/reports.md): configuration, overrides, counters, no metrics. `workload` is the name it
  // gives what has run. After a run that was stuck or ended, `outcome` says so.
  std::string report(const std::string& workload) const;
  // Events are kept from now on, for profile().
  void record();
  // report() with what was recorded made of it: the sections that `npusim run --profile` adds, and
  // limits of kernels (docs/reports.md). Recording ends. Without record() it is report().
  std::string profile(const std::string& workload);
  // `sink` hears every event emitted until it is removed.
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
