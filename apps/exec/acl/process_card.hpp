// SPDX-License-Identifier: Apache-2.0
// What a program has on one card: an address space with what was allocated in it, host memory the
// card reaches, a queue for copies that are waited for, kernels.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/exec/acl/card.hpp"
#include "apps/exec/acl/client_sharing.hpp"
#include "apps/exec/acl/freed_later.hpp"
#include "apps/exec/acl/host_windows.hpp"
#include "apps/exec/acl/kernel_variables.hpp"
#include "apps/exec/acl/leftovers.hpp"
#include "apps/exec/acl/peer_windows.hpp"
#include "apps/exec/acl/streams.hpp"
#include "apps/exec/host/shared_memory.hpp"
#include "npu/driver/heap.hpp"
#include "npu/driver/process.hpp"

namespace npu::exec::acl {

// Host memory of the program's that cards read and write by themselves (aclrtMallocHost()): the
// very pages that the program has. A card gets a mapping when it is first used with it.
struct PinnedMemory {
  explicit PinnedMemory(SharedMemory memory)
      : shared(std::make_shared<SharedMemory>(std::move(memory))) {}

  std::shared_ptr<SharedMemory> shared;  // a mapping keeps it, too
  bool touched = false;                  // its pages are there
  std::optional<std::uint64_t> place;    // for who looks for races (races::MemoryRanges)
  std::map<std::uint32_t, std::shared_ptr<platform::DmaMemory>> mapped;  // by device
  // Copies and fills in streams that the program may not know to be over, for who looks for races.
  struct InFlight {
    Bytes offset = 0, size = 0;
    std::uint64_t stream = 0;  // as the program calls it
    races::Detector::Ticket last;
  };
  std::vector<InFlight> in_flight;
};

// Limits of the time that a kernel takes are multiples of the first, at most 254: 1,091 s, as the
// vendor documents the longest one (docs/sources/acl.md L11).
inline constexpr Picoseconds kKernelTimeoutUnit{std::int64_t{4'294'967} * 1'000'000};
inline constexpr std::int64_t kMostKernelTimeouts = 254;
inline constexpr Picoseconds kLongestKernel = kKernelTimeoutUnit * kMostKernelTimeouts;

class ProcessCard {
 public:
  static Value<std::unique_ptr<ProcessCard>> open(platform::Platform& platform, Card& card,
                                                  std::uint32_t index,
                                                  const driver::ProcessOptions& options,
                                                  const ClientSharing& sharing);
  ~ProcessCard();
  ProcessCard(const ProcessCard&) = delete;
  ProcessCard& operator=(const ProcessCard&) = delete;

  // Everything is given back; streams have been closed.
  void close();

  platform::Platform& platform() { return platform_; }
  Card& card() { return card_; }
  std::uint32_t index() const { return index_; }
  driver::ProcessContext& process() { return *process_; }
  driver::AddressSpace& space() { return process_->space(); }
  CoreLimits& limits() { return limits_; }
  driver::TimeSliceClient* turn() { return turn_.get(); }  // null: it runs when it wants
  // From now on in turns; with Card::sharing.
  Status join(driver::TimeSliceScheduler& time_slices);
  Instant deadline() { return platform_.clock().now() + kTimeout; }

  // `padding`: bytes behind `size`, as DeviceHeap takes them.
  Value<driver::DeviceAddress> allocate(Bytes size, driver::PagePolicy policy, Bytes padding);
  // Whole pages that may be given to MemoryShares.
  Value<driver::DeviceAddress> allocate_shareable(Bytes size);
  // Of the allocation that begins there; 0: none does.
  Bytes size_of(driver::DeviceAddress address) const;
  // kRuntimeParameter: not what allocate...() returned. The address is nobody else's before
  // `in_flight`, which may use it, has ended; then `before` is called for pages that go.
  using Before = driver::DeviceHeap::Before;
  Outcome free(driver::DeviceAddress address, std::vector<driver::StreamMark> in_flight,
               const Before& before);
  const driver::DeviceHeap& heap() const { return *heap_; }
  // Gives back what was freed and is not in use any more.
  void reclaim_freed() { freed_later_.reclaim(); }
  // Adds the memory that the program has not freed.
  void count(Leftovers& left) const;
  // Whether the whole range is memory of the program on this card.
  bool has(driver::DeviceAddress address, Bytes size) const;

