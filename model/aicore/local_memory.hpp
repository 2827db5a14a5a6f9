// SPDX-License-Identifier: Apache-2.0
// The local buffers of a core and what instructions do to their bytes. Without `functional` there
// are none, and instructions do nothing.
#pragma once

#include <vector>

#include "model/aicore/instruction_checks.hpp"
#include "model/aicore/pipe_queue.hpp"
#include "model/core/device_memory.hpp"
#include "model/core/ports.hpp"

namespace npu::model {

class LocalMemory {
 public:
  LocalMemory(const BufferSizes& sizes, bool functional) : sizes_(sizes), functional_(functional) {}

  // An instruction that check() has passed. A fault: global memory of `vmid` could not be reached.
  CommandFault execute(const Instruction& instruction, DeviceMemory& memory, std::uint8_t vmid);
  // `offset` in range.
  std::uint32_t load_ub(std::uint32_t offset);
  void store_ub(std::uint32_t offset, std::uint32_t value);

 private:
  using Buffer = std::vector<unsigned char>;
  unsigned char* at(platform::LocalBuffer buffer, Bytes offset);
  CommandFault copy_in(const platform::CopyIn& copy, DeviceMemory& memory, std::uint8_t vmid);
  CommandFault copy_out(const platform::CopyOut& copy, DeviceMemory& memory, std::uint8_t vmid);
  CommandFault fixpipe(const platform::Fixpipe& fixpipe, DeviceMemory& memory, std::uint8_t vmid);
  void load_l0(const platform::LoadL0& load);
  void mmad(const platform::Mmad& mmad);

  const BufferSizes sizes_;
  const bool functional_;
  std::array<Buffer, platform::kLocalBuffers> buffers_;  // made when first used
  Buffer row_;                                           // of FixPipe, converted
};

}  // namespace npu::model
