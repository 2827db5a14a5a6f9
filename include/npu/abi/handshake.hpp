// SPDX-License-Identifier: Apache-2.0
// The handshake between AICPU scheduler and AI Core executor: one cache line per worker in device
// memory (requirements.md M6), beside it the dispatch payloads of the register handshake.
//
// A worker is one block of the executor's launch. Cores write whole lines back, so the line is the
// AICPU's until aicpu_ready, the core's until aicore_done, then theirs by turns; only `control` is
// stored at any time, and again if a core has overwritten it. Fields up to it are the source's,
// those behind are npusim's own: sequence numbers, so that a core never runs a task twice and the
// AICPU never takes an old end for a new one, and what the core says of itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::abi {

inline constexpr std::uint64_t kCacheLine = 64;  // bytes, of AICPU and AI Core caches

enum class HandshakeKind : std::uint32_t {
  kRegister = 0,  // DATA_MAIN_BASE and COND (core_registers.hpp)
  kMemory = 1,    // this line
};

struct Handshake {
  std::uint32_t aicpu_ready = 0;    // 0   1: the scheduler waits for the worker
  std::uint32_t aicore_done = 0;    // 4   worker + 1: the worker is there
  std::uint64_t task = 0;           // 8   device address of a DispatchPayload; 0: none
  std::int32_t task_status = 0;     // 16  1 busy, 0 done
  std::int32_t control = 0;         // 20  1 quit
  std::uint32_t physical_core = 0;  // 24  index of the core's register window
  std::uint32_t core_type = 0;      // 28  CoreType
  std::uint32_t task_sequence = 0;  // 32  the AICPU counts tasks handed over, from 1
  std::uint32_t done_sequence = 0;  // 36  sequence of the last task that has ended
  std::uint32_t task_result = 0;    // 40  KernelResult of that task
  std::uint32_t reserved[5] = {};   // 44
};
static_assert(sizeof(Handshake) == kCacheLine && offsetof(Handshake, task) == 8 &&
              offsetof(Handshake, control) == 20 && offsetof(Handshake, task_sequence) == 32);

// What a core needs to run one block of a task. Two per worker: the register handshake uses the
// one of bit 0 of the dispatch id, so that the next one can be written while one runs.
struct DispatchPayload {
  std::uint64_t kernel = 0;     // 0   device address of an ImageHeader
  std::uint64_t arguments = 0;  // 8   device address of the task's argument words
  std::uint32_t words = 0;      // 16  argument words
  std::uint32_t block = 0;      // 20  0 .. blocks - 1
  std::uint32_t blocks = 0;     // 24
  std::uint32_t task = 0;       // 28  index in the graph
  std::uint32_t role = 0;       // 32  of a mixed block: 0 AIC, 1 and 2 its AIVs
  std::uint32_t dispatch = 0;   // 36  dispatch id, for a check
  std::uint32_t result = 0;     // 40  KernelResult, written by the core before it reports the end
  std::uint32_t reserved = 0;   // 44
  std::uint64_t record = 0;  // 48  TaskRecord (task_graph.hpp) whose `begun` and `ended` the core
                             //     fills in before it reports the end; 0: none
  std::uint64_t reserved_2 = 0;  // 56
};
static_assert(sizeof(DispatchPayload) == kCacheLine && offsetof(DispatchPayload, result) == 40 &&
              offsetof(DispatchPayload, record) == 48);
inline constexpr unsigned kPayloadsPerWorker = 2;

// How a kernel ended. Values a kernel returns itself are its own; 0 is success.
enum class KernelResult : std::uint32_t { kOk = 0 };

}  // namespace npu::abi
