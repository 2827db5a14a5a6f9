// SPDX-License-Identifier: Apache-2.0
// Published figures beside the model's: a table of docs/accuracy/tables.csv with its rows of
// rows.csv, each of which is a metric of one run of npusim.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/system/accuracy/csv_file.hpp"
#include "tests/system/accuracy/line.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::accuracy {

class Comparison : public cli::Program {
 protected:
  // Kernels that are compiled on demand are kept for the rows of a test.
  Comparison() { ::setenv("NPUSIM_JIT_CACHE_DIR", path("kernels").c_str(), 1); }

  // Runs what a table's rows ask for and expects the result on the page. Large runs only with
  // `slow_rows`: else the page's own figures stand for them.
  void expect_table(const std::string& name, bool slow_rows);

 private:
  std::string model(const CsvRow& table, const CsvRow& row);
  // Metrics of a run by name.
  std::map<std::string, double> run(const std::string& arguments);

  std::map<std::string, std::map<std::string, double>> runs_;
};

// Of tables.csv.
std::vector<std::string> table_names();

}  // namespace npu::accuracy
