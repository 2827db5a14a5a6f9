// SPDX-License-Identifier: Apache-2.0
// The local buffers of a core and what instructions do to their bytes. Without `functional` there
// are none, and instructions do nothing.
#pragma once

#include <vector>

#include "model/aicore/arithmetic/product_piece.hpp"
#include "model/aicore/borrowed_rows.hpp"
#include "model/aicore/deferred_loads.hpp"
#include "model/aicore/global_stores.hpp"
#include "model/aicore/pipe_queue.hpp"
#include "model/core/device_memory_port.hpp"
#include "model/core/ports.hpp"
#include "model/core/space_id.hpp"

namespace npu::model {

// The memory that instructions are executed with is always the same one, and writes nothing any
// more when this is destroyed.
class LocalMemory : private DirectMemoryUser {
 public:
  LocalMemory(const BufferSizes& sizes, bool functional) : sizes_(sizes), functional_(functional) {}
  LocalMemory(const LocalMemory&) = delete;
  LocalMemory& operator=(const LocalMemory&) = delete;

  // An instruction that check() has passed. A fault: global memory of `vmid` could not be reached.
  CommandFault execute(const Instruction& instruction, const platform::StoreReduction& reduction,
                       DeviceMemoryPort& memory, SpaceId vmid);
  // All bytes are 0, nothing is left of what was issued.
  void clear();
  // FixPipe to a local buffer: to L1, or to UB, that of `target`.
  void move(const platform::Fixpipe& fixpipe, LocalMemory& target);
  // MTE3 from UB to L1, that of `target`.
  void move(const platform::CopyOut& copy, LocalMemory& target);
  // For debuggers: where `length` bytes at `offset` lie, in range, with all that was issued before
  // done; null: there are none.
  unsigned char* settled(platform::LocalBuffer buffer, Bytes offset, Bytes length) {
    using platform::LocalBuffer;
    if (!functional_) return nullptr;
    finish_product();
    if (buffer == LocalBuffer::kL1) l1_written({offset, length});
    if (buffer == LocalBuffer::kL0a || buffer == LocalBuffer::kL0b)
      settle(buffer, {offset, length});
    return at(buffer, offset);
  }
  // `offset` in range.
  std::uint32_t load_ub(std::uint32_t offset);
  void store_ub(std::uint32_t offset, std::uint32_t value);

 private:
  // Vectors that lie across two lines of the host's cache are slow.
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  using Buffer = std::vector<Line>;
  unsigned char* at(platform::LocalBuffer buffer, Bytes offset);
  CommandFault copy_in(const platform::CopyIn& copy, DeviceMemoryPort& memory, SpaceId vmid);
  CommandFault copy_transposed(const platform::CopyIn& copy, DeviceMemoryPort& memory,
                               SpaceId vmid);
  CommandFault copy_out(const platform::CopyOut& copy, const GlobalStores& stores);
  CommandFault fixpipe(const platform::Fixpipe& fixpipe, const GlobalStores& stores);
  void load_l0(const platform::LoadL0& load);
  void move_l0(const platform::LoadL0& load);
  void settle(platform::LocalBuffer l0, const DeferredLoads::Range& target);
  // `wholly`: every byte of it, whatever was there.
  void l1_written(const DeferredLoads::Range& l1, bool wholly = false);
  bool borrow(const platform::CopyIn& copy, DeviceMemoryPort& memory, SpaceId vmid);
  void carry_out(const BorrowedRows& rows);
  void complete_l1_loads(const DeferredLoads::Range& l1);
  void invalidate_direct(const std::byte* from, Bytes length) override;
  // How it lies in memory that was lent; null: in no way.
  const BorrowedRows* borrowed(const platform::LoadL0& load) const;
  const platform::LoadL0* deferred_operand(platform::LocalBuffer l0, Bytes offset,
                                           std::uint32_t rows, std::uint32_t columns,
                                           platform::DataType type);
  struct Operand {
    const unsigned char* data;
    Bytes pitch;
    DeferredLoads::Range l1;  // empty: it lies in L0
  };
  Operand operand(const platform::LoadL0* load, platform::LocalBuffer l0, Bytes offset,
                  std::uint32_t rows, std::uint32_t columns, platform::DataType type);
  DeferredLoads& deferred(platform::LocalBuffer l0) {
    return deferred_[l0 == platform::LocalBuffer::kL0a ? 0 : 1];
  }
  void mmad(const platform::Mmad& mmad);
  void multiply_fractals(const platform::Mmad& mmad);
  void begin_with_bias(const platform::Mmad& mmad);
  void take_scales(const platform::Fixpipe& fixpipe);
  // A row of L0C as FixPipe converts it, with the scales taken.
  void convert_row(const platform::Fixpipe& fixpipe, const unsigned char* from, unsigned char* to);
  bool continues(const platform::Mmad& mmad) const;
  void finish_product();

  const BufferSizes sizes_;
  const bool functional_;
  std::array<Buffer, platform::kLocalBuffers> buffers_;  // made when first used
  std::array<DeferredLoads, 2> deferred_;                // of L0A and L0B
  std::vector<BorrowedRows> borrowed_;                   // they do not overlap in L1
  DeviceMemoryPort* memory_ = nullptr;                   // which lent them
  // Products that go on adding to one matrix in L0C, from operands in L1: done at once, because C
  // is read and written once then. The bits are the same.
  platform::Mmad product_;
  std::vector<arithmetic::ProductPiece> pieces_;
  std::vector<DeferredLoads::Range> sources_;  // in L1
  std::vector<unsigned char> row_;             // of FixPipe, converted; of a transposing copy
  std::vector<unsigned char> gathered_;        // a row of C in fractals
  std::vector<float> scaled_, scales_;         // a row of it, and what its columns are scaled by
};

}  // namespace npu::model
