// SPDX-License-Identifier: Apache-2.0
#include "model/dma/buffered_pool.hpp"

#include <systemc>

#include "model/core/transaction.hpp"

namespace npu::model {

BufferedPool::~BufferedPool() {
  for (auto& item : all_) item->payload.set_mm(nullptr);  // the extension dies with the payload
}

tlm::tlm_generic_payload& BufferedPool::allocate(tlm::tlm_command command, std::uint64_t address,
                                                 Bytes length) {
  sc_assert(length <= kBuffer);
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Item>(this));
    auto& item = *all_.back();
    item.payload.set_extension(new Transaction);
    item.payload.set_data_ptr(item.buffer.data());
    idle_.push_back(&item.payload);
  }
  auto& payload = *idle_.back();
  idle_.pop_back();
  payload.acquire();
  auto& info = Transaction::of(payload);
  info.kind = TransactionKind::kMemory;
  info.completion = Completion::kSuccess;
  info.posted = false;
  info.requester = 0;
  info.cause = info.issued = info.context = info.hop_context = 0;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_length(static_cast<unsigned>(length));
  payload.set_streaming_width(static_cast<unsigned>(length));
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return payload;
}

void BufferedPool::free(tlm::tlm_generic_payload* payload) {
  idle_.push_back(payload);
}

}  // namespace npu::model
