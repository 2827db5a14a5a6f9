// SPDX-License-Identifier: Apache-2.0
// A memory and its controllers by themselves, for replays of access patterns (configs/hbm/replay),
// and how to read it and a table of DRAM timings from YAML.
#pragma once

#include <string>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/config/config_error.hpp"
#include "model/hbm/command.hpp"

namespace npu::replay {

using model::ConfigResult;
using model::HbmConfig;
using model::HbmPolicy;
using model::HbmTimings;
using model::hbm::Clock;
using model::hbm::kNever;

enum class ReplayPolicy {
  kSplitQueues,  // as HbmPolicy
  kSharedQueue,  // as HbmPolicy
  kBankQueues,   // transaction queues in front of a short queue per bank (BankQueueEngine)
};

struct ReplayConfig {
  std::string name;
  ReplayPolicy policy;
  unsigned bank_queue;  // entries per bank; policy kBankQueues only, else 0
  HbmConfig hbm;        // its policy is meaningless with kBankQueues
};

// `path_or_name` and `search_paths` as load_system(); schema npusim.replay/1.
ConfigResult<ReplayConfig> load_replay(const std::string& path_or_name,
                                       const std::vector<std::string>& search_paths);
// Schema npusim.hbm/1.
ConfigResult<HbmTimings> load_timings(const std::string& path_or_name,
                                      const std::vector<std::string>& search_paths);

}  // namespace npu::replay
