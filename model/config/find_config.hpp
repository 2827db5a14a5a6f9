// SPDX-License-Identifier: Apache-2.0
// From the name of a configuration to its file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/config/yaml_document.hpp"

namespace npu::model {

// See load_system() for where it looks. The error lists the nearest names that exist.
ConfigResult<std::string> find_config(const std::string& path_or_name,
                                      const std::vector<std::string>& search_paths);

// Names (without ".yaml") of the files in the places where find_config() looks, sorted.
std::vector<std::string> config_names(const std::vector<std::string>& search_paths);

// The files of one configuration, each read once however many name it: eight cards have one chip.
class ConfigFiles {
 public:
  explicit ConfigFiles(std::vector<std::string> search_paths)
      : search_paths_(std::move(search_paths)) {}

  // The file that a value names: beside the file it stands in (for the command line: in the working
  // directory), or else in the search paths. Lives as long as this.
  ConfigResult<const YamlNode*> read_reference(const YamlNode& value, const std::string& key);

 private:
  std::vector<std::string> search_paths_;
  std::map<std::string, ConfigResult<YamlNode>> files_;  // by path
};

}  // namespace npu::model
