// SPDX-License-Identifier: Apache-2.0
// Tables of comma separated values with a line of names first, fields in quotes where they hold
// commas, quotes (doubled) or line breaks (RFC 4180).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::reports {

struct CsvRow {
  int line = 0;  // where the row begins, from 1
  std::map<std::string, std::string> fields;

  // Empty: the table has no such column.
  const std::string& at(const std::string& column) const;
};

// kInvalidArgument: no names, or a row with more or fewer fields; errors begin with file and line.
// kIo: the file cannot be read.
Result<std::vector<CsvRow>> load_csv(const std::string& path);
// The same of a text; `name` stands in errors.
Result<std::vector<CsvRow>> parse_csv(const std::string& text, const std::string& name);

}  // namespace npu::reports
