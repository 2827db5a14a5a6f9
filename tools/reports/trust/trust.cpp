// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/trust/trust.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/reports/json_text.hpp"
#include "tools/reports/trust/bands.hpp"
#include "tools/reports/trust/kind.hpp"

namespace npu::reports {
namespace {

constexpr const char* kSection = "trust";

// In us, to three decimals.
Number part_of(Picoseconds time, double factor) {
  return Number::scaled(std::llround(static_cast<double>(time.count()) * factor / 1000), 3);
}

std::string rows_text(std::size_t rows) {
  return fmt::format("{} row{}", rows, rows == 1 ? "" : "s");
}

// Keys that change times are no longer the shipped ones.
bool is_changed(const Report& report) {
  return std::any_of(report.overrides.begin(), report.overrides.end(), [](const auto& each) {
    const std::string& key = each.key.name;
    constexpr std::string_view kFunctional = "core.functional";
    return key.size() < kFunctional.size() ||
           key.compare(key.size() - kFunctional.size(), kFunctional.size(), kFunctional) != 0;
  });
}

const Bands& bands() {
  static const Bands kBands(known_errors());
  return kBands;
}

std::string none_of(const TimedKernel& kernel) {
  return fmt::format("{}: no comparison exists of {} with a {}", kernel.metric,
                     kernel.operation.empty() ? "such a kernel" : kernel.operation, kernel.sku);
}

std::string note_of(const TimedKernel& kernel, const std::string& bound,
                    const std::optional<Band>& band) {
  if (!band) {
    const auto rows = bands().rows(kernel.sku);
    if (rows == 0) return none_of(kernel) + ", nor of any other: nothing is known of its error";
    return fmt::format("{}: only {} of the {} were compared: no band", kernel.metric,
                       rows_text(rows), kernel.sku);
  }
  const auto interval =
      fmt::format("{} to {} us on silicon with a probability of 90 %",
                  part_of(kernel.time, band->low).text(), part_of(kernel.time, band->high).text());
  if (band->of_operator == 0) {
    return fmt::format("{}; {}, if it errs as other operators bound by {} do ({})", none_of(kernel),
                       interval, bound, rows_text(band->of_bound));
  }
  return fmt::format(
      "{}: {}, from the errors of {} of {} on the {}, {} of them bound by {} as this; {}",
      kernel.metric, interval, rows_text(band->of_operator), kernel.operation, kernel.sku,
      band->alike, bound,
      band->fits == 0 ? "no value was fitted to them"
                      : fmt::format("values were fitted to {} of them", band->fits));
}

struct Part {
  const Limit* limit;
  const Basis* basis;  // null: not known
};

std::vector<Part> parts_of(const Report& report, const TimedKernel& kernel) {
  const auto& bases = known_bases();
  std::vector<Part> parts;
  for (const auto& limit : report.limits()) {
    if (limit.subject != kernel.subject || kind_of_limit(limit.name).empty()) continue;
    const auto found = std::find_if(bases.begin(), bases.end(), [&](const Basis& each) {
      return each.sku == kernel.sku && each.part == limit.name;
    });
    parts.push_back({&limit, found == bases.end() ? nullptr : &*found});
  }
  return parts;
}

void add_table(Report& report, const TimedKernel& kernel, const std::vector<Part>& parts) {
  if (parts.empty()) return;
  auto& table =
      report.add_table("What " + kernel.metric + " rests on",
                       {"part", "% of the time", "values published", "fitted", "assumed"});
  for (const auto& part : parts) {
    std::vector<std::string> row{part.limit->name, part.limit->percent.text(), "", "", ""};
    if (part.basis != nullptr) {
      row[2] = std::to_string(part.basis->published);
      row[3] = std::to_string(part.basis->fitted);
      row[4] = std::to_string(part.basis->assumed);
    }
    table.rows.push_back(std::move(row));
  }
}

std::string part_json(const Part& part) {
  std::string text = fmt::format("{{\"part\": {}, \"percent\": {}", json_string(part.limit->name),
                                 part.limit->percent.text());
  if (part.basis != nullptr) {
    text += fmt::format(", \"published\": {}, \"fitted\": {}, \"assumed\": {}, \"fits\": {}",
                        part.basis->published, part.basis->fitted, part.basis->assumed,
                        json_string(part.basis->fits));
  }
  return text + "}";
}

std::string json_of(const TimedKernel& kernel, const std::string& bound,
                    const std::optional<Band>& band, bool changed, const std::vector<Part>& parts) {
  std::string text = fmt::format(
      "[{{\"metric\": {}, \"operator\": {}, \"bound\": {}, \"sku\": {}, \"compared\": {}",
      json_string(kernel.metric), json_string(kernel.operation), json_string(bound),
      json_string(kernel.sku), band && band->of_operator != 0 ? "true" : "false");
  if (band) {
    text += fmt::format(
        ",\n    \"low_us\": {}, \"high_us\": {}, \"rows_alike\": {}, \"rows_of_operator\": {}, "
        "\"rows_of_bound\": {}, \"fits\": {}",
        part_of(kernel.time, band->low).text(), part_of(kernel.time, band->high).text(),
        band->alike, band->of_operator, band->of_bound, band->fits);
  }
  std::vector<std::string> texts;
  texts.reserve(parts.size());
  for (const auto& part : parts) texts.push_back(part_json(part));
  return text + fmt::format(",\n    \"keys_changed\": {}, \"basis\": [{}]}}]",
                            changed ? "true" : "false", fmt::join(texts, ",\n      "));
}

}  // namespace

void add_trust(Report& report, const TimedKernel& kernel) {
  const auto& sections = report.sections();
  const bool there = std::any_of(sections.begin(), sections.end(),
                                 [](const Section& each) { return each.name == kSection; });
  if (there || kernel.time.count() <= 0) return;
  const auto bound = bound_of(report.limits(), kernel.subject);
  if (bound.empty()) return report.add_note(none_of(kernel));
  const auto band = bands().of(kernel.sku, kernel.operation, bound);
  const auto parts = parts_of(report, kernel);
  const bool changed = is_changed(report);
  add_table(report, kernel, parts);
  report.add_note(note_of(kernel, bound, band) +
                  (changed ? "; keys are changed, it is of the shipped ones" : ""));
  report.add_section({kSection, json_of(kernel, bound, band, changed, parts)});
}

}  // namespace npu::reports
