// SPDX-License-Identifier: Apache-2.0
// What root ports and a switch's downstream ports have in common: a bridge function, and a link
// below unless the slot is empty.
#pragma once

#include <memory>

#include "model/pcie/bridge.hpp"
#include "model/pcie/port.hpp"

namespace npu::model {

struct DownstreamPort {
  DownstreamPort(const BridgeIdentity& identity, ConfigTarget* target)
      : function(identity), below(target) {}

  // A configuration access to the port itself; Secondary Bus Reset takes the link with it.
  void access(ConfigRequest& request);
  // The part above is reset: the bridge, the link and all below (PCIe 6.6.1).
  void hot_reset();
  // The configuration access without time to what is below.
  bool access_below(ConfigRequest& request) const;
  // Below a link is device 0 alone, unless device numbers are a part of function numbers
  // (PCIe 7.3.1, 6.13).
  bool passes(unsigned device) const { return device == 0 || function.forwards_ari(); }

  BridgeFunction function;
  ConfigTarget* below;
  std::unique_ptr<PciePort> end;  // null: empty slot
};

}  // namespace npu::model
