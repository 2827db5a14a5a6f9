// SPDX-License-Identifier: Apache-2.0
// Rotary embedding of a model from its config.json.
#pragma once

#include "npu/base/result.hpp"
#include "workloads/transformer/config_keys.hpp"
#include "workloads/transformer/model.hpp"

namespace npu::workloads::transformer {

// Reads rope_theta, and rope_scaling or rope_parameters, into `model`. kInvalidArgument: one line
// that names the key: a kind of scaling or a key of it that is not known, a number that cannot be.
Status read_rope(const ConfigKeys& config, Model& model);

}  // namespace npu::workloads::transformer
