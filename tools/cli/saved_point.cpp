// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/saved_point.hpp"

#include <fmt/format.h>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "tools/reports/json_text.hpp"
#include "tools/reports/json_value.hpp"

namespace npu::cli {
namespace {

using reports::json_string;
using reports::JsonValue;

constexpr char kSchema[] = "npusim.point/1";

std::string words_text(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + json_string(word);
  return "[" + text + "]";
}

// Members of a document. The first that is missing or of another kind is remembered.
class PointReader {
 public:
  explicit PointReader(const JsonValue& document) : document_(document) {}

  std::string text(const char* name) {
    const auto* const value = member(name, JsonValue::Kind::kString, "a text");
    return value == nullptr ? "" : value->text;
  }
  std::uint64_t number(const char* name) {
    const auto* const value = member(name, JsonValue::Kind::kNumber, "a number");
    if (value == nullptr) return 0;
    const auto number = read_number<std::uint64_t>(value->text);
    if (!number || *number > INT64_MAX) complain(name, value->shown(), "a whole number");
    return number.value_or(0);
  }
  Picoseconds time(const char* name) {
    return Picoseconds(static_cast<std::int64_t>(number(name)));
  }
  std::vector<std::string> words(const char* name) {
    std::vector<std::string> list;
    const auto* const value = member(name, JsonValue::Kind::kArray, "an array of texts");
    if (value == nullptr) return list;
    for (const auto& each : value->elements) {
      if (each.kind != JsonValue::Kind::kString) complain(name, each.shown(), "texts");
      list.push_back(each.text);
    }
    return list;
  }
  std::vector<std::pair<std::string, std::string>> digests(const char* name) {
    std::vector<std::pair<std::string, std::string>> list;
    const auto* const value = member(name, JsonValue::Kind::kObject, "an object of texts");
    if (value == nullptr) return list;
    for (const auto& [file, digest] : value->members) {
      if (digest.kind != JsonValue::Kind::kString) complain(name, digest.shown(), "texts");
      list.emplace_back(file, digest.text);
    }
    return list;
  }
  void complain(const std::string& name, const std::string& found, const std::string& allowed) {
    if (!mistake_.empty()) return;
    mistake_ = name + ": found " + shortened(found) + "; allowed: " + allowed;
  }
  const std::string& mistake() const { return mistake_; }

 private:
  const JsonValue* member(const char* name, JsonValue::Kind kind, const char* allowed) {
    const auto* const value = document_.find(name);
    if (value != nullptr && value->kind == kind) return value;
    complain(name, value == nullptr ? "nothing" : value->shown(), allowed);
    return nullptr;
  }

  const JsonValue& document_;
  std::string mistake_;
};

}  // namespace

std::string point_text(const SavedPoint& point) {
  std::string inputs;
  for (const auto& [file, digest] : point.inputs) {
    inputs += (inputs.empty() ? "" : ", ") + json_string(file) + ": " + json_string(digest);
  }
  return fmt::format(
      "{{\n  \"schema\": {},\n  \"npusim\": {},\n  \"build\": {},\n  \"workload\": {},\n"
      "  \"config\": {},\n  \"config_sha256\": {},\n  \"sets\": {},\n  \"faults\": {},\n"
      "  \"seed\": \"{}\",\n  \"inputs\": {{{}}},\n  \"until_ps\": {},\n  \"reached_ps\": {},\n"
      "  \"events\": {},\n  \"state\": {}\n}}\n",
      json_string(kSchema), json_string(point.version), json_string(point.build),
      json_string(point.workload), json_string(point.config), json_string(point.config_sha256),
      words_text(point.sets), words_text(point.faults), point.seed, inputs, point.until.count(),
      point.reached.count(), point.events, json_string(point.state));
}

Result<SavedPoint> parse_point(const std::string& text) {
  const auto document = reports::parse_json(text);
  if (!document) return forward_error(document);
  PointReader reader(*document);
  const auto schema = reader.text("schema");
  if (schema != kSchema) reader.complain("schema", "'" + schema + "'", kSchema);
  SavedPoint point;
  point.version = reader.text("npusim");
  point.build = reader.text("build");
  point.workload = reader.text("workload");
  point.config = reader.text("config");
  point.config_sha256 = reader.text("config_sha256");
  point.sets = reader.words("sets");
  point.faults = reader.words("faults");
  // All 64 bits: a text.
  const auto seed = reader.text("seed");
  const auto number = read_number<std::uint64_t>(seed);
  if (!number) reader.complain("seed", "'" + seed + "'", "a number in quotes");
  point.seed = number.value_or(0);
  point.inputs = reader.digests("inputs");
  point.until = reader.time("until_ps");
  point.reached = reader.time("reached_ps");
  point.events = reader.number("events");
  point.state = reader.text("state");
  if (!reader.mistake().empty()) return fail(ErrorCode::kInvalidArgument, reader.mistake());
  return point;
}

}  // namespace npu::cli
