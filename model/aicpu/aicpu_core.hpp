// SPDX-License-Identifier: Apache-2.0
// One AICPU: runs a program on a process of its own, block after block. The program's local time
// may be ahead of simulated time by what nobody else can tell: its own instructions, stores to
// registers on their way, the end of a load. Every access that others see, or that shows what
// others do, waits for its time first. Of accesses at one time, those of cores with lower numbers
// go first, and all of them after what else happens then, so that what is seen depends on times
// alone.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/aicpu/aicpu_port.hpp"
#include "model/aicpu/aicpu_work.hpp"
#include "model/aicpu/coherent_cache.hpp"
#include "model/aicpu/poll_rounds.hpp"
#include "model/aicpu/posted_stores.hpp"
#include "model/aicpu/store_buffer.hpp"
#include "model/config/chip_config.hpp"
#include "model/core/core_windows.hpp"
#include "model/core/device_memory.hpp"
#include "model/core/kernel_port.hpp"
#include "model/core/program_loader.hpp"
#include "model/core/program_run.hpp"
#include "model/core/simulation.hpp"
#include "model/core/space_id.hpp"
#include "npu/platform/aicpu_port.hpp"

namespace npu::model {

struct AicpuStatistics : AicpuWork {
  const AicpuWork& work() const { return *this; }
  AicpuPhases phases;                            // that have ended
  std::uint64_t rounds = 0, rounds_skipped = 0;  // of poll loops; skipped ones are among them
};

class AicpuCore {
 public:
  enum class Access : std::uint8_t { kRead, kTranslateRead, kTranslateWrite };
  // What the cores of one card share.
  class Shared {
   public:
    Shared(Simulation& simulation, const CoreConfig& launch_times,
           const AicpuProgramConfig& program_times, DeviceMemory& device_memory)
        : sim(simulation), launch(launch_times), config(program_times), memory(device_memory) {}
    virtual ~Shared() = default;
    // What takes time and moves nothing: a read, or a translation. answered() comes later.
    virtual void request(unsigned core, Access access, SpaceId vmid, std::uint64_t address,
                         Bytes length, std::uint64_t cause) = 0;
    // The cache of `core` is about to hold the line.
    virtual void caches(unsigned core, SpaceId vmid, std::uint64_t line) = 0;
    // By `core`, whose `writer` says by what: told to the other cores' caches.
    virtual Completion write(unsigned core, Writer writer, SpaceId vmid, std::uint64_t address,
                             const void* data, Bytes length) = 0;
    // When what AI Cores have written to these lines by now has come to the caches.
    virtual SimTime arrival(SpaceId vmid, std::uint64_t address, Bytes length) const = 0;
    // An AI Core's register is the way `core` has seen it; tells look_changed() when it is not.
    virtual void watch_register(unsigned core, unsigned ai_core) = 0;
    virtual void register_written(unsigned ai_core) = 0;
    // A core of a lower number has an access at this very time and has not made it.
    virtual bool goes_later(unsigned core, SimTime when) const = 0;
    virtual void done(unsigned core, const KernelBlock& block, const CommandFault& fault) = 0;

    Simulation& sim;
    const CoreConfig& launch;
    const AicpuProgramConfig& config;
    DeviceMemory& memory;
    CoreWindows* windows = nullptr;
    // By function: the windows that its programs see, in their order.
    std::vector<std::vector<unsigned>> windows_of;
    ProgramLoader loader{abi::ImageKind::kAicpu, platform::kAicpuEntryName, sim.counted_programs};
    bool naive_polling = false;
  };

  AicpuCore(Shared& shared, unsigned number, std::uint32_t track);

  // The body of the core's process; never returns.
  void serve();
  void start(const KernelBlock& block);
  bool busy() const { return busy_; }
  std::uint64_t context() const { return next_block_.context; }
  SpaceId space() const { return next_block_.vmid; }  // of the last block
  // The program ends at its next access, or in what it computes.
  void stop();
  // The same, and nobody is told.
  void reset();
  void answered(Completion completion);
  // Or will, when the read under way is answered.
  bool holds(SpaceId vmid, std::uint64_t address, Bytes length) const {
    return cache_.holds(vmid, address, length) || fetches(vmid, address, length);
  }
  // Somebody has written. `later`: who comes after this core at equal times.
  void drop_lines(SpaceId vmid, std::uint64_t address, Bytes length, bool later);
  // The same of a register, or of anything that ends a sleep.
  void look_changed(bool later = false);
  // When its process has an access that it waits for; UINT64_MAX: it does not.
  SimTime next_access() const { return next_access_; }
  const AicpuStatistics& statistics() const { return statistics_; }

