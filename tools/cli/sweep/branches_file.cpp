// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/branches_file.hpp"

#include <algorithm>

#include "tools/reports/json_text.hpp"
#include "tools/reports/json_value.hpp"
#include "workloads/framework/parameter_text.hpp"

namespace npu::sweep {
namespace {

using reports::JsonValue;

bool is_text(const JsonValue* value) {
  return value != nullptr && value->kind == JsonValue::Kind::kString;
}

Result<Branch> branch_of(const JsonValue& value) {
  const auto* const sets = value.find("sets");
  const auto* const report = value.find("report");
  const auto* const log = value.find("log");
  if (sets == nullptr || sets->kind != JsonValue::Kind::kArray || !is_text(report) ||
      !is_text(log)) {
    return fail(
        ErrorCode::kInvalidArgument,
        "found " + value.shown() + "; allowed: {\"sets\": [], \"report\": \"\", \"log\": \"\"}");
  }
  Branch branch{{}, report->text, log->text};
  for (const auto& set : sets->elements) {
    if (!is_text(&set)) {
      return fail(ErrorCode::kInvalidArgument, "found " + set.shown() + "; allowed: \"key=value\"");
    }
    branch.sets.push_back(set.text);
  }
  return branch;
}

}  // namespace

std::string branches_text(const std::vector<Branch>& branches) {
  std::string text;
  for (const auto& branch : branches) {
    std::string sets;
    for (const auto& set : branch.sets) {
      sets += (sets.empty() ? "" : ", ") + reports::json_string(set);
    }
    text += (text.empty() ? "[\n" : ",\n") + ("  {\"sets\": [" + sets) +
            "], \"report\": " + reports::json_string(branch.report) +
            ", \"log\": " + reports::json_string(branch.log) + "}";
  }
  return text + "\n]\n";
}

Result<std::vector<Branch>> parse_branches(const std::string& text) {
  const auto document = reports::parse_json(text);
  if (!document) return forward_error(document);
  if (document->kind != JsonValue::Kind::kArray || document->elements.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "found " + document->shown() + "; allowed: an array of branches");
  }
  std::vector<Branch> branches;
  for (const auto& element : document->elements) {
    auto branch = branch_of(element);
    if (!branch) return forward_error(branch);
    branches.push_back(std::move(*branch));
  }
  return branches;
}

std::string line_of(const BranchEnd& end) {
  return std::to_string(end.number) + " " + std::to_string(end.exit_code) + "\n";
}

std::vector<BranchEnd> take_ends(std::string& text) {
  std::vector<BranchEnd> ends;
  std::size_t begin = 0;
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', begin)) {
    const std::string line = text.substr(begin, at - begin);
    begin = at + 1;
    const auto space = std::min(line.find(' '), line.size());
    const auto number = workloads::parse_integer(line.substr(0, space));
    const auto code = workloads::parse_integer(line.substr(std::min(space + 1, line.size())));
    if (number && code && *code <= 255) ends.push_back({*number, static_cast<int>(*code)});
  }
  text.erase(0, begin);
  return ends;
}

}  // namespace npu::sweep
