// SPDX-License-Identifier: Apache-2.0
// How programs come from device memory: the header of an image is read, and its object too, if the
// core's instruction cache does not hold it.
#pragma once

#include <array>

#include "model/aicore/image_cache.hpp"
#include "model/aicore/memory_reads.hpp"

namespace npu::model {

class ProgramFetch {
 public:
  struct Program {
    platform::AicoreEntry entry;
    const std::uint64_t* executed;  // LoadedProgram::executed
    std::array<char, 17> name;      // as in ProgramRun::Identity
  };

  ProgramFetch(ProgramServices& services, const CallStack& calls, CoreThread& thread,
               MemoryReads& reads, ProgramCoreStatistics& statistics);

  // Ends when the program can begin.
  Program fetch(std::uint64_t image);
  void forget_images() { images_.clear(); }

 private:
  static constexpr Bytes kRequest = 4096;       // at most, of an object
  static constexpr unsigned kMostInFlight = 4;  // of these

  void fetch_object(std::uint64_t object, Bytes size);
  LoadedProgram load(std::uint64_t image, const abi::ImageHeader& header);

  ProgramServices& services_;
  const CallStack& calls_;
  CoreThread& thread_;
  MemoryReads& reads_;
  ProgramCoreStatistics& statistics_;
  ImageCache images_;
};

}  // namespace npu::model
