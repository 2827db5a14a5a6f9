// SPDX-License-Identifier: Apache-2.0
// The cards of a running npusim, behind its management socket.
#pragma once

#include <string>

#include "npu/dsmi/attach.hpp"

namespace npu::dsmi {

// kIo: nobody listens there, or he speaks something else; kInvalidArgument: no path of a socket.
Result<Machine> socket_machine(const std::string& path);

}  // namespace npu::dsmi
