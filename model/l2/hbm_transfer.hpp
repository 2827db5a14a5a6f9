// SPDX-License-Identifier: Apache-2.0
// A read or write of neighbouring lines in the HBM, and who sends it there.
#pragma once

#include <cstdint>
#include <tlm>

#include "model/core/simulation.hpp"
#include "model/l2/line_store.hpp"

namespace npu::model {

struct HbmTransfer {
  Line first = 0;
  std::uint32_t lines = 0;
  SimTime sent = 0;
  std::uint64_t cause = 0;  // of its request and of its trace event
};

class HbmPort {
 public:
  virtual ~HbmPort() = default;
  // Through the port of `client`; the response brings `number` back.
  virtual void send(unsigned client, tlm::tlm_command command, const HbmTransfer& transfer,
                    std::uint32_t number) = 0;
};

}  // namespace npu::model
