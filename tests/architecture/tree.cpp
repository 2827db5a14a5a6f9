// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace npu::architecture {
namespace {

namespace fs = std::filesystem;

bool is_outside(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.front() == '.' || name.rfind("build", 0) == 0;
}

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

}  // namespace

Tree list_tree(std::string_view root) {
  Tree tree;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator();
       ++it) {
    if (it->is_directory() && is_outside(it->path())) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file() && it->path().filename().string().front() != '.') {
      tree.insert(fs::relative(it->path(), root).generic_string());
    }
  }
  return tree;
}

std::vector<SourceFile> load(std::string_view root, const Tree& tree,
                             const std::vector<std::string_view>& endings) {
  std::vector<SourceFile> files;
  for (const auto& path : tree) {
    const auto fits = [&path](std::string_view ending) { return ends_with(path, ending); };
    if (std::none_of(endings.begin(), endings.end(), fits)) continue;
    std::ifstream stream(fs::path(root) / path, std::ios::binary);
    files.push_back({path, std::string(std::istreambuf_iterator<char>(stream), {})});
  }
  return files;
}

}  // namespace npu::architecture
