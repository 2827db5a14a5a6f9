// SPDX-License-Identifier: Apache-2.0
// What a debugger of programs hears, and what it may ask of the cores that run them. Nothing of
// this takes simulated time. Without a debugger the models look at a null pointer where a program
// begins, ends or lets others run.
#pragma once

#include <cstdint>
#include <string>

#include "model/core/space_id.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class DeviceMemoryPort;
class ProgramRun;

// A core that a program runs on.
class DebuggedCore {
 public:
  virtual ~DebuggedCore() = default;
  virtual std::string debug_name() const = 0;  // "aiv 7"; of one card it is the only one
  // As KernelPort numbers them.
  virtual unsigned debug_number() const = 0;
  virtual SpaceId debug_space() const = 0;
  virtual DeviceMemoryPort& debug_memory() = 0;
  // Of what runs on it, a device address.
  virtual std::uint64_t debug_arguments() const = 0;
  // What it waits for, if it does.
  virtual std::string debug_state() const = 0;
  // Bytes of the local buffer (platform::LocalBuffer) from `offset` on, up to date as far as
  // instructions have ended; `length` may be written to. Null: it has none, or not so many.
  virtual unsigned char* debug_local(unsigned, Bytes, Bytes) { return nullptr; }
};

class ProgramDebugger {
 public:
  virtual ~ProgramDebugger() = default;
  // An object is there. `link_map`: of the dynamic linker. `file`: it with the sections that are
  // known; may be no longer there afterwards.
  virtual void loaded(const void* link_map, ConstByteSpan file) = 0;
  virtual void begins(ProgramRun& run) = 0;
  virtual void ends(ProgramRun& run) = 0;
  // The program that runs has called its port and lets others run now.
  virtual void leaves(ProgramRun& run) = 0;
  // An instruction of a pipe moves its bytes (kScalar: a line of a data cache is there): until the
  // next call of this, or of leaves(), writes of AI Cores are its. `number`: in its program.
  struct Effect {
    const DeviceMemoryPort* memory = nullptr;  // of the card
    unsigned core = 0;
    unsigned pipe = 0;  // platform::Pipe
    std::uint32_t number = 0;
  };
  virtual void moves(const Effect& effect) = 0;
};

namespace detail {
inline ProgramDebugger* program_debugger = nullptr;  // null: there is none
}  // namespace detail

}  // namespace npu::model
