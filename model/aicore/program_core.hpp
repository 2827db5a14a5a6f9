// SPDX-License-Identifier: Apache-2.0
// One core that runs programs from device memory (platform/aicore_port.hpp): a thread of the
// simulation for the scalar unit, beside it the pipes.
//
// The scalar unit's local time runs ahead of simulated time. It catches up where something else
// could tell: before an access to memory and registers, where it waits, and at the latest after
// kRunAhead.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/aicore/core_window.hpp"
#include "model/aicore/cross_flags.hpp"
#include "model/aicore/data_cache.hpp"
#include "model/aicore/instruction_checks.hpp"
#include "model/aicore/local_memory.hpp"
#include "model/aicore/pipe_unit.hpp"
#include "model/aicore/poll_record.hpp"
#include "model/aicore/program_port.hpp"
#include "model/config/core_layout.hpp"
#include "model/core/device_memory.hpp"
#include "model/core/kernel_port.hpp"
#include "model/core/program_loader.hpp"
#include "model/core/program_run.hpp"

namespace npu::model {

// What the cores of a card share.
struct ProgramServices {
  Simulation& sim;
  const ProgramCoreConfig& config;
  const CoreConfig& launch;
  const CoreLayout layout;
  DeviceMemory& memory;
  MemoryWatch& watch;
  const CoreClock clock;
  ProgramLoader loader;
  CrossFlags cross_flags;
  bool naive_polling = false;
  std::vector<std::vector<unsigned>> cores_of;  // by function, as its software numbers them
};

class ProgramCore : private PipeUnit::Owner, private MemoryWatch::Watcher {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // A request for time alone; answered() comes with its slot.
    virtual void send(unsigned core, const MemoryRequest& request, const KernelBlock& block) = 0;
    virtual void block_ended(unsigned core, const KernelBlock& block,
                             const CommandFault& fault) = 0;
    virtual void cond_changed(unsigned core) = 0;
    virtual void status_changed(unsigned core) = 0;
    // `which` vector core of the cluster of a cube core.
    virtual ProgramCore& vector_core(unsigned cube, unsigned which) = 0;
    // A core of a lower number goes on at this very time and has not done so.
    virtual bool goes_later(unsigned core, SimTime when) const = 0;
    // The other cores of the launch may have been waiting for the flag.
    virtual void cross_flag_raised(std::uint64_t context) = 0;
  };

  ProgramCore(ProgramServices& services, const std::string& track, unsigned number, Owner& owner);

  bool busy() const { return busy_; }
  std::uint64_t context() const { return block_.context; }
  SpaceId space() const { return block_.vmid; }  // of the last block
  const ProgramCoreStatistics& statistics() const { return statistics_; }
  CoreWindow& window() { return window_; }
  const CoreWindow& window() const { return window_; }

  // The body of the core's thread.
  void run();
  // When its thread is to go on; UINT64_MAX: it waits for something else.
  SimTime goes_on() const { return goes_on_; }
  // What the thread waits for.
  sc_core::sc_event& wake() { return wake_; }

  void start(const KernelBlock& block);
  void stop();
  void reset();
  void answered(std::uint32_t slot, Completion completion, std::uint64_t address, bool write,
                Bytes length);
  void translated(std::uint32_t slot);
  void window_written(std::uint32_t offset, std::uint32_t value);
  void cross_flags_changed();

