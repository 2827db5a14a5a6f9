// SPDX-License-Identifier: Apache-2.0
// The file of a timeline: what is written reaches its place when it is complete.
#pragma once

#include <utility>

#include "tools/reports/output_file.hpp"
#include "tools/reports/report.hpp"
#include "tools/timeline/byte_sink.hpp"
#include "tools/timeline/chrome_trace.hpp"

namespace npu::workloads {

class RecordedFile : public timeline::ByteSink {
 public:
  explicit RecordedFile(reports::OutputFile file) : file_(std::move(file)) {}
  Status append(ConstByteSpan bytes) override { return file_.append(bytes); }
  Status finish() override { return file_.commit(); }

 private:
  reports::OutputFile file_;
};

// What a timeline says at its end of the run that it is of.
inline timeline::About about_run(const reports::Report& report) {
  return {{"npusim", report.version},
          {"workload", report.workload},
          {"config", report.config},
          {"config_sha256", report.config_sha256},
          {"seed", std::to_string(report.seed)},
          {"outcome", report.outcome},
          {"simulated_ps", std::to_string(report.simulated.count())}};
}

}  // namespace npu::workloads
