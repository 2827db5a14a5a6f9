// SPDX-License-Identifier: Apache-2.0
// Payloads on HCCS links, each with a buffer of its own: what is on its way does not depend on the
// sender's memory, which a reset may give to somebody else.
#pragma once

#include <memory>
#include <tlm>
#include <vector>

#include "model/core/transaction.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class HccsPayloadPool : public tlm::tlm_mm_interface {
 public:
  HccsPayloadPool() = default;
  HccsPayloadPool(const HccsPayloadPool&) = delete;
  HccsPayloadPool& operator=(const HccsPayloadPool&) = delete;

  // One reference, fresh Transaction extension, room for `length` bytes.
  tlm::tlm_generic_payload& allocate(tlm::tlm_command command, std::uint64_t address,
                                     unsigned length);
  void free(tlm::tlm_generic_payload* payload) override;
  std::size_t in_use() const { return all_.size() - idle_.size(); }

 private:
  struct Item : PooledPayload {
    using PooledPayload::PooledPayload;
    std::vector<unsigned char> buffer;
  };
  std::vector<std::unique_ptr<Item>> all_;
  std::vector<Item*> idle_;
};

}  // namespace npu::model
