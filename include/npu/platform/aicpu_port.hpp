// SPDX-License-Identifier: Apache-2.0
// What a program on an AICPU core may use of the machine it runs on. Every member costs the time
// that the machine says it costs. The instructions between two calls are counted and take time
// (kernels/counting/README.md) where the program was built so; a program that was not says with
// compute() what they take.
//
// Memory is the process' device memory by virtual address. Accesses are naturally aligned, go
// through the core's data cache, and are coherent between AICPUs and with what AI Cores have
// published; what DMA wrote is seen after invalidate() on chips that do not snoop it. A launch
// begins with an empty data cache. Loads acquire, stores release, and atomic accesses do both: a
// store is seen by others some time later, stores in their order and before what follows them as an
// atomic access. barrier() is for what loads, or register accesses, must not overtake. A failed
// access ends the program with a fault.
#pragma once

#include <cstdint>

#include "npu/abi/core_registers.hpp"
#include "npu/base/units.hpp"

namespace npu::platform {

// Names of a program's phases in a timeline; the scheduler's own figures come from the first.
enum class AicpuPhase : std::uint8_t {
  kIdle,
  kHandshake,
  kWiring,
  kDispatch,
  kComplete,
  kDrain,
  kDump,  // copies of tensors
  // Of the pager.
  kTakeFault,
  kMapPage,
  kEvictPage
};

class AicpuPort {
 public:
  virtual ~AicpuPort() = default;

  // Of the launch: this block, how many there are, device address of the arguments.
  virtual unsigned thread() const = 0;
  virtual unsigned threads() const = 0;
  virtual std::uint64_t arguments() const = 0;

  // 1, 2, 4 or 8 bytes.
  virtual std::uint64_t load(std::uint64_t address, unsigned bytes) = 0;
  virtual void store(std::uint64_t address, unsigned bytes, std::uint64_t value) = 0;
  // 4 or 8 bytes, one access for all others; both return the value before.
  virtual std::uint64_t fetch_add(std::uint64_t address, unsigned bytes, std::uint64_t value) = 0;
  virtual std::uint64_t compare_exchange(std::uint64_t address, unsigned bytes,
                                         std::uint64_t expected, std::uint64_t desired) = 0;
  // Any length and alignment, line by line.
  virtual void read(std::uint64_t address, void* data, Bytes length) = 0;
  virtual void write(std::uint64_t address, const void* data, Bytes length) = 0;
  // Drops the lines of [address, address + length) from the data cache.
  virtual void invalidate(std::uint64_t address, Bytes length) = 0;
  // Everything stored before, to memory and registers, is on its way before what comes after.
  virtual void barrier() = 0;

  // Register windows of AI Cores: stores are posted, a load waits for its answer. A closed window
  // and a core that does not exist read as all ones.
  virtual unsigned core_windows() const = 0;
  virtual std::uint32_t load_register(unsigned core, std::uint32_t offset) = 0;
  virtual void store_register(unsigned core, std::uint32_t offset, std::uint32_t value) = 0;

  // The card's system counter, shared with the AI Cores.
  virtual std::uint64_t system_counter() = 0;
  virtual std::uint64_t counter_hz() const = 0;
  // The program's own instructions.
  virtual void compute(unsigned instructions) = 0;

  // To be called in each round of a loop that only looks: says that the round has changed nothing,
  // here or elsewhere, so that the next one does the same unless something it looks at changes. The
  // machine may pass over such rounds; what the program sees is what it would have seen. False at
  // the first round that begins at or after `deadline` (ticks of the system counter).
  virtual bool poll_again(std::uint64_t deadline) = 0;

  // The thread is in `phase` from now on; `task` is the one it works on, ~0: none. Costs nothing.
  virtual void phase(AicpuPhase phase, std::uint32_t task = ~std::uint32_t{0}) = 0;
};

// The entry point of an AICPU program (abi::ImageKind::kAicpu). What it returns is the launch's
// outcome: 0 is success.
using AicpuEntry = int (*)(AicpuPort&);
inline constexpr char kAicpuEntryName[] = "npu_aicpu_main";

}  // namespace npu::platform
