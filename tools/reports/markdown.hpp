// SPDX-License-Identifier: Apache-2.0
// Text and tables in Markdown (GitHub's flavour).
#pragma once

#include <string>

#include "tools/reports/report.hpp"

namespace npu::reports {

// On one line, and nothing in it is markup.
std::string markdown_text(const std::string& text);
// Columns and rows, without the title; columns of numbers are aligned right.
std::string markdown_table(const Table& table);

}  // namespace npu::reports
