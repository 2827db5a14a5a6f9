// SPDX-License-Identifier: Apache-2.0
// Storeys of the driver and of the models: a folder sees those below it.
#include <algorithm>
#include <regex>
#include <sstream>

#include "tests/architecture/rules.hpp"

namespace npu::architecture {
namespace {

struct House {
  std::string_view root;
  std::vector<std::string_view> storeys;  // folders, from the ground up; "": the root's own files
};

const std::vector<House> kHouses{
    {"driver/",
     {"support", "pci", "link", "quota", "event", "dma", "stream", "memory", "device", "heap",
      "sharing", "queue", "managed", "virtual", "management", "time_slices", "runtime",
      "collectives", "vfio"}},
    {"model/",
     {"config", "core", "hbm", "l2", "link", "pcie", "host", "aicore", "aicpu", "telemetry",
      "registers", "partitions", "mmu", "ats", "dma", "command", "control", ""}}};

// Of a path below the root: its folder, or "".
std::string folder_of(std::string_view path) {
  const auto slash = path.find('/');
  return std::string(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash));
}

}  // namespace

Violations check_storeys(const SourceFile& file) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*"([^"]+)")re");
  Violations violations;
  for (const auto& house : kHouses) {
    const auto root = house.root;
    const auto& storeys = house.storeys;
    if (file.path.rfind(root, 0) != 0) continue;
    const auto storey = [&](std::string_view path) {
      return std::find(storeys.begin(), storeys.end(), folder_of(path.substr(root.size())));
    };
    const auto own = storey(file.path);
    if (own == storeys.end()) return {{file.path, 0, "its folder has no storey"}};
    std::istringstream lines(file.text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      std::smatch match;
      if (!std::regex_search(line, match, kInclude)) continue;
      const std::string name = match[1];
      if (name.rfind(root, 0) == 0 && storey(name) > own) {
        violations.push_back(
            {file.path, number, "climbs to " + folder_of(name.substr(root.size()))});
      }
    }
  }
  return violations;
}

}  // namespace npu::architecture