  // Without a handle yet. kNoStream: all queues in use.
  Value<std::shared_ptr<ProgramStream>> make_stream(unsigned priority);
  driver::ArgumentPool& arguments() { return *arguments_; }
  Result<std::shared_ptr<const TimePlace>> take_time() { return times_->take(); }
  PeerWindows& peers() { return *peers_; }
  // The card's mapping of the memory.
  Value<std::shared_ptr<platform::DmaMemory>> map(PinnedMemory& memory);
  // Where its kernels reach the memory, and that they do not any more.
  Value<driver::DeviceAddress> open_window(PinnedMemory& memory);
  void close_window(PinnedMemory& memory);

  // An entry by itself, waited for. `site`: of the call, for who looks for races.
  Outcome run(const abi::QueueEntry& entry, const races::CallSite& site = {});
  // From now on.
  void watch_races(races::Detector* races) {
    watched_.races = races;
    watched_.device = index_;
  }
  const WatchedWork& watched() const { return watched_; }
  // Host memory for the pieces of copies by `thread`: Caller::number().
  Value<platform::DmaMemory*> staging(unsigned thread);
  void forget_staging(unsigned thread) {
    const auto gone = staging_.extract(thread);  // dies behind that: others come meanwhile
  }

  // A kernel in the card's memory; the thread puts it there when it is first asked for.
  using Module = std::shared_ptr<const driver::KernelModule>;
  // `declared`: bytes that it takes there, if they are more than it has; 0: those that it has.
  // `variables` stay as long as the module.
  using Variables = std::shared_ptr<const KernelVariables>;
  Value<Module> module(const std::string& key, ConstByteSpan object, unsigned thread,
                       Bytes declared = 0, Variables variables = nullptr);
  // Made with these values when they are first asked for.
  Value<Variables> variables(const std::string& key, ConstByteSpan values, unsigned thread);
  // Its memory is free when the last launch of it has ended.
  void drop_module(const std::string& key) {
    module_bytes_.erase(key);
    const auto gone = modules_.extract(key);
  }
  // The same, of all kernels that have them.
  void drop_variables(const std::string& key) {
    module_bytes_.erase(key);
    const auto gone = variables_.extract(key);
  }
  // At once.
  ModuleUse modules() const;

  // Of each block of a kernel that is launched from now on.
  void set_kernel_timeout(Picoseconds timeout) { kernel_timeout_ = timeout; }
  Picoseconds kernel_timeout() const { return kernel_timeout_; }

 private:
  ProcessCard(platform::Platform& platform, Card& card, std::uint32_t index)
      : platform_(platform), card_(card), index_(index), limits_(card.cores) {}
  Status prepare(driver::ProcessOptions options, const ClientSharing& sharing);
  void leave_card();
  // A block of the heap, or a mapping of memory that the space holds.
  struct Allocation {
    driver::DeviceAddress address;
    Bytes size = 0;
    std::optional<driver::MemoryHandle> memory;
  };
  // Once more when memory has come back that was freed; Value<Allocation> make().
  template <class Make>
  Value<driver::DeviceAddress> allocate_by(const Make& make);
  Value<std::shared_ptr<driver::Queue>> copies();
  Status upload(driver::DeviceAddress to, ConstByteSpan bytes, unsigned thread);
  Value<Allocation> make_shareable(Bytes size);
  std::shared_ptr<const void> watch_pinned(PinnedMemory& memory, std::uint64_t bus);
  void give_back(const Allocation& allocation, const Before& before);

  static constexpr Picoseconds kTimeout = 60'000'000_us;

  platform::Platform& platform_;
  Card& card_;
  const std::uint32_t index_;
  CoreLimits limits_;
  std::unique_ptr<driver::ProcessContext> process_;
  std::unique_ptr<driver::TimeSliceClient> turn_;
  std::string share_name_;
  driver::CoreQuota share_;
  std::unique_ptr<driver::ArgumentPool> arguments_;
  std::shared_ptr<TimePages> times_;
  std::unique_ptr<PeerWindows> peers_;
  std::unique_ptr<HostWindows> host_windows_;
  std::unique_ptr<driver::DeviceHeap> heap_;
  // Threads of the program share what follows; each part is made once, with its lock held.
  std::unique_ptr<platform::Mutex> copies_lock_, modules_lock_, pinned_lock_;
  std::shared_ptr<driver::Queue> copies_;
  WatchedWork watched_;  // that queue
  FreedLater freed_later_;
  std::map<unsigned, std::unique_ptr<platform::DmaMemory>> staging_;
  std::map<std::uint64_t, Allocation> memory_;  // by address
  std::map<std::string, Module> modules_;
  std::map<std::string, Variables> variables_;
  Picoseconds kernel_timeout_ = kLongestKernel;
  std::map<std::string, Bytes> module_bytes_;  // of the card's memory
};

}  // namespace npu::exec::acl
