// SPDX-License-Identifier: Apache-2.0
// A root port as the root complex keeps it. Internal to the root complex.
#pragma once

#include <memory>

#include "model/pcie/root_complex.hpp"

namespace npu::model {

struct RootComplex::RootPort {
  RootPort(const BridgeIdentity& identity, ConfigTarget* target)
      : function(identity), below(target) {}

  BridgeFunction function;
  ConfigTarget* below;
  std::unique_ptr<PciePort> end;  // null: empty slot
  unsigned number = 0;
  // When the last write that came through this port is visible.
  SimTime visible = 0;
};

}  // namespace npu::model
