// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/call.hpp"

using namespace npu;
using namespace npu::dsmi;

extern "C" int npu_dsmi_get_traffic(int device_id, struct npu_dsmi_traffic* traffic) {
  if (traffic == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    const auto memory = card.management.hbm_traffic();
    if (!memory) return code_of(memory.error());
    const auto link = card.management.link_use();
    if (!link) return code_of(link.error());
    return give(card.management.time(), [&](Picoseconds now) {
      *traffic = {static_cast<unsigned long long>(now.count() / 1000),
                  memory->read,
                  memory->written,
                  memory->peak_rate,
                  link->received.posted,
                  link->received.non_posted,
                  link->received.completion,
                  link->sent.posted,
                  link->sent.non_posted,
                  link->sent.completion,
                  link->rate};
    });
  });
}
