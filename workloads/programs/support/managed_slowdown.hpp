// SPDX-License-Identifier: Apache-2.0
// How much slower a use of managed memory is when the card has not memory for all of it, and why.
#pragma once

#include <string>

#include "npu/driver/managed.hpp"
#include "workloads/framework/figures.hpp"

namespace npu::workloads {

struct ManagedRun {
  MeasuredSpan span;
  driver::ManagedStatistics done;  // meanwhile
  Picoseconds time() const { return span.end - span.begin; }
};

// What has been counted from `begin` until `end`; what only grows to a largest is that of `end`.
driver::ManagedStatistics done_between(const driver::ManagedStatistics& begin,
                                       const driver::ManagedStatistics& end);

// A table of such uses, and their metrics.
class SlowdownTable {
 public:
  // `what`: of the first column.
  SlowdownTable(Context& context, const std::string& what, const std::string& title);

  void add(const std::string& prefix, const std::string& name, const ManagedRun& with_room,
           const ManagedRun& run);

 private:
  Context& context_;
  Table& table_;
};

}  // namespace npu::workloads
