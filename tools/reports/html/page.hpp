// SPDX-License-Identifier: Apache-2.0
// Pages for people: one self-contained HTML file each, which asks for nothing of any network. It
// holds the JSON it shows; a browser draws it with the embedded script and Chart.js.
#pragma once

#include <string>

namespace npu::reports {

// Of a report, schema npusim.report.
std::string html_page(const std::string& report_json);

// Of a sweep's results, schema npusim.sweep_results.
std::string sweep_page(const std::string& sweep_json);

}  // namespace npu::reports
