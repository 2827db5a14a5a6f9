// SPDX-License-Identifier: Apache-2.0
// Access of the driver to device registers and memory through a BAR (MmioRegion), and of the device
// to host memory (DmaMemory).
#pragma once

#include <cassert>
#include <cstdint>

#include "npu/abi/register.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::platform {

enum class Caching {
  kUncached,  // every store is one posted write, in program order
  // Stores to neighbouring bytes may be combined into one write, until write_barrier(). Only for
  // device memory, never for registers.
  kWriteCombining,
};

// A mapped part of a BAR. Offsets are relative to its start, naturally aligned and inside it, else
// an assertion fails. A read is a round trip and blocks. A write is posted: it returns before the
// device sees it, and writes arrive in order. After the loss of the device reads return all ones,
// and writes are dropped.
class MmioRegion {
 public:
  virtual ~MmioRegion() = default;
  virtual Bytes size() const = 0;
  virtual std::uint32_t read32(Bytes offset) = 0;
  virtual std::uint64_t read64(Bytes offset) = 0;
  virtual void write32(Bytes offset, std::uint32_t value) = 0;
  virtual void write64(Bytes offset, std::uint64_t value) = 0;
};

// Typed access to the register block at offset `block` of `region`. Writing a read-only register
// does not compile.
template <class R>
R read_register(MmioRegion& region, Bytes block = 0) {
  if constexpr (sizeof(typename R::raw_type) == 8) {
    return R::from_raw(region.read64(block + R::kOffset));
  } else {
    return R::from_raw(region.read32(block + R::kOffset));
  }
}
template <class R>
void write_register(MmioRegion& region, R value, Bytes block = 0) {
  static_assert(R::kAccess != abi::Access::kReadOnly, "the register is read-only");
  if constexpr (sizeof(typename R::raw_type) == 8) {
    region.write64(block + R::kOffset, value.raw);
  } else {
    region.write32(block + R::kOffset, value.raw);
  }
}

// The bus address of imported memory is a multiple of it, and no other mapping of the function lies
// in the same 2 MiB. So a page table of the card can map such memory (abi/page_table.hpp: Host).
inline constexpr Bytes kImportAlignment = Bytes{2} << 20;

// A PCI bus address of host memory, for DMA of a device. It is neither a pointer nor a physical
// address. No other kind of host address may be in a descriptor.
struct BusAddress {
  std::uint64_t value = 0;

  friend constexpr BusAddress operator+(BusAddress a, Bytes offset) {
    return BusAddress{a.value + offset};
  }
  friend constexpr bool operator==(BusAddress a, BusAddress b) { return a.value == b.value; }
  friend constexpr bool operator!=(BusAddress a, BusAddress b) { return a.value != b.value; }
};

// Host memory that a device can access by DMA until the object is destroyed. It is coherent and
// contiguous on the bus. Platform::allocate_dma() zeroes it, import_dma() does not.
class DmaMemory {
 public:
  virtual ~DmaMemory() = default;
  ByteSpan cpu() const { return cpu_; }
  BusAddress bus() const { return bus_; }
  Bytes size() const { return cpu_.size; }

  // Atomic access to words that the device also accesses. `offset` is naturally aligned.
  template <class T>
  T load(Bytes offset) const {
    assert(offset + sizeof(T) <= cpu_.size && offset % sizeof(T) == 0);
    return __atomic_load_n(reinterpret_cast<const T*>(cpu_.data + offset), __ATOMIC_ACQUIRE);
  }
  template <class T>
  void store(Bytes offset, T value) const {
    assert(offset + sizeof(T) <= cpu_.size && offset % sizeof(T) == 0);
    __atomic_store_n(reinterpret_cast<T*>(cpu_.data + offset), value, __ATOMIC_RELEASE);
  }

 protected:
  DmaMemory(ByteSpan cpu, BusAddress bus) : cpu_(cpu), bus_(bus) {}

 private:
  ByteSpan cpu_;
  BusAddress bus_;
};

// Pages of imported memory: kResident if they have been accessed before. The operating system
// allocates and zeroes kFresh pages when they are pinned.
enum class HostPages { kFresh, kResident };

// Accesses of the device to DMA memory.
enum class DmaDirection { kBidirectional, kDeviceReads, kDeviceWrites };

}  // namespace npu::platform
