// SPDX-License-Identifier: Apache-2.0
// How far a duration of a report may be from silicon: a note, a table and an element of the section
// "trust" (docs/reports.md).
#pragma once

#include <string>

#include "tools/reports/report.hpp"

namespace npu::reports {

struct TimedKernel {
  std::string metric;     // in the report: "operator.duration_us"
  std::string subject;    // of its limits: "operator"
  std::string operation;  // as measurements name it: "gelu"; empty: none was ever published
  std::string sku;        // the chip's name: "910b2"
  Picoseconds time;
};

// After the limits of the subject. Once for a report: a second one is left out.
void add_trust(Report& report, const TimedKernel& kernel);

}  // namespace npu::reports
