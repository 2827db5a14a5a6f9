// SPDX-License-Identifier: Apache-2.0
// How long a vector unit that computes in registers takes for a function (950.md N3, N5, N8): the
// longest of what execution ports, load and store ports and UB need for all of its iterations, and
// its start and end. By columns, a row also waits for the row before it; registers of other columns
// go on beside it (950.md N8: a column sum). The plain instructions of such a unit are functions of
// one operation.
#pragma once

#include "model/aicore/vector_function.hpp"
#include "model/config/program_core_config.hpp"

namespace npu::model {

// What a function asks of the unit. An iteration handles one register of each value.
struct FunctionWork {
  std::uint64_t rows = 1;
  std::uint64_t iterations = 1;         // of all rows together
  std::uint64_t masks = 1;              // that are set
  std::uint64_t percent = 0;            // of a clock of one execution port, each iteration
  std::uint64_t row_percent = 0;        // the same, each row; on the first port only
  std::uint64_t once_percent = 0;       // the same, once; on the first port only
  std::uint64_t loads = 0, stores = 0;  // registers, all of them together
  Bytes bytes = 0;                      // that they move
  std::uint64_t latency = 0;            // clocks until the first iteration's result
  std::uint64_t row_clocks = 0;         // from a row to the next one, at least
  bool reduces = false;
};

class FunctionTimes {
 public:
  explicit FunctionTimes(const VectorConfig& config) : config_(config) {}

  // In hundredths of a clock.
  std::uint64_t of(const FunctionBody& function) const { return of(work_of(function)); }
  // Not a transposition.
  std::uint64_t of(const platform::Vector& vector) const { return of(work_of(vector)); }
  std::uint64_t of(const FunctionWork& work) const;

 private:
  FunctionWork work_of(const FunctionBody& function) const;
  FunctionWork work_of(const platform::Vector& vector) const;
  std::uint64_t kept_clocks(const FunctionBody& function) const;
  void add_step(FunctionWork& work, const platform::FunctionStep& step) const;
  void count_iterations(FunctionWork& work, std::uint64_t rows, std::uint64_t count,
                        Bytes width) const;

  const VectorConfig& config_;
};

}  // namespace npu::model
