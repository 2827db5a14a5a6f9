// SPDX-License-Identifier: Apache-2.0
#include "model/core/buffered_pool.hpp"

#include <systemc>

namespace npu::model {

tlm::tlm_generic_payload& BufferedPool::allocate(tlm::tlm_command command, std::uint64_t address,
                                                 Bytes length) {
  sc_assert(length <= kBuffer);
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Item>(this));
    auto& item = *all_.back();
    item.payload.set_data_ptr(item.buffer.data());
    idle_.push_back(&item.payload);
  }
  auto& payload = *idle_.back();
  idle_.pop_back();
  payload.acquire();
  Transaction::prepare(payload, command, address, static_cast<unsigned>(length));
  return payload;
}

void BufferedPool::free(tlm::tlm_generic_payload* payload) {
  idle_.push_back(payload);
}

}  // namespace npu::model
