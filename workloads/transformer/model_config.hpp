// SPDX-License-Identifier: Apache-2.0
// A model from a config.json as Hugging Face has it.
#pragma once

#include <string>

#include "npu/base/result.hpp"
#include "tools/reports/json_value.hpp"
#include "workloads/transformer/model.hpp"

namespace npu::workloads::transformer {

// `file`: its path, which is the model's name. kInvalidArgument: read_model()'s line.
Result<Model> model_of(const std::string& file, const reports::JsonValue& json);

}  // namespace npu::workloads::transformer
