// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/html/page.hpp"

#include "tools/reports/html/escape.hpp"
#include "tools/reports/html/page_assets.hpp"

namespace npu::reports {
namespace {

// Nothing but the scripts and the style that are in the page, known by their digests.
std::string policy(const PageAssets& assets) {
  return "default-src 'none'; script-src " + policy_hash(assets.plots) + " " +
         policy_hash(assets.script) + "; style-src " + policy_hash(assets.style) +
         "; img-src data:; base-uri 'none'; form-action 'none'";
}

// `kind`: which page the script draws.
std::string page(const std::string& kind, const std::string& json) {
  const PageAssets assets = page_assets();
  std::string text;
  text.reserve(json.size() + assets.plots.size() + assets.script.size() + 64 * 1024);
  text += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  text += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy(assets) + "\">\n";
  text += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  text += "<meta name=\"color-scheme\" content=\"light dark\">\n<title>npusim</title>\n<style>";
  text.append(assets.style).append("</style>\n</head>\n<body data-page=\"" + kind + "\">\n");
  text.append(assets.body);
  text += "<footer><details><summary>Licence of Chart.js</summary><pre>";
  text += html_text(assets.plots_licence) + "</pre></details></footer>\n";
  text += "<script type=\"application/json\" id=\"data\">";
  text += script_safe(json) + "</script>\n<script>";
  text.append(assets.plots).append("</script>\n<script type=\"module\">");
  text.append(assets.script).append("</script>\n</body>\n</html>\n");
  return text;
}

}  // namespace

std::string html_page(const std::string& report_json) {
  return page("report", report_json);
}

std::string sweep_page(const std::string& sweep_json) {
  return page("sweep", sweep_json);
}

}  // namespace npu::reports
