// SPDX-License-Identifier: Apache-2.0
// One run of bursts through PlainController and through ChannelEngine.
#pragma once

#include <vector>

#include "model/hbm/bus_account.hpp"
#include "tests/timing/hbm/plain_traffic.hpp"

namespace npu::model::test {

struct Outcome {
  hbm::Clock end = 0;  // the last clock looked at
  std::vector<hbm::Command> commands;
  std::vector<hbm::BurstDone> done;
  hbm::ChannelCounts counts;
  std::vector<hbm::BusClocks> buses;  // of each pseudo channel
  unsigned early = 0;                 // bursts served before the bound that was given for them
};

Outcome run_plain(const HbmConfig& config, const std::vector<PlainArrival>& traffic);

// ChannelEngine, with and without short cuts: the same commands and served bursts, to the clock,
// and the same accounts of the data buses.
void expect_equal(const HbmConfig& config, const std::vector<PlainArrival>& traffic,
                  const Outcome& plain);

}  // namespace npu::model::test
