// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/downstream_port.hpp"

namespace npu::model {

void DownstreamPort::access(ConfigRequest& request) {
  auto* link = end ? end->link() : nullptr;
  if (link) function.set_link_state(link->state(Link::End::kUpper));
  function.access(request);
  if (link) link->hold_in_reset(function.resets_secondary());
}

void DownstreamPort::hot_reset() {
  function.reset();
  if (!end) return;
  end->link()->hot_reset();
  end->link()->hold_in_reset(false);
}

bool DownstreamPort::access_below(ConfigRequest& request) const {
  return end && !end->link()->is_down() && below->config_access(request);
}

}  // namespace npu::model
