// SPDX-License-Identifier: Apache-2.0
// Copies. Bytes of ordinary host memory go through the thread's window, a window at a time; those
// of host memory that npusim has mapped stay where they are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::compat {

// As aclrtMemcpyKind numbers them.
enum class CopyKind : std::uint8_t {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4,  // by the addresses
  kHostBufferToDevice = 5,
  kWithinDevice = 6,
  kBetweenDevices = 7,
};

// In which order a copy runs: by itself, or in that of a stream.
struct CopyOrder {
  bool in_stream = false;
  void* stream = nullptr;
};

// The status of the call. An address of the program's at which there is nothing is 107000.
int copy_bytes(void* to, const void* from, std::size_t count, CopyKind kind,
               const CopyOrder& order);
// Of device memory, or of the host's: in a stream only of what npusim has mapped.
int fill_bytes(void* to, std::uint8_t value, std::size_t count, const CopyOrder& order);

}  // namespace npu::compat
