// SPDX-License-Identifier: Apache-2.0
// The calls of DSMI and DCMI, each with arguments at random.
#pragma once

#include <dsmi/dcmi_interface_api.h>

#include <vector>

#include "tests/fuzz/management_rooms.hpp"

namespace npu::fuzz {

struct ManagementCall {
  const char* name;
  int (*make)(Rooms& rooms);
};

const std::vector<ManagementCall>& management_calls();

}  // namespace npu::fuzz
