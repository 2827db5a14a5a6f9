// SPDX-License-Identifier: Apache-2.0
#include "model/core/transaction.hpp"

#include <systemc>

namespace npu::model {

void Transaction::prepare(tlm::tlm_generic_payload& payload, tlm::tlm_command command,
                          std::uint64_t address, unsigned length) {
  auto& info = of(payload);
  info.kind = TransactionKind::kMemory;
  info.completion = Completion::kSuccess;
  info.posted = info.relaxed = info.asks_translated = false;
  info.translated = info.no_write = info.replays = info.type0 = false;
  info.to_host = HostPage::kNone;
  info.reduction = abi::ReduceOperation::kNone;
  info.vmid = 0;
  info.requester = 0;
  info.function = 0;
  info.peer = info.flow = 0;
  info.pasid = info.pitch = 0;
  info.rows = 1;
  info.core = 0;
  info.translated_at = info.hbm_until = 0;
  info.l2_hits = info.l2_misses = 0;
  info.cause = info.issued = info.context = 0;
  info.sender_states.clear();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_length(length);
  payload.set_streaming_width(length);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

tlm::tlm_generic_payload& TransactionPool::allocate(tlm::tlm_command command, std::uint64_t address,
                                                    unsigned char* data, unsigned length) {
  if (idle_.empty()) {
    all_.push_back(std::make_unique<PooledPayload>(this));
    idle_.push_back(all_.back().get());
  }
  auto& payload = *idle_.back();
  idle_.pop_back();
  payload.acquire();
  sc_assert(data != nullptr || length <= Transaction::kInlineData);
  payload.set_data_ptr(data ? data : Transaction::of(payload).inline_data.data());
  Transaction::prepare(payload, command, address, length);
  return payload;
}

tlm::tlm_generic_payload& TransactionPool::allocate_timing(tlm::tlm_command command,
                                                           std::uint64_t address, unsigned length) {
  auto& payload = allocate(command, address, nullptr, 0);
  payload.set_data_ptr(nullptr);
  payload.set_data_length(length);
  payload.set_streaming_width(length);
  return payload;
}

void TransactionPool::free(tlm::tlm_generic_payload* payload) {
  idle_.push_back(payload);
}

}  // namespace npu::model
