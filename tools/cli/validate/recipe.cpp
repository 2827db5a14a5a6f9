// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/recipe.hpp"

#include <algorithm>
#include <iterator>

namespace npu::validate {
namespace {

struct Named {
  std::string_view published, here;
};
constexpr Named kTypes[] = {{"float16", "fp16"}, {"bfloat16", "bf16"}, {"float32", "fp32"},
                            {"int8", "int8"},    {"int32", "int32"},   {"int64", "int64"}};

// A rate and a call's wall time are means of many calls; one after the other finds its operands in
// the L2, unless the source says that it was cleared.
bool is_repeated(const Measurement& row) {
  constexpr std::string_view kOnce[] = {"task_duration", "kernel", "compute"};
  if (row.cache == "warm") return true;
  if (row.cache == "cold" || row.note.find("L2 cold") != std::string::npos) return false;
  return std::find(std::begin(kOnce), std::end(kOnce), row.metric) == std::end(kOnce);
}

// Of "PTO kernel, 8 AI cores": 8; 0: the note does not say.
std::uint64_t cores_in(const std::string& note) {
  const auto word = std::min(note.find(" cores"), note.find(" AI cores"));
  if (word == std::string::npos || word == 0) return 0;
  auto first = word;
  while (first > 0 && note[first - 1] >= '0' && note[first - 1] <= '9') --first;
  if (first == word || word - first > 6) return 0;
  return std::stoull(note.substr(first, word - first));
}

}  // namespace

tl::unexpected<std::string> refuse(std::string why) {
  return tl::unexpected<std::string>(std::move(why));
}

std::optional<std::string> type_here(std::string_view published) {
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes),
                   [&](const Named& known) { return known.published == published; });
  if (found == std::end(kTypes)) return std::nullopt;
  return std::string(found->here);
}

std::string type_of(const Measurement& row) {
  return row.types.empty() ? std::string() : row.types[0];
}

bool is_on(const Measurement& row, const char* attribute) {
  const auto& value = row.attributes.value(attribute, nlohmann::json());
  return value.is_boolean() && value.get<bool>();
}

std::string launches_of(const Measurement& row) {
  return is_repeated(row) ? "2" : "1";
}

std::uint64_t side_of(const Measurement& row, std::initializer_list<const char*> names,
                      std::uint64_t none) {
  for (const auto* name : names) {
    if (const auto found = row.sides.find(name); found != row.sides.end()) return found->second;
  }
  return none;
}

Operation compiled(const Measurement& row, const char* name, const std::string& shape) {
  Operation made;
  made.workload = "operator";
  made.settings = {{"name", name},
                   {"shape", shape},
                   {"dtype", type_of(row)},
                   {"calls", launches_of(row)},
                   {"cache", "folder"}};
  if (const auto cores = cores_in(row.note); cores != 0) {
    made.settings.emplace_back("cores", std::to_string(cores));
  }
  made.device_metric = "operator.device_us";
  made.wall_metric = "operator.wall_us";
  made.pipes_metric = "operator.pipes_us";
  return made;
}

}  // namespace npu::validate