  // For ProgramPort (platform/aicore_port.hpp): calls of the program, which end it by Cut.
  const platform::KernelCall& call() const { return call_; }
  // As software of the block's function numbers the cores.
  unsigned physical_core() const;
  abi::CoreType core_type() const { return services_.layout.type(number_); }
  Bytes buffer_size(platform::LocalBuffer buffer) const;
  void issue(const platform::CopyIn& instruction);
  void issue(const platform::CopyOut& instruction);
  void issue(const platform::LoadL0& instruction);
  void issue(const platform::Mmad& instruction);
  void issue(const platform::Fixpipe& instruction);
  void issue(const platform::Vector& instruction);
  void set_flag(platform::Pipe from, platform::Pipe to, unsigned id);
  void wait_flag(platform::Pipe from, platform::Pipe to, unsigned id);
  void pipe_barrier(platform::Pipe pipe);
  void set_cross_flag(platform::Pipe pipe, platform::CrossScope scope, unsigned flag);
  void wait_cross_flag(platform::Pipe pipe, platform::CrossScope scope, unsigned flag);
  std::uint64_t load(std::uint64_t address, unsigned bytes);
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value);
  void clean_invalidate(std::uint64_t address);
  void clean_invalidate_all();
  void memory_barrier();
  std::uint32_t load_ub(std::uint32_t offset);
  void store_ub(std::uint32_t offset, std::uint32_t value);
  std::uint64_t data_main_base();
  void set_cond(std::uint32_t value);
  std::uint64_t system_counter();
  std::uint64_t counter_hz() const { return services_.config.counter_hz; }
  void scalar(unsigned cycles);
  // By the program since it was last asked; ahead of what it calls next.
  void executed(std::uint64_t instructions);
  bool poll_again(std::uint64_t deadline);
  int invoke(const platform::KernelCall& call);
  [[noreturn]] void trap(std::uint16_t code);

 private:
  using Cut = ProgramRun::Ended;  // thrown through the program when its block is over
  enum class Waits : std::uint8_t {
    kNothing,
    kRoom,
    kFlag,
    kCrossFlag,
    kDrained,
    kAnswers,
    kWriteBacks
  };
  struct WaitsFor {
    Waits what = Waits::kNothing;
    platform::Pipe pipe = platform::Pipe::kScalar;
    platform::CrossScope scope = platform::CrossScope::kCluster;
    unsigned id = 0;
  };
  // A line on its way to memory.
  struct WriteBack {
    bool busy = false;
    std::uint64_t address = 0;
    DataCache::Bytes64 data{};
  };
  struct Program {
    platform::AicoreEntry entry;
    const std::uint64_t* executed;  // LoadedProgram::executed
    std::array<char, 17> name;      // as in ProgramRun::Identity
  };
  struct CachedImage {
    std::array<std::uint8_t, 32> digest;
    Bytes size;
  };
  // What belongs to a block; made with the first one.
  struct Units {
    Units(ProgramCore& core, ProgramServices& services);
    PipeUnit pipes;
    LocalMemory memory;
    DataCache cache;
  };
  static constexpr SimTime kRunAhead = 10'000'000;  // ps; bounds what a stop has to wait for
  static constexpr unsigned kWriteBacks = 8;
  static constexpr unsigned kFetches = 4;  // requests of an image under way
  static constexpr unsigned kMostCalls = 4;
  static constexpr std::uint32_t kReadSlot = 0x100;  // of a request; below it: write-backs
  static constexpr unsigned kPipeShift = 28;         // of a slot: which pipe's

  // program_core.cpp: life of a block
  Units& units();
  void run_block();
  int run_launched();
  void forget_accesses();
  void end_block();
  void report(std::uint64_t generation);
  void show_cond(std::uint64_t argument);
  void sample(std::uint64_t line);
  // `pipe` and `number`: of the instruction at fault.
  void keep_fault(CommandFault fault, platform::Pipe pipe, std::uint32_t number);
  void fail(const CommandFault& fault, platform::Pipe pipe, std::uint32_t number);
  [[noreturn]] void raise_fault(abi::FaultCode code, std::uint64_t address = 0, bool write = false,
                                Bytes size = 0, platform::Pipe pipe = platform::Pipe::kScalar);
  // The address of a fault of the instruction that is about to be issued.
  std::uint64_t at_fault(abi::FaultyField field, platform::Pipe pipe, unsigned offset = 0,
                         unsigned buffer = 0) const;
  void identify(const Program& program);
  void enter();  // each call of the port
  void enter_effect();
  void sync_to(SimTime when);
  void catch_up();
  void spend(SimTime time) {
    local_ += time;
    statistics_.busy[static_cast<std::size_t>(platform::Pipe::kScalar)] += time;
  }
  void wait_for(const WaitsFor& condition);
  bool satisfied(const WaitsFor& condition) const;
  bool hopeless(const WaitsFor& condition) const;
  void wake_thread();

  // program_core_image.cpp
  Program fetch(std::uint64_t image);
  void fetch_object(std::uint64_t image, const abi::ImageHeader& header);
  bool holds_image(const abi::ImageHeader& header);
  void keep_image(const abi::ImageHeader& header);
  LoadedProgram load_object(std::uint64_t image, const abi::ImageHeader& header);

  // program_core_issue.cpp
  template <class T>
  void issue_checked(platform::Pipe pipe, const T& instruction, const InstructionFinding& found);
  CommandFault move_from_l0c(const platform::Fixpipe& fixpipe);
  bool shares_block_with(const ProgramCore& vector) const;
  void make_room(platform::Pipe pipe);
  void check_flag(platform::Pipe from, platform::Pipe to, unsigned id);
  CrossFlags::Member cross_member(platform::CrossScope scope, unsigned flag);
  CrossFlags::Member member_of(platform::CrossScope scope) const;
  void leave_call();
  void send(platform::Pipe pipe, const MemoryRequest& request) override;
  DeviceMemory::Hold hold() override { return services_.memory.hold(block_.vmid); }
  void release(DeviceMemory::Hold hold) override { services_.memory.release(hold); }
  bool pages_may_leave() const override { return services_.memory.pages_may_leave(block_.vmid); }
  bool reaches(std::uint64_t address, Bytes length, bool write) override {
    return services_.memory.reaches(block_.vmid, address, length, write);
  }
  std::uint32_t track_of(platform::Pipe pipe);
  void set_up(SimTime begun);
  void execute(platform::Pipe pipe, const PipeEntry& entry, SimTime begin, SimTime end,
               Bytes bytes) override;
  void raise_cross_flag(platform::CrossScope scope, unsigned flag, SimTime when) override;
  std::optional<SimTime> lower_cross_flag(platform::CrossScope scope, unsigned flag) override;
  void flag_overflow() override;
  void pipes_advanced() override;

  // program_core_scalar.cpp
  void request(bool write, std::uint64_t address, Bytes length, std::uint32_t slot);
  void await_answers(unsigned most);
  void read_memory(std::uint64_t address, void* data, Bytes length);
  DataCache::Line& line_for(std::uint64_t address);
  DataCache::Line& fill(std::uint64_t address);
  void read_line(std::uint64_t line, DataCache::Bytes64& data);
  void write_back(DataCache::Line& line);
  void send_write_back(std::uint64_t argument);
  void await_write_back(std::uint64_t line);
  void written_back(unsigned slot);
  void drop(DataCache::Line& line);
  [[noreturn]] void ub_fault(abi::FaultCode code, std::uint32_t offset, bool write = false);

  // program_core_poll.cpp
  const Look* replayed(Look::Kind kind, std::uint64_t address);
  void looked(Look look, SimTime begin);
  void spoil();
  void line_written(Writer writer, std::uint64_t address) override;
  std::uint64_t counter_at(SimTime when) const;
  SimTime time_of(std::uint64_t counter) const;
  bool looks_the_same();
  std::optional<SimTime> sleep(SimTime limit);

  ProgramServices& services_;
  Simulation& sim_;
  const ProgramCoreConfig& config_;
  const CoreClock& clock_;
  const std::string track_;
  const unsigned number_;
  const BufferSizes sizes_;
  const FixpipeWays ways_;
  Owner& owner_;
  ProgramCoreStatistics statistics_;
  CoreWindow window_;
  std::unique_ptr<Units> units_;
  std::array<std::uint32_t, platform::kPipes> tracks_{};  // known with the first event
  std::uint32_t setup_track_ = 0;

  ProgramRun run_;
  ProgramPort port_{*this, run_};
  sc_core::sc_event wake_;
  bool busy_ = false, pending_ = false, in_block_ = false;
  bool cut_ = false, abandoned_ = false;
  bool stopped_early_ = false;  // before its thread had begun
  std::uint64_t generation_ = 0;
  KernelBlock block_;
  platform::KernelCall call_;
  CommandFault fault_;
  unsigned depth_ = 0;
  std::uint32_t issued_ = 0;  // instructions of the innermost call
  SimTime local_ = 0, began_ = 0;
  SimTime goes_on_ = UINT64_MAX;
  WaitsFor waits_;
  unsigned under_way_ = 0;  // requests
  unsigned answers_ = 0;    // still to come, of the scalar unit's reads
  std::array<WriteBack, kWriteBacks> write_backs_;
  unsigned writing_back_ = 0;
  std::vector<CachedImage> images_;  // last used first

  PollRecord polls_;
  std::vector<Look> replayed_;  // the round that is gone through again
  std::size_t replay_next_ = 0;
  SimTime found_at_ = UINT64_MAX;  // end of the last look that was sampled; UINT64_MAX: acted upon
  DataCache::Bytes64 sample_{};    // of a line that it looks at again, and how that went
  Completion sample_completion_ = Completion::kSuccess;
  SimTime changed_at_ = 0;  // something that a sleeping program had looked at
  bool sleeping_ = false, changed_ = false;
};

}  // namespace npu::model
