// SPDX-License-Identifier: Apache-2.0
// Whether parts of a configuration are the same. Most systems have many cards of one chip: what is
// written of one of them stands for the others.
#pragma once

#include "model/config/key_table.hpp"

namespace npu::model {

// Whether all keys of the table have the same values in both objects. No chips among the keys.
bool alike(const Table& table, const void* a, const void* b);

}  // namespace npu::model
