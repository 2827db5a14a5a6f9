// SPDX-License-Identifier: Apache-2.0
// What --trace, its filters and --profile ask for: a file and sections of the report that are made
// from the events of a run.
#pragma once

#include <memory>
#include <string>

#include "model/config/system_config.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/simulator.hpp"
#include "tools/reports/report.hpp"
#include "tools/timeline/chrome_trace.hpp"
#include "workloads/framework/trace_session.hpp"

namespace npu::cli {

class Recording : public Listener {
 public:
  // Opens the files before the run. Without options it listens to nothing.
  static tl::expected<Recording, Failure> open(const Options& options);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) = delete;
  ~Recording() override;

  // Listens from now on; `source` lives until end().
  void begin(workloads::TraceSource& source) override;
  // Hears no more.
  void end(workloads::TraceSource& source, const workloads::SimulatorView& simulator) override;
  // The sections of a profile, if one was asked for.
  void complete(reports::Report& report, const model::SystemConfig& config);
  // The files hold what was heard, and what it is of. kExitFailure: one cannot be written.
  Outcome write(const reports::Report& report);

 private:
  class Parts;
  Recording();
  std::unique_ptr<Parts> parts_;
};

}  // namespace npu::cli
