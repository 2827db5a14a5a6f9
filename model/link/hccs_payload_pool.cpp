// SPDX-License-Identifier: Apache-2.0
#include "model/link/hccs_payload_pool.hpp"

namespace npu::model {

tlm::tlm_generic_payload& HccsPayloadPool::allocate(tlm::tlm_command command, std::uint64_t address,
                                                    unsigned length) {
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Item>(this));
    idle_.push_back(all_.back().get());
  }
  auto& item = *idle_.back();
  idle_.pop_back();
  if (item.buffer.size() < length) item.buffer.resize(length);
  item.set_data_ptr(item.buffer.data());
  item.acquire();
  Transaction::prepare(item, command, address, length);
  return item;
}

void HccsPayloadPool::free(tlm::tlm_generic_payload* payload) {
  idle_.push_back(static_cast<Item*>(payload));
}

}  // namespace npu::model
