// SPDX-License-Identifier: Apache-2.0
// The event counters of a card (include/npu/abi/event.hpp), as BAR0 shows them from 0x2000 on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "model/core/zeroed_array.hpp"
#include "npu/abi/event.hpp"
#include "npu/abi/layout.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

class EventRegisters {
 public:
  explicit EventRegisters(unsigned events) : records_(events) {}

  std::uint32_t size() const { return static_cast<std::uint32_t>(records_.size()); }
  abi::EventRecord at(std::uint32_t id) const { return records_[id]; }
  // Counts one completion; returns the new record.
  abi::EventRecord complete(std::uint32_t id, abi::FaultCode code) {
    records_[id].complete(code);
    return records_[id];
  }
  // The queue is enabled anew: faults go, counts stay.
  void clear_faults() {
    for (std::size_t id = 0; id < records_.size(); ++id)
      records_[id].raw &= ~abi::EventRecord::Fault::kMask;
  }
  void reset() { std::fill_n(records_.data(), records_.size(), abi::EventRecord{}); }

  // Host read; `offset` from the start of the block. Beyond the last event the block reads 0.
  bool host_read(std::uint64_t offset, unsigned char* data, std::size_t length) const {
    if (offset % 4 != 0 || length % 4 != 0) return false;
    for (; length > 0; offset += 4, data += 4, length -= 4) {
      const std::uint64_t id = offset / abi::kEventStride;
      const std::uint64_t raw = id < records_.size() ? records_[id].raw : 0;
      const auto half = static_cast<std::uint32_t>(raw >> (8 * (offset % abi::kEventStride)));
      std::memcpy(data, &half, 4);
    }
    return true;
  }

 private:
  ZeroedArray<abi::EventRecord> records_;
};

}  // namespace npu::model
