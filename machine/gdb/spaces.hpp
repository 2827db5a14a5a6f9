// SPDX-License-Identifier: Apache-2.0
// Memory by the addresses that gdb has: this process' own, or else global memory as a core sees it;
// local buffers in windows beyond both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/gdb/threads.hpp"
#include "model/core/device_memory_port.hpp"

namespace npu::gdb {

class Spaces {
 public:
  Spaces(const OwnMemory& own, const Code& code, Threads& threads)
      : own_(own), code_(code), threads_(threads) {}

  // As `thread` sees it, null: nobody, who has no global memory. False: not all of it is there.
  bool read(Thread* thread, std::uint64_t address, unsigned char* to, std::size_t bytes);
  bool write(Thread* thread, std::uint64_t address, const unsigned char* from, std::size_t bytes);
  // Where its windows are: lines of text.
  std::string windows(const Thread& thread) const;

  // Writes to global memory that gdb wants to hear of. False: that is no global memory.
  bool watch(Thread* thread, std::uint64_t address, Bytes length);
  void unwatch(std::uint64_t address, Bytes length);
  void forget_watches() { watches_.clear(); }
  // The address of the watch that a write meets; nullopt: none. By device-local address.
  std::optional<std::uint64_t> met(const model::DeviceMemoryPort& memory, model::SpaceId space,
                                   std::uint64_t address, Bytes length) const;
  std::optional<std::uint64_t> met_local(const model::DeviceMemoryPort& memory,
                                         std::uint64_t address, Bytes length) const;

 private:
  struct Watch {
    model::DeviceMemoryPort* memory;
    model::SpaceId space;
    std::uint64_t address, given;
    Bytes length;
    std::optional<std::uint64_t> local;
  };
  struct Global {
    model::DebuggedCore* core;  // null: not global memory
    std::uint64_t address;
  };
  bool read_watched(std::uint64_t address, unsigned char* to, std::size_t bytes);
  Global global(Thread* thread, std::uint64_t address);
  unsigned char* local(std::uint64_t address, std::size_t bytes);

  const OwnMemory& own_;
  const Code& code_;
  Threads& threads_;
  std::vector<Watch> watches_, before_;  // those of now; those that were removed
};

}  // namespace npu::gdb
