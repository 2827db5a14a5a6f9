// SPDX-License-Identifier: Apache-2.0
// What is known of npusim's errors, as it was built: docs/accuracy/errors.csv, basis.csv and
// fidelity.csv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::reports {

// A comparison with silicon.
struct KnownError {
  std::string sku;        // configuration: "910b2"
  std::string operation;  // as published: "gelu"
  std::string bound;      // kind of what bounds it (kind.hpp)
  std::string id;         // of the measurement
  std::string use;        // "fit": a value of the model was chosen with it in view; "check"
  double log_ratio = 0;   // natural logarithm of predicted / measured
};

// How many values of the configuration a part of a kernel's time comes from.
struct Basis {
  std::string sku;   // configuration
  std::string part;  // name of a limit: "vector", "hbm", ...
  unsigned published = 0, fitted = 0, assumed = 0;
  std::string fits;  // the fitted keys, a blank between them
};

// How far a workload's durations and bandwidths with hbm.fidelity=run were from exact ones.
struct FidelityError {
  std::string config;
  std::string workload;
  double percent = 0;  // the largest of its figures
};

// Rows with errors of -100 % or less, which no run can have, are left out.
std::vector<KnownError> parse_known_errors(std::string_view csv);
std::vector<Basis> parse_bases(std::string_view csv);
std::vector<FidelityError> parse_fidelity(std::string_view csv);

// Those that npusim was built with.
const std::vector<KnownError>& known_errors();
const std::vector<Basis>& known_bases();
const std::vector<FidelityError>& known_fidelity();

}  // namespace npu::reports
