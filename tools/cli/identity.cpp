// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/identity.hpp"

#include <algorithm>

#include "model/config/load.hpp"
#include "tools/reports/html/page.hpp"
#include "tools/reports/report_json.hpp"
#include "tools/reports/report_reader.hpp"
#include "tools/reports/report_text.hpp"

namespace npu::cli {
namespace {

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

Outcome publish(OptionFile& file, OptionFile& page, const reports::Report& report) {
  std::string text = reports::to_text(report);
  // Nobody sees the file's text where what is printed does not depend on it.
  if (!file.is_wanted() && !page.is_wanted() && is_ascii(text)) return print(text);
  const std::string json = reports::to_json(report);
  Outcome written = file.write(json);
  if (page.is_wanted()) {
    const Outcome drawn = page.write(reports::html_page(json));
    if (written) written = drawn;
  }
  // What is printed is what `npusim report` makes of the file, also where text that is no UTF-8 had
  // to be replaced there.
  if (json.find("\\ufffd") != std::string::npos) {
    if (const auto again = reports::read_report(json)) text = reports::to_text(*again);
  }
  Outcome printed = print(text);
  return written ? printed : written;
}

Outcome write_config(const std::string& path, const model::SystemConfig& config) {
  auto file = OptionFile::open("--config-out", path);
  if (!file) return tl::unexpected(file.error());
  if (!file->is_wanted()) return {};
  return file->write(model::show_system(config));
}

}  // namespace npu::cli
