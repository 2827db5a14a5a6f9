// SPDX-License-Identifier: Apache-2.0
// Keys of the configuration as people give them: all but the last part may be left out.
#pragma once

#include <string>
#include <vector>

namespace npu::model {

// Whether `key` is one of the configuration's, in full or as the end of just one of them.
bool is_config_key(const std::string& key);

// "generation=5" as "link.generation=5"; anything else as it is.
std::string full_override(const std::string& set);

// The key that was probably meant by `key`, which is none: "link.lanes" for "lnaes" or
// "link.lnaes", "host.cpu.clock_mhz" for "host.cpu.clok". Empty: none is near.
std::string nearest_key(const std::string& key);

}  // namespace npu::model
