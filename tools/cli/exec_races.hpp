// SPDX-License-Identifier: Apache-2.0
// `exec --races`: what cards tell the detector of races (apps/exec/races), and what it has found.
#pragma once

#include <memory>
#include <string>

#include "apps/exec/server.hpp"
#include "tools/cli/failure.hpp"
#include "tools/reports/report.hpp"

namespace npu::model {
class System;
}

namespace npu::cli {

class ExecRaces {
 public:
  // `mode`: report or fail; empty: nobody looks for races, and all that follows does nothing.
  explicit ExecRaces(const std::string& mode);
  ~ExecRaces();
  ExecRaces(const ExecRaces&) = delete;
  ExecRaces& operator=(const ExecRaces&) = delete;

  // Null: there is none.
  exec::races::Detector* detector();
  // From now on it hears of the machine.
  void watch(model::System& system);
  // The table races and the metric races.found.
  void add_to(reports::Report& report) const;
  // The run has ended well otherwise. With fail: it has none.
  Outcome outcome() const;

 private:
  struct Cards;

  const std::string mode_;
  std::unique_ptr<Cards> cards_;
};

}  // namespace npu::cli
