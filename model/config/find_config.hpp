// SPDX-License-Identifier: Apache-2.0
// From the name of a configuration to its file.
#pragma once

#include <string>
#include <vector>

#include "model/config/yaml_document.hpp"

namespace npu::model {

// See load_system() for where it looks. The error lists the nearest names that exist.
ConfigResult<std::string> find_config(const std::string& path_or_name,
                                      const std::vector<std::string>& search_paths);

// Names (without ".yaml") of the files in the places where find_config() looks, sorted.
std::vector<std::string> config_names(const std::vector<std::string>& search_paths);

// Reads the file that a value names: beside the file it stands in (for the command line: in the
// working directory), or else in `search_paths`.
ConfigResult<YamlNode> read_reference(const YamlNode& value, const std::string& key,
                                      const std::vector<std::string>& search_paths);

}  // namespace npu::model
