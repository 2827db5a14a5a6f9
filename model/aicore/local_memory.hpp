// SPDX-License-Identifier: Apache-2.0
// The local buffers of a core and what instructions do to their bytes. Without `functional` there
// are none, and instructions do nothing.
#pragma once

#include <vector>

#include "model/aicore/arithmetic/product_piece.hpp"
#include "model/aicore/deferred_loads.hpp"
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
  void move_l0(const platform::LoadL0& load);
  void settle(platform::LocalBuffer l0, const DeferredLoads::Range& target);
  void l1_written(const DeferredLoads::Range& l1);
  struct Operand {
    const unsigned char* data;
    Bytes pitch;
    DeferredLoads::Range l1;  // empty: it lies in L0
  };
  Operand operand(platform::LocalBuffer l0, Bytes offset, std::uint32_t rows, std::uint32_t columns,
                  platform::DataType type);
  DeferredLoads& deferred(platform::LocalBuffer l0) {
    return deferred_[l0 == platform::LocalBuffer::kL0a ? 0 : 1];
  }
  void mmad(const platform::Mmad& mmad);
  bool continues(const platform::Mmad& mmad) const;
  void finish_product();

  const BufferSizes sizes_;
  const bool functional_;
  std::array<Buffer, platform::kLocalBuffers> buffers_;  // made when first used
  std::array<DeferredLoads, 2> deferred_;                // of L0A and L0B
  // Products that go on adding to one matrix in L0C, from operands in L1: done at once, because C
  // is read and written once then. The bits are the same.
  platform::Mmad product_;
  std::vector<arithmetic::ProductPiece> pieces_;
  std::vector<DeferredLoads::Range> sources_;  // in L1
  Buffer row_;                                 // of FixPipe, converted
};

}  // namespace npu::model
