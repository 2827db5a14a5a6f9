// SPDX-License-Identifier: Apache-2.0
// The register windows of all streams of a card (include/npu/abi/stream.hpp) and what the DMA
// engines do with them. The windows lie in BAR2 (requirements.md M4); Bar2Decoder serves them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/core/register_bank.hpp"
#include "npu/abi/fault.hpp"
#include "npu/abi/stream.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class StreamRegisters {
 public:
  explicit StreamRegisters(unsigned streams);

  std::uint32_t size() const { return static_cast<std::uint32_t>(streams_.size()); }
  Bytes window_bytes() const { return streams_.size() * abi::kStreamWindowSize; }
  void reset();

  bool enabled(std::uint32_t stream) const {
    const auto& used = streams_[stream];
    return used && used->bank.get<abi::StreamControl>().get<abi::StreamControl::Enable>() != 0;
  }
  unsigned vector(std::uint32_t stream) const {
    const auto& used = streams_[stream];
    return used ? used->bank.get<abi::StreamVector>().get<abi::StreamVector::Vector>() : 0;
  }
  // The address space of its commands, as latched; not checked against kVmids.
  std::uint8_t vmid(std::uint32_t stream) const {
    return streams_[stream] ? streams_[stream]->vmid : 0;
  }
  void command_fetched(std::uint32_t stream);
  void command_completed(std::uint32_t stream, abi::FaultCode code);

  // `offset` from the start of window 0, inside the windows. False: misaligned.
  bool host_read(std::uint64_t offset, unsigned char* data, std::size_t length);
  bool host_write(std::uint64_t offset, const unsigned char* data, std::size_t length);

 private:
  struct Stream {
    RegisterBank bank{abi::kStreamTable};
    std::uint32_t in_flight = 0;
    std::uint8_t vmid = 0;
  };
  Stream& at(std::uint64_t stream);

  // Null: as after a reset. Of hundreds of streams of each function few are ever used.
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace npu::model
