// SPDX-License-Identifier: Apache-2.0
// The tables of docs/accuracy: a first line of names, then rows; a field with commas is in quotes.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace npu::accuracy {

using CsvRow = std::map<std::string, std::string>;  // by the column's name

std::vector<CsvRow> read_csv(const std::string& path);

}  // namespace npu::accuracy
