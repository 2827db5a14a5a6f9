// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/config/key_table.hpp"

namespace npu::model {

const Table& l2_table();  // L2Config

}  // namespace npu::model
