// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/trust/kind.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace npu::reports {
namespace {

struct KindRow {
  std::string_view limit, kind;
};
constexpr KindRow kKinds[] = {
    {"cube", "cube"},     {"mte1", "cube"},           {"vector", "vector"}, {"mte2", "memory"},
    {"mte3", "memory"},   {"fixpipe", "memory"},      {"hbm", "memory"},    {"l2", "memory"},
    {"mmu", "memory"},    {"way", "memory"},          {"scalar", "scalar"}, {"flags", "scalar"},
    {"launch", "launch"}, {"scalar_memory", "launch"}};

}  // namespace

std::string kind_of_limit(const std::string& name) {
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [&](const KindRow& row) { return row.limit == name; });
  return found == std::end(kKinds) ? std::string() : std::string(found->kind);
}

std::string bound_of(const std::vector<Limit>& limits, const std::string& subject) {
  std::map<std::string, std::int64_t> sums;
  for (const auto& limit : limits) {
    if (limit.subject != subject) continue;
    const auto kind = kind_of_limit(limit.name);
    if (!kind.empty()) sums[kind] += limit.percent.value();
  }
  const auto most = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == sums.end() ? std::string() : most->first;
}

}  // namespace npu::reports
