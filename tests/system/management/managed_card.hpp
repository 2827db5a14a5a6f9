// SPDX-License-Identifier: Apache-2.0
// A card that a test drives and libnpudsmi watches.
#pragma once

#include <vector>

#include "dsmi/dsmi_common_interface.h"
#include "npu/dsmi/attach.hpp"
#include "tests/system/queues/queue_card.hpp"

namespace npu::test {

class WatchedCard {
 public:
  explicit WatchedCard(platform::Platform& host) : card(host) {
    const Status attached = dsmi::attach(host, {card.device.get()});
    EXPECT_TRUE(attached) << attached.error().message();
  }
  ~WatchedCard() { dsmi::detach(); }
  WatchedCard(const WatchedCard&) = delete;
  WatchedCard& operator=(const WatchedCard&) = delete;

  unsigned use(int type) {
    unsigned percent = ~0U;
    EXPECT_EQ(dsmi_get_device_utilization_rate(0, type, &percent), DSMI_OK) << type;
    return percent;
  }
  // By core, of the interval since the last call.
  std::vector<unsigned> core_uses(unsigned sub = DSMI_TS_SUB_CMD_AICORE_MULTI_UTILIZATION_RATE) {
    TS_UTILIZATION_BLOCK block{};
    block.array_len = CORE_UTIL_ARR_MAX_LEN;
    unsigned size = sizeof block;
    EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, sub, &block, &size), DSMI_OK);
    std::vector<unsigned> uses;
    for (unsigned i = 0; i < block.valid_core_num; ++i) {
      uses.push_back(block.core_util_array[i / 10].single_core[i % 10]);
    }
    return uses;
  }
  dsmi_hbm_info_stru memory() {
    dsmi_hbm_info_stru info{};
    EXPECT_EQ(dsmi_get_hbm_info(0, &info), DSMI_OK);
    return info;
  }
  npu_dsmi_traffic traffic() {
    npu_dsmi_traffic now{};
    EXPECT_EQ(npu_dsmi_get_traffic(0, &now), DSMI_OK);
    return now;
  }

  QueueCard card;
};

// ... with a process on it.
class SupervisedCard : public WatchedCard {
 public:
  explicit SupervisedCard(platform::Platform& host) : WatchedCard(host), process(card) {}

  QueueProcess process;
};

}  // namespace npu::test
