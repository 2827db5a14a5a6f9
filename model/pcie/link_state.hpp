// SPDX-License-Identifier: Apache-2.0
// What the port at an end of a link knows of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace npu::model {

// As AER logs it: four double words (PCIe 7.8.4.8).
using TlpHeader = std::array<std::uint32_t, 4>;

// An error that the port at one end of a link has found.
struct PortError {
  std::uint32_t bit = 0;  // of AER's correctable or uncorrectable status
  bool correctable = false;
  TlpHeader header{};  // of the TLP, if it is not correctable
};

struct LinkState {
  bool active = true;
  unsigned transitions = 0;  // how often the link has gone up or down
  unsigned generation = 0;   // as trained
  unsigned lanes = 0;
  unsigned bad_tlps = 0;   // that arrived at this end, and were asked for again
  unsigned rollovers = 0;  // TLPs of this end that were sent again too often
  std::size_t errors = 0;  // others that this end has found: the first of `found`
  const std::vector<PortError>* found = nullptr;
};

}  // namespace npu::model
