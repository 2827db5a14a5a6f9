// SPDX-License-Identifier: Apache-2.0
// Main commands about a card's memory, its links to other cards and its low-power states.
#include <algorithm>

#include "apps/dsmi/call.hpp"
#include "apps/dsmi/commands.hpp"
#include "npu/abi/telemetry.hpp"

namespace npu::dsmi {
namespace {

constexpr unsigned kBytesOfKb = 1024;

int ecc_enable(CardSession& card, const Buffer& buffer) {
  const auto errors = card.management.memory_errors();
  if (!errors) return code_of(errors.error());
  return buffer.put(1U);
}

Result<std::vector<driver::HccsLinkUse>> links_of(CardSession& card) {
  auto links = card.management.hccs_links();
  if (links && links->empty()) return fail(ErrorCode::kUnsupported, "the card has no HCCS link");
  if (links && links->size() > DSMI_HCCS_MAX_PCS_NUM) links->resize(DSMI_HCCS_MAX_PCS_NUM);
  return links;
}

}  // namespace

int memory_info(CardSession& card, unsigned sub_cmd, const Buffer& buffer) {
  if (sub_cmd == DSMI_SUB_CMD_MEMORY_ECC_ENABLE) return ecc_enable(card, buffer);
  if (sub_cmd != DSMI_SUB_CMD_MEMORY_CAPACITY && sub_cmd != DSMI_SUB_CMD_HBM_MEMORY) {
    return DSMI_ERROR_NOT_SUPPORT;
  }
  const auto use = card.management.memory_use();
  if (!use) return code_of(use.error());
  if (sub_cmd == DSMI_SUB_CMD_MEMORY_CAPACITY) {
    return buffer.put(static_cast<unsigned long long>(use->total));
  }
  return buffer.put(dsmi_memory_info{static_cast<unsigned>(use->total / kBytesOfKb),
                                     static_cast<unsigned>(use->used / kBytesOfKb),
                                     {}});
}

int hccs_info(CardSession& card, unsigned sub_cmd, const Buffer& buffer) {
  if (sub_cmd != DSMI_HCCS_CMD_GET_STATUS && sub_cmd != DSMI_HCCS_CMD_GET_LANE_INFO &&
      sub_cmd != DSMI_HCCS_CMD_GET_STATISTIC_INFO) {
    return DSMI_ERROR_NOT_SUPPORT;
  }
  const auto links = links_of(card);
  if (!links) return code_of(links.error());
  if (sub_cmd == DSMI_HCCS_CMD_GET_STATUS) return buffer.put(dsmi_hccs_status{});
  if (sub_cmd == DSMI_HCCS_CMD_GET_LANE_INFO) {
    dsmi_hccs_lane_info lanes{};
    lanes.hccs_port_pcs_bitmap = (1U << links->size()) - 1;
    std::fill(std::begin(lanes.pcs_lane_bitmap), std::end(lanes.pcs_lane_bitmap), DSMI_NOT_KNOWN);
    return buffer.put(lanes);
  }
  dsmi_hccs_statistic_info counts{};
  for (std::size_t i = 0; i < links->size(); ++i) {
    counts.tx_cnt[i] = static_cast<unsigned>((*links)[i].sent);
    counts.rx_cnt[i] = static_cast<unsigned>((*links)[i].received);
  }
  return buffer.put(counts);
}

int low_power_info(CardSession& card, unsigned sub_cmd, const Buffer& buffer) {
  const auto clocks = card.management.clocks();
  if (!clocks) return code_of(clocks.error());
  switch (sub_cmd) {
    case DSMI_LP_SUB_CMD_STATUS:
      return buffer.put(dsmi_lp_status_stru{});
    case DSMI_LP_SUB_CMD_GET_WORK_TOPS:
      return buffer.put(dsmi_lp_cur_tops_stru{0, 1});
    case DSMI_LP_SUB_CMD_AICORE_FREQREDUC_CAUSE:
      // Why it is slower nobody says.
      if (clocks->cores.present < clocks->cores.rated) return DSMI_ERROR_NOT_SUPPORT;
      return buffer.put(0ULL);
    default:
      return DSMI_ERROR_NOT_SUPPORT;
  }
}

}  // namespace npu::dsmi
