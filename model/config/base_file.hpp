// SPDX-License-Identifier: Apache-2.0
// A chip or host file may begin with another one: `base: 910b2.yaml`.
#pragma once

#include <string>

#include "model/config/find_config.hpp"
#include "model/config/yaml_document.hpp"

namespace npu::model {

// `file` with the keys that its base has and it has not; sections are merged key by key, everything
// keeps its place. `file` itself if it names no base. Every file of the chain must have `schema`.
ConfigResult<YamlNode> with_base(const YamlNode& file, const std::string& schema,
                                 ConfigFiles& files);

}  // namespace npu::model
