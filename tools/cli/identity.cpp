// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/identity.hpp"

#include "model/config/load.hpp"
#include "tools/reports/html/page.hpp"
#include "tools/reports/report_json.hpp"
#include "tools/reports/report_reader.hpp"
#include "tools/reports/report_text.hpp"

namespace npu::cli {

Outcome publish(OptionFile& file, OptionFile& page, const reports::Report& report) {
  const std::string json = reports::to_json(report);
  Outcome written = file.write(json);
  if (page.is_wanted()) {
    const Outcome drawn = page.write(reports::html_page(json));
    if (written) written = drawn;
  }
  // What is printed is what `npusim report` makes of the file, also where text that is no UTF-8 had
  // to be replaced there.
  const bool replaced = json.find("\\ufffd") != std::string::npos;
  const auto again = replaced ? reports::read_report(json) : report;
  Outcome printed = print(reports::to_text(again ? *again : report));
  return written ? printed : written;
}

Outcome write_config(const std::string& path, const model::SystemConfig& config) {
  auto file = OptionFile::open("--config-out", path);
  if (!file) return tl::unexpected(file.error());
  return file->write(model::show_system(config));
}

}  // namespace npu::cli
