// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/report_reader.hpp"

#include <algorithm>
#include <array>

#include "npu/base/shortened.hpp"
#include "tools/reports/field_reader.hpp"
#include "tools/reports/input_file.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::reports {
namespace {

constexpr std::array kOwnSections{
    "schema",  "npusim",   "workload",   "config",        "config_sha256", "overrides",
    "outcome", "seed",     "parameters", "configuration", "simulated_ps",  "programs",
    "metrics", "counters", "breakdowns", "tables",        "limits",        "notes"};

bool is_own(const std::string& name) {
  return std::find(kOwnSections.begin(), kOwnSections.end(), name) != kOwnSections.end();
}

class Reader {
 public:
  explicit Reader(const JsonValue& root) : fields_(root, {}, error_) {}

  Result<Report> read() {
    read_identity();
    each("overrides", [this](FieldReader& override) {
      AppliedOverride applied;
      applied.given = override.string("given");
      const std::string key = override.string("key");
      applied.key = named(key, override.any("value"), override.path("value"));
      if (applied.key.elements.empty()) error_.set(override.path("value") + ": found nothing");
      report_.overrides.push_back(std::move(applied));
    });
    report_.parameters = values("parameters");
    report_.configuration = values("configuration");
    read_findings();
    if (error_.is_set()) return fail(ErrorCode::kInvalidArgument, error_.text());
    return std::move(report_);
  }

 private:
  void read_identity() {
    report_.version = fields_.string("npusim");
    report_.workload = fields_.string("workload");
    report_.config = fields_.string("config");
    report_.config_sha256 = fields_.string("config_sha256");
    report_.outcome = fields_.string("outcome");
    report_.seed = fields_.unsigned_integer("seed");
    report_.simulated = Picoseconds(fields_.time("simulated_ps"));
  }

  void read_findings() {
    each("programs", [this](FieldReader& program) {
      std::string name = program.string("name");
      report_.add_program({std::move(name), program.string("sha256")});
    });
    each("metrics", [this](FieldReader& metric) {
      std::string name = metric.string("name");
      const Number value = metric.number("value");
      report_.add_metric(std::move(name), value, metric.string("unit"));
    });
    each("counters", [this](FieldReader& counter) {
      std::string name = counter.string("name");
      const Number value = counter.number("value");
      report_.add_counter(std::move(name), value, counter.string("unit"));
    });
    each("breakdowns", [this](FieldReader& fields) { read_breakdown(fields); });
    each("tables", [this](FieldReader& fields) { read_table(fields); });
    each("limits", [this](FieldReader& fields) {
      Limit limit;
      limit.subject = fields.string("subject");
      limit.name = fields.string("name");
      limit.percent = fields.number("percent");
      limit.text = fields.string("text");
      report_.add_limit(std::move(limit));
    });
    for (auto& note : fields_.strings("notes")) report_.add_note(std::move(note));
  }

  void read_breakdown(FieldReader& fields) {
    Breakdown breakdown;
    breakdown.group = fields.string("group");
    breakdown.label = fields.string("label");
    std::int64_t sum = 0;
    bool fits = true;
    std::size_t place = 0;
    for (const auto& value : fields.array("parts")) {
      FieldReader part(value, fields.path("parts") + "[" + std::to_string(place++) + "]", error_);
      std::string name = part.string("name");
      const std::int64_t time = part.time("ps");
      part.end();
      fits = fits && !__builtin_add_overflow(sum, time, &sum);
      breakdown.parts.push_back({std::move(name), Picoseconds(time)});
    }
    if (const auto wait = fields.optional_time("wait_ps")) {
      breakdown.wait = Picoseconds(*wait);
      fits = fits && !__builtin_add_overflow(sum, *wait, &sum);
    }
    if (!fits) error_.set(fields.path("parts") + ": add up to more than 106 days");
    report_.add_breakdown(std::move(breakdown));
  }

  void read_table(FieldReader& fields) {
    std::string title = fields.string("title");
    Table& table = report_.add_table(std::move(title), fields.strings("columns"));
    std::size_t place = 0;
    for (const auto& value : fields.array("rows")) {
      const std::string where = fields.path("rows") + "[" + std::to_string(place++) + "]";
      table.rows.push_back(named(where, value, where).elements);
      const bool strings =
          std::all_of(value.elements.begin(), value.elements.end(),
                      [](const JsonValue& cell) { return cell.kind == JsonValue::Kind::kString; });
      if (value.kind != JsonValue::Kind::kArray || !strings) {
        error_.set(where, value, "an array of strings");
      }
    }
  }

  // One reader per element of the array `name`.
  template <class F>
  void each(const std::string& name, F read_element) {
    std::size_t place = 0;
    for (const auto& value : fields_.array(name)) {
      FieldReader fields(value, name + "[" + std::to_string(place++) + "]", error_);
      read_element(fields);
      fields.end();
      if (error_.is_set()) return;
    }
  }

  std::vector<NamedValue> values(const std::string& name) {
    std::vector<NamedValue> all;
    for (const auto& [key, value] : fields_.object(name)) {
      all.push_back(named(key, value, name + "." + shortened(key)));
    }
    return all;
  }

  // A number, a flag, a string, or a list of either kind.
  NamedValue named(const std::string& name, const JsonValue& value, const std::string& where) {
    NamedValue read{name, {}, false, value.kind == JsonValue::Kind::kArray};
    const auto take = [&](const JsonValue& element) {
      const bool is_text = element.kind == JsonValue::Kind::kString;
      const bool is_plain =
          element.kind == JsonValue::Kind::kNumber || element.kind == JsonValue::Kind::kFlag;
      if ((!is_text && !is_plain) || (!read.elements.empty() && is_text != read.is_text)) {
        error_.set(where, element, "numbers, true, false or strings, all of one kind");
      }
      read.is_text = is_text;
      read.elements.push_back(element.text);
    };
    if (!read.is_list) take(value);
    for (const auto& element : value.elements) take(element);
    return read;
  }

  ReadError error_;
  FieldReader fields_;
  Report report_;
};

Status check_schema(const JsonValue& root) {
  if (root.kind != JsonValue::Kind::kObject) {
    return fail(ErrorCode::kInvalidArgument, "found " + root.shown() + "; allowed: a report");
  }
  const JsonValue* schema = root.find("schema");
  if (schema == nullptr) return fail(ErrorCode::kInvalidArgument, "no report: schema is missing");
  if (schema->kind == JsonValue::Kind::kString && schema->text == kReportSchema) return {};
  return fail(ErrorCode::kInvalidArgument,
              "schema: found " + schema->shown() + "; this npusim reads '" + kReportSchema + "'");
}

}  // namespace

Result<Report> read_report(const std::string& json) {
  const auto root = parse_json(json);
  if (!root) return forward_error(root);
  if (auto known = check_schema(*root); !known) return forward_error(known);
  auto report = Reader(*root).read();
  if (!report) return report;
  for (auto& [name, written] : written_members(json)) {
    if (!is_own(name)) report->add_section({name, std::move(written)});
  }
  return report;
}

Result<Report> load_report(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return forward_error(text);
  auto report = read_report(*text);
  if (report) return report;
  return fail(report.error().code, shortened(path, kShownPath) + ": " + report.error().context);
}

}  // namespace npu::reports
