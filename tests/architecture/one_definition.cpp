// SPDX-License-Identifier: Apache-2.0
// One name, one class (ISO C++17, 6.2). A program with two has the functions of either, and nothing
// reports it.
#include <map>
#include <regex>
#include <sstream>

#include "tests/architecture/rules.hpp"

namespace npu::architecture {
namespace {

struct Definition {
  std::string name;  // with its namespaces
  std::size_t line;
};

// Classes at the level of a namespace that has a name: those in others are of one file.
std::vector<Definition> definitions_of(const SourceFile& file) {
  static const std::regex kOpens(R"(^(?:inline )?namespace ([\w:]*) ?\{)");
  static const std::regex kCloses(R"(^\} +// namespace)");
  static const std::regex kClass(
      R"(^(?:class|struct|enum class|enum) (?:\[\[\w+\]\] |\w+\(.*\) )?(\w+)(?: final)?(?: :.*)? \{)");
  std::vector<Definition> found;
  std::vector<std::string> spaces;
  std::istringstream stream{file.text};
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, kOpens)) {
      spaces.push_back(match[1]);
    } else if (!spaces.empty() && std::regex_search(line, kCloses)) {
      spaces.pop_back();
    } else if (std::regex_search(line, match, kClass)) {
      std::string name;
      bool local = false;
      for (const auto& space : spaces) {
        name += space + "::";
        local = local || space.empty();
      }
      if (!local && !spaces.empty()) found.push_back({name + match[1].str(), number});
    }
  }
  return found;
}

}  // namespace

Violations check_one_definition(const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> first;  // a path by name
  Violations violations;
  for (const auto& file : files) {
    for (const auto& [name, line] : definitions_of(file)) {
      const auto [it, is_new] = first.emplace(name, file.path);
      if (!is_new && it->second != file.path) {
        violations.push_back({file.path, line, "defines " + name + " as " + it->second + " does"});
      }
    }
  }
  return violations;
}

}  // namespace npu::architecture
