// SPDX-License-Identifier: Apache-2.0
// A pair of places to copy between in one direction, with a way to put data in and look at it.
#pragma once

#include <memory>
#include <string>

#include "npu/driver/device.hpp"
#include "workloads/framework/context.hpp"

namespace npu::workloads {

class CopyPath {
 public:
  // `size` bytes at each end; `window` bytes of host memory to look through, at most `size`.
  static Result<std::unique_ptr<CopyPath>> create(Context& context, driver::Device& device,
                                                  driver::StreamId stream, abi::DmaOpcode direction,
                                                  Bytes size, Bytes window);
  ~CopyPath();
  CopyPath(const CopyPath&) = delete;
  CopyPath& operator=(const CopyPath&) = delete;

  // The command that copies [offset, offset + size).
  driver::DmaCommand command(Bytes offset, Bytes size) const;
  // Puts a pattern made from `seed` at [offset, offset + size) of the source; size <= window.
  Status prepare(Bytes offset, Bytes size, std::uint64_t seed);
  // Compares the destination there with that pattern, byte for byte.
  Status verify(Bytes offset, Bytes size, std::uint64_t seed, const std::string& what);

 private:
  CopyPath(Context& context, driver::Device& device, driver::StreamId stream,
           abi::DmaOpcode direction)
      : context_(context), device_(device), stream_(stream), direction_(direction) {}
  Status move(const driver::DmaCommand& command);
  bool from_host() const { return direction_ == abi::DmaOpcode::kHostToDevice; }
  bool to_host() const { return direction_ == abi::DmaOpcode::kDeviceToHost; }

  Context& context_;
  driver::Device& device_;
  driver::StreamId stream_;
  abi::DmaOpcode direction_;
  driver::DeviceMemory source_;                  // unless from_host()
  driver::DeviceMemory destination_;             // unless to_host()
  std::unique_ptr<platform::DmaMemory> host_;    // the end that lies in host memory
  std::unique_ptr<platform::DmaMemory> window_;  // to fill and look at the device's ends
};

}  // namespace npu::workloads
