// SPDX-License-Identifier: Apache-2.0
// The driver under test: copies bytes to a card's memory and back, and gets over a card that was
// reset. It knows a platform, which is a simulated machine in the tests and Linux' VFIO elsewhere.
#pragma once

#include <memory>

#include "npu/driver/device.hpp"

class Copier {
 public:
  // The first card of the machine, with room for `size` bytes on it.
  static npu::Result<Copier> open(npu::platform::Platform& platform, npu::Bytes size);
  ~Copier() { give_back(); }
  Copier(Copier&&) = default;
  Copier& operator=(Copier&&) = delete;

  // Bytes that copies read and write, `size` of them.
  npu::ByteSpan buffer() const { return buffer_->cpu(); }

  // Begins a copy of the whole buffer; wait() for it before the next one.
  npu::Status begin_upload();
  npu::Status begin_download();
  // Sleeps until the copy is done. kDeviceLost: the card does not answer any more.
  npu::Status wait(npu::Picoseconds timeout);
  // Opens the card again, whatever has happened to it. What its memory held is gone.
  npu::Status recover();

 private:
  explicit Copier(npu::platform::Platform& platform, npu::Bytes size)
      : platform_(&platform), size_(size) {}
  npu::Status open_card();
  void give_back();
  npu::Status begin(const npu::driver::DmaCommand& command);

  npu::platform::Platform* platform_;
  npu::Bytes size_;
  std::unique_ptr<npu::driver::Device> device_;
  std::unique_ptr<npu::platform::DmaMemory> buffer_;  // goes before its device
  npu::driver::StreamId stream_;
  npu::driver::DeviceAddress memory_;
  npu::driver::Ticket ticket_;
};
