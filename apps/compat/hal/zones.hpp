// SPDX-License-Identifier: Apache-2.0
// Memory in pieces: blocks of zones, which are had from npusim and given back with their last
// block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "apps/compat/hal/outcome.hpp"

namespace npu::compat {

class Zones {
 public:
  // What a zone is of.
  struct Kind {
    bool managed = false;     // MEM_SVM, else MEM_HOST
    bool any_device = false;  // of the first one that is open
    std::uint32_t device = 0;

    bool operator<(const Kind& other) const {
      if (managed != other.managed) return managed < other.managed;
      if (any_device != other.any_device) return any_device < other.any_device;
      return device < other.device;
    }
  };

  static Zones& all();

  // `align`: a power of two of at most 2 MiB. OUT_OF_MEMORY, INVALID_DEVICE.
  drvError_t allocate(const Kind& kind, std::size_t size, std::size_t align, void** block);
  // INVALID_VALUE: no block begins there, or it is kept.
  drvError_t free(const void* block);
  // Bytes of the block that begins there; 0: none does.
  std::size_t size_of(const void* block);
  // For a message: it can only be freed when it is no longer kept. False: no block begins there, or
  // it is kept already.
  bool keep(const void* block, bool kept);

 private:
  struct Zone {
    Kind kind;
    std::size_t size = 0;
    std::map<std::uintptr_t, std::size_t> holes;  // bytes, by address
  };
  struct Block {
    std::uintptr_t zone = 0, begin = 0;  // what of the zone it takes begins there
    std::size_t size = 0, taken = 0;     // bytes asked for, of the zone
    bool kept = false;
  };

  bool take(std::uintptr_t zone, Zone& from, std::size_t size, std::size_t align, void** block);
  drvError_t add_zone(const Kind& kind, std::size_t size, std::uintptr_t* zone);

  std::mutex lock_;
  std::map<std::uintptr_t, Zone> zones_;    // by address
  std::map<std::uintptr_t, Block> blocks_;  // by address
};

}  // namespace npu::compat
