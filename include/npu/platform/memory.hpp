// SPDX-License-Identifier: Apache-2.0
// Device registers and memory seen through a BAR, and host memory seen by the device.
#pragma once

#include <cassert>
#include <cstdint>

#include "npu/abi/register.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::platform {

enum class Caching {
  kUncached,        // every store is one posted write, in program order
  kWriteCombining,  // stores to neighbouring bytes may leave as one write, at the latest at
                    // write_barrier(); for device memory, never for registers
};

// A mapped part of a BAR. Offsets are from the start of the mapped part, naturally aligned and
// inside it (a violation is a programming error and asserts). Reads are round trips that block;
// writes are posted: they return before the device has seen them and arrive in order. After the
// device is gone reads give all ones and writes vanish.
class MmioRegion {
 public:
  virtual ~MmioRegion() = default;
  virtual Bytes size() const = 0;
  virtual std::uint32_t read32(Bytes offset) = 0;
  virtual std::uint64_t read64(Bytes offset) = 0;
  virtual void write32(Bytes offset, std::uint32_t value) = 0;
  virtual void write64(Bytes offset, std::uint64_t value) = 0;
};

// Typed access to a register block mapped at `block` in `region`. Writing a read-only register
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

// An address on the PCI bus, as a device must use it for DMA: neither a pointer nor a physical
// address. The only kind of host address that may enter a descriptor.
struct BusAddress {
  std::uint64_t value = 0;

  friend constexpr BusAddress operator+(BusAddress a, Bytes offset) {
    return BusAddress{a.value + offset};
  }
  friend constexpr bool operator==(BusAddress a, BusAddress b) { return a.value == b.value; }
  friend constexpr bool operator!=(BusAddress a, BusAddress b) { return a.value != b.value; }
};

// Host memory that one device may read and write by DMA until the object is destroyed. Zeroed,
// coherent, contiguous on the bus.
class DmaMemory {
 public:
  virtual ~DmaMemory() = default;
  ByteSpan cpu() const { return cpu_; }
  BusAddress bus() const { return bus_; }
  Bytes size() const { return cpu_.size; }

  // Loads and stores of words that the device also writes or reads; `offset` naturally aligned.
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

// Whether pages of memory that is imported were touched before. Pinning fresh ones takes them from
// the operating system, which zeroes them.
enum class HostPages { kFresh, kResident };

// What the device may do with DMA memory.
enum class DmaDirection { kBidirectional, kDeviceReads, kDeviceWrites };

}  // namespace npu::platform
