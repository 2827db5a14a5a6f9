// SPDX-License-Identifier: Apache-2.0
// npusim report: a report that was written prints again.
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/reports/html/page.hpp"
#include "tools/reports/report_csv.hpp"
#include "tools/reports/report_json.hpp"
#include "tools/reports/report_markdown.hpp"
#include "tools/reports/report_reader.hpp"
#include "tools/reports/report_text.hpp"

namespace npu::cli {
namespace {

tl::expected<std::string, Failure> rendered(const reports::Report& report,
                                            const std::string& format) {
  if (format == "text" || format.empty()) return to_text(report);
  if (format == "markdown") return to_markdown(report);
  if (format == "csv") return to_csv(report);
  if (format == "html") return reports::html_page(to_json(report));
  return bad_input("--format: found '" + shortened(format) +
                   "'; allowed: text, markdown, csv, html");
}

}  // namespace

Outcome show_report(const Options& options) {
  if (options.arguments.empty()) return bad_input("report: give the file of a report");
  if (auto ok = expect_at_most(1, "report", options.arguments); !ok) return ok;
  if (auto other = check_not_read("--output", options.output, options.arguments); !other) {
    return other;
  }
  const auto report = reports::load_report(options.arguments[0]);
  if (!report) return bad_input(report.error().context);
  const auto text = rendered(*report, options.format);
  if (!text) return tl::unexpected(text.error());
  return write_output(options.output, *text);
}

}  // namespace npu::cli
