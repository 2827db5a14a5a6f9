// SPDX-License-Identifier: Apache-2.0
// Event waits for signals in device memory (abi::kEntryMemorySignal): writes to their lines, by
// whoever, make the waiters read them again. That is how records of other cards end waits.
#pragma once

#include <vector>

#include "model/command/command_types.hpp"
#include "model/core/device_memory_port.hpp"
#include "model/core/memory_watch.hpp"

namespace npu::model {

class MemorySignals : private MemoryWatch::Watcher {
 public:
  explicit MemorySignals(CommandShared& shared) : shared_(shared) {}

  void connect(MemoryWatch& watch, DeviceMemoryPort& memory) {
    watch_ = &watch;
    memory_ = &memory;
  }
  // Of the wait at the queue's head, until unwatch(). False: its signal is not in this card's
  // memory, and nobody will tell of it.
  bool watch(const HardwareQueue& queue);
  void unwatch(const HardwareQueue& queue);

 private:
  // A queue may be gone, so it is known by its name.
  struct Watched {
    std::uint64_t name;
    std::uint64_t index;  // of the entry
    SpaceId space;
    std::uint64_t line;   // in its space
    std::uint64_t local;  // device-local
    bool written;
  };

  void line_written(Writer writer, std::uint64_t address) override;
  void wake_all(std::uint64_t);
  bool wake(const Watched& watched);
  void stop_watching(const Watched& watched);

  CommandShared& shared_;
  MemoryWatch* watch_ = nullptr;
  DeviceMemoryPort* memory_ = nullptr;
  std::vector<Watched> all_;
  bool awake_ = false;  // wake() is on the agenda
};

}  // namespace npu::model
