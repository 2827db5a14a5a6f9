// SPDX-License-Identifier: Apache-2.0
// The keys of the section `fabric`.
#pragma once

#include "model/config/key_table.hpp"

namespace npu::model {

const Table& fabric_table();                      // FabricConfig
const Table& fabric_part_table(FabricForm form);  // FabricPart

// The words that `fabric` may be instead of a section: a part of that form, of all cards.
const std::vector<std::string>& fabric_words();

}  // namespace npu::model
