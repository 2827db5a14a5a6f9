// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/config/key_table.hpp"

namespace npu::model {

const Table& aicpu_program_table();  // AicpuProgramConfig

}  // namespace npu::model
