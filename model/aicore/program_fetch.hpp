// SPDX-License-Identifier: Apache-2.0
// How programs come from device memory. A launch reads the image's header, and with it the first
// lines of the code if the core's instruction cache holds nothing of that place. Code behind them
// is read when it is first executed, and again when the cache has lost it: the line that is missed
// and those that follow it, as many as one fetch has. Lines behind these are asked for at once, and
// the program goes on until it needs them. Time is that of the instructions a program executes
// (code_layout.hpp); the host's object, its size above all, is of no matter.
#pragma once

#include <array>
#include <utility>

#include "model/aicore/instruction_cache.hpp"
#include "model/aicore/memory_reads.hpp"
#include "model/aicore/poll_loop.hpp"

namespace npu::model {

class ProgramFetch {
 public:
  struct Place {
    std::uint64_t image = 0;
    Bytes size = 0;  // header and object
  };
  struct Program {
    platform::AicoreEntry entry;
    const std::uint64_t* executed;  // LoadedProgram::executed
    std::array<char, 17> name;      // as in ProgramRun::Identity
    InstructionCache::Program* code;
    Place place;
    const void* before = nullptr;  // its last call of the port
  };

  ProgramFetch(ProgramServices& services, const CallStack& calls, CoreThread& thread,
               MemoryReads& reads, ProgramCoreStatistics& statistics);

  // Ends when the program can begin.
  Program fetch(std::uint64_t image);
  // What runs from now on; the one before.
  Program* enter(Program* program) { return std::exchange(running_, program); }
  const Program* running() const { return running_; }
  // The running program comes to a call of its port, or to its end (nullptr), behind so many
  // instructions. Ends when they and the call have been read. `polls` hears of what was not there.
  void execute(const void* call, std::uint64_t instructions, PollLoop& polls);
  // So many reads of the running program's image, each of another line of the L2, one behind the
  // other: code and objects that the core's caches have lost at a launch.
  void read_objects(unsigned reads);
  void forget_images() {
    running_ = nullptr;
    ahead_ = {};
    cache_.clear();
  }

 private:
  static constexpr Bytes kPage = 4096;

  // Lines of a program that are on their way.
  struct Ahead {
    std::uint64_t image = 0;
    std::uint64_t first = 0, end = 0;
    bool has(std::uint64_t of, std::uint64_t line) const {
      return image == of && first <= line && line < end;
    }
  };
  // Aligned bytes of memory in whole lines.
  struct Span {
    std::uint64_t begin, end;
  };
  Span span_of(const Place& place, std::uint64_t first, std::uint64_t lines) const;
  // Lines from `first` on; how many.
  std::uint64_t read_lines(const Place& place, std::uint64_t first);
  void fill(InstructionCache::Program& code, std::uint64_t first, std::uint64_t end);
  // The line is there when it ends.
  void bring(Program& program, std::uint64_t line);
  void ask_ahead(const Program& program, std::uint64_t first);
  void read_now(std::uint64_t address, void* data, Bytes length);
  LoadedProgram load(std::uint64_t image, const abi::ImageHeader& header);

  ProgramServices& services_;
  const CallStack& calls_;
  CoreThread& thread_;
  MemoryReads& reads_;
  ProgramCoreStatistics& statistics_;
  InstructionCache cache_;
  Ahead ahead_;
  Program* running_ = nullptr;
};

}  // namespace npu::model
