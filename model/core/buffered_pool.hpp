// SPDX-License-Identifier: Apache-2.0
// Payloads for the link, each with a buffer of its own. A posted write's data must live until the
// final target has taken it, and a read that returns after a reset must not land in memory that
// is in use again; with the buffer in the payload neither needs any bookkeeping.
#pragma once

#include <array>
#include <memory>
#include <tlm>
#include <vector>

#include "model/core/transaction.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class BufferedPool : public tlm::tlm_mm_interface {
 public:
  static constexpr Bytes kBuffer = 4096;  // a link request never crosses a 4 KiB page

  BufferedPool() = default;
  BufferedPool(const BufferedPool&) = delete;
  BufferedPool& operator=(const BufferedPool&) = delete;

  // One reference, fresh Transaction extension, the payload's own buffer; length <= kBuffer.
  tlm::tlm_generic_payload& allocate(tlm::tlm_command command, std::uint64_t address, Bytes length);
  void free(tlm::tlm_generic_payload* payload) override;
  std::size_t in_use() const { return all_.size() - idle_.size(); }

 private:
  struct Item {
    explicit Item(tlm::tlm_mm_interface* mm) : payload(mm) {}
    PooledPayload payload;
    std::array<unsigned char, kBuffer> buffer;
  };
  std::vector<std::unique_ptr<Item>> all_;
  std::vector<tlm::tlm_generic_payload*> idle_;
};

}  // namespace npu::model
