// SPDX-License-Identifier: Apache-2.0
// Measurements beside what npusim predicts for them, and how far they are from each other.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/validate/measurement.hpp"
#include "tools/cli/validate/operation.hpp"
#include "tools/reports/report.hpp"

namespace npu::validate {

struct Compared {
  const Measurement* row = nullptr;
  Operation operation;
  double predicted = 0;    // in the row's unit
  std::string bound = {};  // kind of what bounded the run (tools/reports/trust/kind.hpp)

  double error_percent() const { return (predicted / row->value - 1) * 100; }
};

// Of some rows: mean and median of absolute errors, and the mean with sign.
struct Errors {
  std::size_t rows = 0;
  double mape = 0, median = 0, bias = 0;  // in percent
};
Errors errors_of(const std::vector<const Compared*>& rows);

class Validation {
 public:
  void add(Compared row) { compared_.push_back(std::move(row)); }
  void skip(const Measurement& row, std::string reason) {
    skipped_.push_back({&row, std::move(reason)});
  }

  std::size_t run() const { return compared_.size(); }
  // Tables, farthest rows first, steps of ladders, how many rows bands hold, and the metrics
  // validate.*.
  void report(reports::Report& to) const;

 private:
  struct Skipped {
    const Measurement* row;
    std::string reason;
  };
  using Group = std::pair<std::string, std::string>;  // part, operator
  std::map<Group, std::vector<const Compared*>> groups() const;
  void report_bands(reports::Report& to) const;
  void report_steps(reports::Report& to) const;

  std::vector<Compared> compared_;
  std::vector<Skipped> skipped_;
};

}  // namespace npu::validate
