// SPDX-License-Identifier: Apache-2.0
// How many TLPs of which size a transaction is, in each direction.
// Source: PCIe Base 4.0, 2.2 (headers: 3 DW, or 4 DW for addresses above 4 GiB), 2.3.1.1 (read
// completions are cut at MPS and end on read completion boundaries).
#pragma once

#include "model/config/chip_config.hpp"
#include "model/core/transaction.hpp"
#include "model/pcie/link_direction.hpp"
#include "model/pcie/link_state.hpp"

namespace npu::model {

// The request: data of writes cut at MPS, reads cut at MRRS (headers only).
TlpTrain request_train(const tlm::tlm_generic_payload& payload, const Transaction& info,
                       const LinkConfig& link);
// Its completions; `boundary` is the completer's RCB.
TlpTrain completion_train(const tlm::tlm_generic_payload& payload, const Transaction& info,
                          const LinkConfig& link, Bytes boundary);

// Where a message that is routed by id goes: platform::Bdf::bus.
inline unsigned bus_of_message(const tlm::tlm_generic_payload& message) {
  return static_cast<unsigned>(message.get_address() >> 20);
}

// The request's header as AER logs it: four double words (PCIe 7.8.4.8).
TlpHeader tlp_header(const tlm::tlm_generic_payload& payload, const Transaction& info);
// The same of its completion, of which no tag is known.
TlpHeader completion_header(const tlm::tlm_generic_payload& payload, const Transaction& info);

}  // namespace npu::model
