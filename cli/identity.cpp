// SPDX-License-Identifier: Apache-2.0
#include "cli/identity.hpp"

#include "cli/ceilings.hpp"
#include "cli/overrides.hpp"
#include "model/config/load.hpp"
#include "reports/digest.hpp"
#include "reports/html/page.hpp"
#include "reports/report_json.hpp"
#include "reports/report_reader.hpp"
#include "reports/report_text.hpp"

namespace npu::cli {

reports::Report begin_report(const std::string& workload, const std::string& config_name,
                             const model::SystemConfig& config,
                             const std::vector<std::string>& overrides) {
  reports::Report report;
  report.version = NPU_VERSION;
  report.workload = workload;
  report.config = config_name;
  report.config_sha256 = reports::sha256_text(model::show_system(config));
  for (const auto& each : model::all_values(config)) {
    report.configuration.push_back({each.key, {each.value}, each.is_text});
  }
  for (const auto& given : overrides) {
    const std::string full = full_override(given);
    const std::string key = full.substr(0, full.find('='));
    for (const auto& each : config.replaced) {
      if (each.key == key) report.overrides.push_back({given, {key, {each.value}, each.is_text}});
    }
  }
  report.add_section({"ceilings", ceilings_json(config)});
  return report;
}

Outcome publish(OptionFile& file, OptionFile& page, const reports::Report& report) {
  const std::string json = reports::to_json(report);
  Outcome written = file.write(json);
  if (page.is_wanted()) {
    const Outcome drawn = page.write(reports::html_page(json));
    if (written) written = drawn;
  }
  // What is printed is what `npusim report` makes of the file, also where text that is no UTF-8 had
  // to be replaced there.
  const auto again = reports::read_report(json);
  Outcome printed = print(reports::to_text(again ? *again : report));
  return written ? printed : written;
}

Outcome write_config(const std::string& path, const model::SystemConfig& config) {
  auto file = OptionFile::open("--config-out", path);
  if (!file) return tl::unexpected(file.error());
  return file->write(model::show_system(config));
}

}  // namespace npu::cli
