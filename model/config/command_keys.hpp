// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/config/key_table.hpp"

namespace npu::model {

const Table& command_table();  // CommandConfig
const Table& core_table();     // CoreConfig

}  // namespace npu::model
