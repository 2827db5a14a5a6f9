// SPDX-License-Identifier: Apache-2.0
// The tables of docs/accuracy.
#pragma once

#include <gtest/gtest.h>

#include "tools/reports/csv_file.hpp"

namespace npu::accuracy {

using reports::CsvRow;

inline std::vector<CsvRow> read_csv(const std::string& path) {
  auto rows = reports::load_csv(path);
  EXPECT_TRUE(rows) << rows.error().context;
  return rows ? std::move(*rows) : std::vector<CsvRow>{};
}

}  // namespace npu::accuracy