  // For AicpuProgramPort (platform/aicpu_port.hpp): calls of the program, which end it by Ended.
  unsigned thread() const { return block_.block; }
  unsigned threads() const { return block_.blocks; }
  std::uint64_t arguments() const { return block_.arguments; }
  std::uint64_t load(std::uint64_t address, unsigned bytes);
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value);
  std::uint64_t fetch_add(std::uint64_t address, unsigned bytes, std::uint64_t value);
  std::uint64_t compare_exchange(std::uint64_t address, unsigned bytes, std::uint64_t expected,
                                 std::uint64_t desired);
  void read(std::uint64_t address, void* data, Bytes length);
  void write(std::uint64_t address, const void* data, Bytes length);
  void invalidate(std::uint64_t address, Bytes length);
  void barrier();
  unsigned core_windows() const;
  std::uint32_t load_register(unsigned core, std::uint32_t offset);
  void store_register(unsigned core, std::uint32_t offset, std::uint32_t value);
  std::uint64_t system_counter();
  std::uint64_t counter_hz() const { return shared_.config.counter_hz; }
  void compute(std::uint64_t instructions);
  // By the program since it was last asked; ahead of what it calls next.
  void executed(std::uint64_t instructions);
  bool poll_again(std::uint64_t deadline);
  void phase(platform::AicpuPhase phase, std::uint32_t task);

 private:
  using Ended = ProgramRun::Ended;  // thrown through the program at its next access

  static constexpr std::uint64_t kNoLine = UINT64_MAX;

  // aicpu_core.cpp
  void run_block();
  void run_program();
  LoadedProgram load_program();
  void report();
  void reported(std::uint64_t generation);
  void check() const {
    if (stop_) throw Ended{};
  }
  void sit_out();
  void synchronise();
  void end_phase();

  // aicpu_memory.cpp
  bool same_line(std::uint64_t address);
  unsigned char* line(std::uint64_t address);
  void sample();
  void fetch(std::uint64_t begin);
  void timed_read(std::uint64_t address, Bytes length);
  void await_answer(Access access, std::uint64_t address, Bytes length);
  bool translate(Access access, std::uint64_t address);
  void await_writes(std::uint64_t address, Bytes length);
  bool fetches(SpaceId vmid, std::uint64_t address, Bytes length) const {
    return fetching_ && vmid == block_.vmid && address < fetch_at_ + CoherentCache::kLine &&
           fetch_at_ < address + length;
  }
  void check_alignment(std::uint64_t address, unsigned bytes, bool write);
  [[noreturn]] void fault(abi::FaultCode code, std::uint64_t address, bool write);
  void post(std::uint64_t address, const void* data, Bytes length);
  void store_done(std::uint64_t resets);
  void await_stores();
  std::uint64_t modify(std::uint64_t address, unsigned bytes,
                       std::uint64_t (*change)(std::uint64_t, std::uint64_t, std::uint64_t),
                       std::uint64_t a, std::uint64_t b);

  // aicpu_registers.cpp
  void register_arrives(std::uint64_t argument);
  std::optional<unsigned> window(unsigned core, std::uint32_t offset) const;

  // aicpu_poll.cpp
  SimTime time_of(std::uint64_t ticks) const;
  bool as_seen() const;
  void sleep(SimTime deadline, std::uint64_t executed);

  Shared& shared_;
  Simulation& sim_;
  const unsigned number_;
  const std::uint32_t track_;
  const std::uint64_t instruction_scale_;  // ipc percent * MHz: ps = 10^8 instructions / scale
  const SimTime l1_hit_, l1_other_line_, register_load_;
  CoherentCache cache_;
  std::uint64_t last_line_ = kNoLine;  // of the program's last load
  PollRounds rounds_;
  PostedStores memory_stores_, register_stores_;
  StoreBuffer store_buffer_;               // of memory_stores_ those that are not done
  std::vector<SimTime> register_visible_;  // by AI Core: the last store to its window

  sc_core::sc_event start_, answer_, wake_;
  bool assigned_ = false, assigned_stopped_ = false;  // a block waits for the process
  bool busy_ = false, stop_ = false, discard_ = false;
  bool waiting_ = false;    // for an answer
  bool sleeping_ = false;   // in poll_again()
  bool computing_ = false;  // for long
  Completion completion_ = Completion::kSuccess;
  // A read of a line, and the line's bytes when it was sent.
  bool fetching_ = false, fetch_is_valid_ = false;
  std::uint64_t fetch_at_ = 0;
  std::array<unsigned char, CoherentCache::kLine> fetched_{};
  std::uint32_t generation_ = 0;  // blocks and resets seen
  std::uint32_t resets_ = 0;
  KernelBlock next_block_, block_;
  SimTime started_ = 0;
  CommandFault fault_;  // of the block
  ProgramRun run_;
  AicpuProgramPort port_{*this, run_};
  SimTime local_ = 0;
  SimTime next_access_ = UINT64_MAX;
  bool changed_later_ = false;
  platform::AicpuPhase phase_ = platform::AicpuPhase::kIdle;
  AicpuWork at_phase_;  // when it began
  std::uint32_t phase_task_ = 0;
  SimTime phase_since_ = 0;
  AicpuStatistics statistics_;
  std::uint64_t round_began_at_ = 0;  // instructions then
};

}  // namespace npu::model
