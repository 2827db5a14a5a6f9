// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/trust/known_errors.hpp"

#include <cmath>
#include <cstdlib>

#include "tools/reports/csv_file.hpp"

namespace npu::reports {
namespace {

std::vector<CsvRow> rows_of(std::string_view csv) {
  auto rows = parse_csv(std::string(csv), "docs/accuracy");
  return rows ? std::move(*rows) : std::vector<CsvRow>{};
}

unsigned count(const CsvRow& row, const char* column) {
  return static_cast<unsigned>(std::strtoul(row.at(column).c_str(), nullptr, 10));
}

}  // namespace

std::vector<KnownError> parse_known_errors(std::string_view csv) {
  std::vector<KnownError> errors;
  for (const auto& row : rows_of(csv)) {
    const double ratio = 1 + std::strtod(row.at("error_percent").c_str(), nullptr) / 100;
    if (!(ratio > 0)) continue;
    errors.push_back({row.at("sku"), row.at("operator"), row.at("bound"), row.at("id"),
                      row.at("use"), std::log(ratio)});
  }
  return errors;
}

std::vector<Basis> parse_bases(std::string_view csv) {
  std::vector<Basis> bases;
  for (const auto& row : rows_of(csv)) {
    bases.push_back({row.at("sku"), row.at("part"), count(row, "published"), count(row, "fitted"),
                     count(row, "assumed"), row.at("fits")});
  }
  return bases;
}

std::vector<FidelityError> parse_fidelity(std::string_view csv) {
  std::vector<FidelityError> errors;
  for (const auto& row : rows_of(csv)) {
    errors.push_back({row.at("config"), row.at("workload"),
                      std::strtod(row.at("error_percent").c_str(), nullptr)});
  }
  return errors;
}

}  // namespace npu::reports
