// SPDX-License-Identifier: Apache-2.0
// The interface of an AICPU for the program that runs on it. Every member costs the machine's time.
// The instructions between two calls are counted and take time if the program was built so
// (kernels/counting/README.md). Other programs declare them with compute().
//
// Memory is the process' device memory, by virtual address. Accesses are naturally aligned and go
// through the core's data cache. It is coherent with other AICPUs and with published data of AI
// Cores. Data of DMA is visible after invalidate() on chips that do not snoop it. A launch begins
// with an empty data cache. Loads acquire, stores release, lines of a write() do not, and atomic
// accesses do both. Others see stores some time later, in order, and before a later atomic access.
// barrier() orders loads and register accesses, too. A failed access ends the program with a fault.
#pragma once

#include <cstdint>

#include "npu/abi/core_registers.hpp"
#include "npu/base/units.hpp"

namespace npu::platform {

// Phases of a program in a timeline. The figures of the scheduler come from those before the
// pager's.
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

  // Of the launch: this block, the number of blocks, the device address of the arguments.
  virtual unsigned thread() const = 0;
  virtual unsigned threads() const = 0;
  virtual std::uint64_t arguments() const = 0;

  // 1, 2, 4 or 8 bytes.
  virtual std::uint64_t load(std::uint64_t address, unsigned bytes) = 0;
  virtual void store(std::uint64_t address, unsigned bytes, std::uint64_t value) = 0;
  // Atomic accesses of 4 or 8 bytes. Both return the previous value.
  virtual std::uint64_t fetch_add(std::uint64_t address, unsigned bytes, std::uint64_t value) = 0;
  virtual std::uint64_t compare_exchange(std::uint64_t address, unsigned bytes,
                                         std::uint64_t expected, std::uint64_t desired) = 0;
  // Any length and alignment, one line after the other.
  virtual void read(std::uint64_t address, void* data, Bytes length) = 0;
  virtual void write(std::uint64_t address, const void* data, Bytes length) = 0;
  // Drops the lines of [address, address + length) from the data cache.
  virtual void invalidate(std::uint64_t address, Bytes length) = 0;
  // Earlier stores to memory and registers precede all later accesses.
  virtual void barrier() = 0;

  // Register windows of AI Cores. Stores are posted, and a load waits for its answer. A closed
  // window and a missing core read as all ones.
  virtual unsigned core_windows() const = 0;
  virtual std::uint32_t load_register(unsigned core, std::uint32_t offset) = 0;
  virtual void store_register(unsigned core, std::uint32_t offset, std::uint32_t value) = 0;

  // The card's system counter, shared with the AI Cores.
  virtual std::uint64_t system_counter() = 0;
  virtual std::uint64_t counter_hz() const = 0;
  // The program's own instructions.
  virtual void compute(unsigned instructions) = 0;

  // Call it in each round of a polling loop. It declares that the round changed nothing, so that
  // the next one repeats it unless something that it reads changes. The machine may skip such
  // rounds, with the same results and times. False: `deadline` (ticks of the system counter) has
  // passed.
  virtual bool poll_again(std::uint64_t deadline) = 0;

  // Begins a phase of the thread, for timelines. `task`: the task that it works on; ~0: none. Costs
  // no time.
  virtual void phase(AicpuPhase phase, std::uint32_t task = ~std::uint32_t{0}) = 0;
};

// The entry point of an AICPU program (abi::ImageKind::kAicpu). It returns the result of the block;
// 0: success.
using AicpuEntry = int (*)(AicpuPort&);
inline constexpr char kAicpuEntryName[] = "npu_aicpu_main";

}  // namespace npu::platform
