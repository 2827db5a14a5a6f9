// SPDX-License-Identifier: Apache-2.0
// What a communicator is made with: the environment's values, or those of its configuration.
#pragma once

#include <hccl/hccl_types.h>

#include <cstdint>
#include <string>

#include "apps/compat/protocol/collective_messages.hpp"

namespace npu::compat::hccl {

struct Settings {
  std::uint64_t buffer_bytes = 0;
  std::uint64_t exec_seconds = 0;  // 0: no limit
  std::uint64_t connect_seconds = 0;
  std::uint64_t algorithms = 0;  // as wire::CommunicatorJoin has them
  wire::Expansion expansion = wire::Expansion::kDefault;
  std::string name;  // empty: it has none of its own
};

// `config` may be null. HCCL_E_PARA, with a line: a value that is none.
HcclResult read_settings(const HcclCommConfig* config, Settings* settings);

// Of HCCL_ALGO: "level0:NAME;level1:NAME", for all operations, or "OPERATION=...[/OPERATION=...]".
// level0 chooses what there is inside of a server; the other levels are for several servers.
// False: it is none.
bool parse_algorithms(const char* text, std::uint64_t* algorithms);

}  // namespace npu::compat::hccl
