// SPDX-License-Identifier: Apache-2.0
// Keys of the configuration on the command line, which may leave out all but a key's last part.
#pragma once

#include <string>
#include <vector>

namespace npu::cli {

// Whether `key` is one of the configuration's, in full or as the end of just one of them.
bool is_config_key(const std::string& key);

// "generation=5" as "link.generation=5"; anything else as it is.
std::string full_override(const std::string& set);

}  // namespace npu::cli
