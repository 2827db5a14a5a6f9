// SPDX-License-Identifier: Apache-2.0
// A root port as the root complex keeps it. Internal to the root complex.
#pragma once

#include "model/core/agenda.hpp"
#include "model/pcie/downstream_port.hpp"

namespace npu::model {

struct RootPort : DownstreamPort {
  using DownstreamPort::DownstreamPort;

  unsigned number = 0;
  unsigned segment = 0;  // of PCI
  // When the last write that came through this port is visible.
  SimTime visible = 0;
  // With order.rule=weakest: of relaxed writes of one cause, which they do not pass.
  std::uint64_t relaxed_cause = 0;
  SimTime visible_before = 0;
};

}  // namespace npu::model
