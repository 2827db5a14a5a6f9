// SPDX-License-Identifier: Apache-2.0
// The scalar unit's own accesses: to memory through its data cache, and to UB.
#pragma once

#include "model/aicore/core_parts.hpp"
#include "model/aicore/data_cache.hpp"
#include "model/aicore/local_memory.hpp"
#include "model/aicore/memory_reads.hpp"
#include "model/aicore/pipe_watch.hpp"
#include "model/aicore/write_backs.hpp"

namespace npu::model {

class LoadStoreUnit {
 public:
  LoadStoreUnit(CoreParts& core, MemoryReads& reads, WriteBacks& write_backs, LocalMemory& local);

  // Hears of accesses to UB from now on.
  void connect(PipeWatch& watch) { watch_ = &watch; }
  // Lines that nobody wrote back are lost.
  void clear() { cache_.clear(); }

  std::uint64_t load(std::uint64_t address, unsigned bytes);
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value);
  void clean_invalidate(std::uint64_t address);
  void clean_invalidate_all();
  void memory_barrier();
  std::uint32_t load_ub(std::uint32_t offset);
  void store_ub(std::uint32_t offset, std::uint32_t value);

 private:
  DataCache::Line& line_for(std::uint64_t address);
  // For who looks for races.
  void tell_access(std::uint64_t address, unsigned bytes, bool write) const;
  DataCache::Line& fill(std::uint64_t address);
  void write_back(DataCache::Line& line);
  void drop(DataCache::Line& line);
  void spend_clocks(std::uint64_t clocks) { thread_.spend(clock_.clocks(clocks)); }
  void check_ub(std::uint32_t offset, bool write);
  [[noreturn]] void ub_fault(abi::FaultCode code, std::uint32_t offset, bool write);

  const unsigned number_;  // of the core
  const ProgramCoreConfig& config_;
  const CoreClock& clock_;
  CoreThread& thread_;
  const CallStack& calls_;
  PollLoop& polls_;
  MemoryReads& reads_;
  WriteBacks& write_backs_;
  LocalMemory& local_;
  const Bytes ub_;
  ProgramCoreStatistics& statistics_;
  DataCache cache_;
  PipeWatch* watch_ = nullptr;
};

}  // namespace npu::model
