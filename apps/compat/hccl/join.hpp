// SPDX-License-Identifier: Apache-2.0
// Ranks of this process as they become members of a communicator.
#pragma once

#include <hccl/hccl_types.h>

#include <string>
#include <vector>

#include "apps/compat/hccl/settings.hpp"
#include "apps/compat/protocol/collective_messages.hpp"

namespace npu::compat::hccl {

// Waits until all `ranks` have come. `comms`: for each member. The communicator's name is the
// settings', or the key.
HcclResult join(const std::string& key, std::uint32_t ranks,
                const std::vector<wire::JoiningRank>& members, const Settings& settings,
                HcclComm* comms);

// The machine's number of the thread's device. HCCL_E_RUNTIME: none is set.
HcclResult device_of_thread(std::int64_t* device);

}  // namespace npu::compat::hccl
