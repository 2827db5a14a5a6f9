// SPDX-License-Identifier: Apache-2.0
// What every page consists of, embedded when npusim was built.
#pragma once

#include <string_view>

namespace npu::reports {

struct PageAssets {
  std::string_view body;           // HTML between <body> and the page's data
  std::string_view style;          // CSS
  std::string_view script;         // JavaScript of tools/reports/html/page
  std::string_view plots;          // Chart.js
  std::string_view plots_licence;  // its licence, plain text
};

PageAssets page_assets();

}  // namespace npu::reports
