// SPDX-License-Identifier: Apache-2.0
// Rank tables: files that say which rank is on which device (JSON, "version" 1.0 to 1.2).
#pragma once

#include <hccl/hccl_types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace npu::compat::hccl {

struct RankTable {
  std::vector<std::int64_t> devices;  // by rank: the machine's number
  std::string key;                    // the same for everybody who has read the same table
};

// A line with what is wrong. HCCL_E_OPEN_FILE_FAILURE, HCCL_E_PARA; HCCL_E_NOT_SUPPORT: several
// servers.
HcclResult read_rank_table(const char* file, RankTable* table);

}  // namespace npu::compat::hccl
