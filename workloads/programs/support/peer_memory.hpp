// SPDX-License-Identifier: Apache-2.0
// Memory of another card in the address space of a process.
#pragma once

#include <memory>

#include "npu/driver/device.hpp"
#include "workloads/framework/context.hpp"

namespace npu::workloads {

class PeerMemory {
 public:
  // `size` bytes of card `card`, mapped into `near`, which must outlive it.
  static Result<std::unique_ptr<PeerMemory>> create(Context& context, driver::AddressSpace& near,
                                                    std::uint32_t card, Bytes size);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  driver::DeviceAddress address() const { return here_; }  // in `near`
  // From the memory's begin, by copies of the card that has it.
  Status write(ConstByteSpan bytes);

 private:
  PeerMemory(Context& context, driver::AddressSpace& near, Bytes size)
      : context_(context), near_(near), size_(size) {}
  Status make(std::uint32_t card);
  Status map(driver::AddressSpace& space, driver::MemoryHandle memory, driver::DeviceAddress& at);

  Context& context_;
  driver::AddressSpace& near_;
  const Bytes size_;
  std::unique_ptr<driver::Device> device_;
  driver::StreamId stream_;
  driver::MemoryHandle owned_, borrowed_;
  driver::DeviceAddress there_, here_;
};

}  // namespace npu::workloads
