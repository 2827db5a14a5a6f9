// SPDX-License-Identifier: Apache-2.0
#include "model/config/find_config.hpp"

#include <filesystem>
#include <set>

#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"

namespace npu::model {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

std::vector<fs::path> places(const std::vector<std::string>& search_paths) {
  std::vector<fs::path> all{"", "configs"};
  all.insert(all.end(), search_paths.begin(), search_paths.end());
  return all;
}

}  // namespace

std::vector<std::string> config_names(const std::vector<std::string>& search_paths) {
  std::set<std::string> names;
  for (const auto& place : places(search_paths)) {
    std::error_code code;
    const fs::path folder = place.empty() ? fs::path(".") : place;
    for (fs::directory_iterator file(folder, code), end; !code && file != end;
         file.increment(code)) {
      if (file->path().extension() == ".yaml") names.insert(file->path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

ConfigResult<std::string> find_config(const std::string& path_or_name,
                                      const std::vector<std::string>& search_paths) {
  // Empty names, NUL bytes and the like are found nowhere.
  const bool usable = !path_or_name.empty() && path_or_name.find('\0') == std::string::npos;
  const bool is_path = path_or_name.find('/') != std::string::npos;
  for (const auto& place : places(search_paths)) {
    for (const auto* ending : {"", ".yaml"}) {
      std::error_code code;
      const fs::path candidate = place / (path_or_name + ending);
      // A folder that happens to have the name of a configuration is not meant.
      if (!usable || !is_there(candidate)) continue;
      if (is_path || !fs::is_directory(candidate, code)) return candidate.string();
    }
    if (is_path) break;
  }
  ConfigError error;
  error.problem = "no configuration '" + shortened(path_or_name, kShownPath) + "'";
  const auto names = config_names(search_paths);
  const std::string stem = usable ? fs::path(path_or_name).stem().string() : path_or_name;
  error.suggestion = nearest_name(stem, names);
  constexpr std::size_t kListed = 20;
  for (std::size_t i = 0; i < names.size() && i <= kListed; ++i) {
    error.allowed += (i == 0 ? "" : ", ") + (i < kListed ? names[i] : "...");
  }
  return tl::unexpected(error);
}

ConfigResult<const YamlNode*> ConfigFiles::read_reference(const YamlNode& value,
                                                          const std::string& key) {
  const bool is_name = value.kind == YamlNode::Kind::kScalar && !value.text.empty() &&
                       value.text.find('\0') == std::string::npos;
  if (!is_name) {
    ConfigError error = error_at(value.place, key, "");
    error.found = describe(value);
    error.allowed = "the name of a file";
    return tl::unexpected(error);
  }
  const fs::path beside =
      value.place.line > 0 ? fs::path(value.place.file).parent_path() : fs::path();
  std::vector<fs::path> candidates{beside / value.text};
  for (const auto& path : search_paths_) candidates.push_back(fs::path(path) / value.text);
  for (const auto& candidate : candidates) {
    if (!is_there(candidate)) continue;
    const std::string path = candidate.lexically_normal().string();
    auto file = files_.find(path);
    if (file == files_.end()) file = files_.emplace(path, read_yaml_file(path)).first;
    if (!file->second) return tl::unexpected(file->second.error());
    return &*file->second;
  }
  ConfigError error =
      error_at(value.place, key, "no such file '" + shortened(value.text, kShownPath) + "'");
  error.allowed = "a file beside the one that names it, or a shipped one";
  return tl::unexpected(error);
}

}  // namespace npu::model
