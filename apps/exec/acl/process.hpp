// SPDX-License-Identifier: Apache-2.0
// A program as the C API keeps it: its life, what it has on cards, and what it knows by handles.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/exec/acl/call_gate.hpp"
#include "apps/exec/acl/callbacks.hpp"
#include "apps/exec/acl/card_management.hpp"
#include "apps/exec/acl/card_use.hpp"
#include "apps/exec/acl/communicators.hpp"
#include "apps/exec/acl/controlled_runs.hpp"
#include "apps/exec/acl/handle_table.hpp"
#include "apps/exec/acl/idle_watch.hpp"
#include "apps/exec/acl/kernel_profile.hpp"
#include "apps/exec/acl/leftovers.hpp"
#include "apps/exec/acl/managed_space.hpp"
#include "apps/exec/acl/memory_book.hpp"
#include "apps/exec/acl/process_card.hpp"
#include "apps/exec/acl/program_operators.hpp"
#include "apps/exec/acl/sleeper.hpp"
#include "apps/exec/acl/task_groups.hpp"
#include "apps/exec/kernels/built_in.hpp"
#include "npu/abi/kernel_file.hpp"
#include "npu/driver/sharing.hpp"

namespace npu::exec::acl {

inline constexpr std::uint64_t kLongestName = 64;  // of shared memory
inline constexpr Bytes kMostAdmitted = 65535;

// Memory that a program shares under a name.
struct NamedShare {
  driver::ShareKey key;
  std::uint64_t owner = 0;  // Process::number()
  std::uint32_t device = 0;
  driver::MemoryHandle memory;  // as the owner knows it
  SharedMemoryHandle held;      // the same, if only allocations of the owner had it
  Bytes offset = 0, size = 0;   // of the pages in it that are mapped
  Bytes place = 0, bytes = 0;   // of what is shared in these pages
  std::set<pid_t> admitted;
  bool everyone = false;
  bool notify = false;  // it is no memory for programs
};

// Physical memory that may be imported by a number, which is that of a share.
struct Exported {
  std::uint64_t owner = 0;  // Process::number()
  std::uint32_t device = 0;
  Bytes size = 0;
  std::weak_ptr<const driver::MemoryHandle> memory;
  std::optional<std::set<pid_t>> admitted;  // none: everyone
};

// What all programs have in common.
struct Machine {
  platform::Platform& platform;
  Cards& cards;
  driver::MemoryShares& shares;
  const BuiltInImages& images;
  ProgramOperators& operators;
  std::map<std::uint64_t, Exported> exported;  // by share key
  std::map<std::string, NamedShare> names;
  std::uint64_t names_given = 0;
  std::map<std::uint64_t, pid_t> process_ids;  // by Process::number()
  std::vector<ClientSharing> sharing;          // by the program's number; the last: of all others
  std::map<std::uint64_t, std::weak_ptr<SharedEvent>> shared_events = {};  // by key
  std::uint64_t event_keys = 0;
  races::Detector* races = nullptr;                   // null: nobody looks for races
  std::shared_ptr<Communicators> communicators = {};  // null: nobody has asked for any
  IdleWatch idle = {};

  // Where ranks of communicators meet.
  Communicators& meeting() {
    if (communicators == nullptr) communicators = std::make_shared<Communicators>(platform.tasks());
    return *communicators;
  }
};

struct Context {
  std::uint32_t device = 0;
  bool primary = false;
  std::uint64_t default_stream = 0;  // 0: not used yet
  bool has_opened = false;           // the device, which is open for it until it ends
};

// A kernel of a file of `npusim cc`, and its object in it.
struct FiledKernel {
  std::string name;
  Cores cores;
  Bytes offset, size;
  Bytes layout = 0;     // in the object: abi::KernelLayout
  bool prints = false;  // its launches have a buffer for what it prints
  std::optional<std::vector<abi::KernelFileParameter>> parameters;  // nullopt: they are not known
};

// The kernels' variables in global memory, and what they contain at first.
struct FiledVariables {
  std::vector<abi::KernelFileVariable> table;
  Bytes offset = 0, size = 0;  // of their first values in the file
};

struct Binary {
  std::uint64_t handle = 0;
  std::vector<std::byte> object;
  std::vector<FiledKernel> kernels;  // none: `object` is one
  FiledVariables variables;
  bool built_in = false;
  bool unloaded = false;
  std::string name;     // the kernel's own; empty: it has none
  std::uint64_t cores;  // Cores that it says it is for; else UINT64_MAX
};

struct Function {
  std::shared_ptr<Binary> binary;
  const BuiltInKernel* built_in = nullptr;
  const FiledKernel* filed = nullptr;  // of `binary`
  std::string key;                     // of its image
};

struct Physical {
  SharedMemoryHandle memory;
  std::uint32_t device = 0;
  Bytes size = 0;
};

// What a program has opened, of others or its own.
struct OpenedShare {
  std::uint32_t device = 0;
  driver::DeviceAddress pages;  // that are mapped for it
  Bytes size = 0;               // of them
  Bytes bytes = 0;              // that are the program's to use
  SharedMemoryHandle memory;
  std::string name;
  Bytes place = 0;  // of the bytes in the pages

  bool has(driver::DeviceAddress at, Bytes count) const {
    const auto from = at.value - pages.value;
    return from >= place && from - place <= bytes && count <= bytes - (from - place);
  }
};

// Bytes of an allocation, for aclrtSnapShotProcessRestore().
struct KeptMemory {
  std::uint32_t device = 0;
  std::vector<std::byte> bytes;
};

class Process {
 public:
  // `id`: what the operating system knows it by; `root`: the number of the program that it is or
  // descends from, whose memory quota it shares and whose share of the time it has, too; 0:
  // unknown.
  Process(Machine& machine, std::uint64_t number, std::uint64_t root, pid_t id);

  Machine& machine() { return machine_; }
  std::uint64_t number() const { return number_; }
  pid_t id() const { return id_; }
  platform::Mutex& lock() { return *lock_; }
  CallGate& calls() { return calls_; }

  // Opens the card for the program and counts.
  Outcome set_device(std::int64_t device);
  Outcome reset_device(std::int64_t device, bool force);
  // Of kernels that are launched from now on, on every device.
  void set_kernel_timeout(Picoseconds timeout) {
    kernel_timeout_ = timeout;
    for (auto& [index, opened] : cards_) {
      if (opened.card != nullptr) opened.card->set_kernel_timeout(timeout);
    }
  }
  Picoseconds kernel_timeout() const { return kernel_timeout_; }
  // How busy the card is, in the program's own intervals. kInvalidDevice.
  Value<CardUse*> card_use(std::int64_t device);
  // The card for management, open or not. kInvalidDevice.
  Value<CardManagement*> card_management(std::int64_t device);
  // Null: not set.
  ProcessCard* card(std::int64_t device);
  // The primary context's handle; 0: the device is not set.
  std::uint64_t primary_context(std::uint32_t device) const;
  // By a call: everything is given back.
  void finish();
  // Nobody waits for its calls any more: those that may last end.
  void end_calls();
  // By nobody's call: the same as finish(). `force`: work that has not ended is given up.
  void close(bool force);

  // The program does nothing until it goes on (SIGSTOP).
  void stop(bool stopped);
  ClientUse use() const;
  // What it had still when each of its devices was reset, and pinned memory when it ended.
  const Leftovers& leftovers() const { return left_; }
  const ClientSharing& sharing() const { return sharing_; }
  // What counts of its memory, whoever asked for it: the quota that it has, else one of its own
  // without a limit.
  driver::MemoryQuota& memory() { return *memory_; }
  // No more than that from now on, nor than it was given at first.
  void limit_memory(Bytes limit);
  std::vector<ProcessCard*> cards() const;
  // Gives back what was freed on any card and is not in use any more, before somebody is told how
  // much memory there is.
  void reclaim_freed();

  ManagedSpace& managed() { return managed_; }

  // A thread has ended: what was kept for its copies.
  void forget(unsigned thread);

  // With the stream's handle.
  Value<std::pair<std::uint64_t, std::shared_ptr<ProgramStream>>> make_stream(std::uint64_t context,
                                                                              unsigned priority);
  void close_stream(std::uint64_t handle, bool force);
  // Other cards do not reach these addresses of the device any more.
  void drop_windows(std::uint32_t device, driver::DeviceAddress at, Bytes size);
  // Memory of another program, opened by its share for this card; a second time it is the same.
  // Errors are those of MemoryShares::open().
  Value<SharedMemoryHandle> opened_share(ProcessCard& card, driver::ShareKey key);
  // The share in whose pages the address is; null: none.
  const OpenedShare* opened_share_at(driver::DeviceAddress address) const;
  // What streams of the device have in flight.
  std::vector<driver::StreamMark> in_flight(std::uint32_t device) const;

  // Life (docs/sources/acl.md L4).
  unsigned inits = 0;
  bool finalised = false;
  std::uint64_t next_handle = HandleTable<int>::kFirst;
  HandleTable<Context> contexts{next_handle};
  HandleTable<ProgramStream> streams{next_handle};
  HandleTable<ProgramEvent> events{next_handle};
  HandleTable<ProgramNotify> notifies{next_handle};
  HandleTable<ProgramCommunicator> communicators{next_handle};
  HandleTable<Binary> binaries{next_handle};
  HandleTable<Function> functions{next_handle};
  HandleTable<Physical> physicals{next_handle};
  HandleTable<Model> models{next_handle};
  HandleTable<ModelTask> model_tasks{next_handle};
  HandleTable<ModelStream> model_streams{next_handle};
  HandleTable<TaskGroup> task_groups{next_handle};
  HandleTable<Label> labels{next_handle};
  HandleTable<LabelList> label_lists{next_handle};
  HandleTable<Condition> conditions{next_handle};
  std::vector<std::shared_ptr<ControlledRun>> controlled_runs;  // in the order of their calls
  HandleTable<PinnedMemory> pinned{next_handle};
  std::map<std::uint64_t, OpenedShare> opened_shares;  // by address
  MemoryBook book;
  std::set<std::uint32_t> agents;  // devices that the HAL keeps open
  Callbacks callbacks;
  std::uint64_t streams_made = 0, events_made = 0, value_waits_begun = 0;
  std::vector<ValueWaiting> value_waits;
  std::map<std::uint32_t, int> told;  // by device: the code of the last fault of its streams
  KernelProfile profile;
  std::optional<std::map<std::uint64_t, KeptMemory>> kept_memory;  // by address; none: no backup
  unsigned next_caller = 0;
  std::map<unsigned, std::shared_ptr<Sleeper>> sleepers;  // by Caller::number()

 private:
  struct Opened {
    std::unique_ptr<ProcessCard> card;
    unsigned uses = 0;
    std::uint64_t primary = 0;
    bool counted = false;  // what is left on it
  };
  void count_left(std::uint32_t device);
  void count_all_left();
  void count_pinned();
  void give_back(std::uint32_t device, bool force);

  Machine& machine_;
  const std::uint64_t number_;
  const pid_t id_;
  std::unique_ptr<platform::Mutex> lock_;  // of devices and default streams coming and going
  CallGate calls_;
  std::map<std::uint32_t, Opened> cards_;
  std::map<std::int64_t, std::unique_ptr<CardUse>> card_uses_;
  std::map<std::int64_t, std::unique_ptr<CardManagement>> management_;
  Picoseconds kernel_timeout_ = kLongestKernel;
  ClientSharing sharing_;
  std::shared_ptr<driver::MemoryQuota> memory_ = std::make_shared<driver::MemoryQuota>();
  Bytes most_memory_ = driver::MemoryQuota::kUnlimited;
  // An address says which of the program's cards it is on.
  const std::shared_ptr<driver::UnifiedAddresses> addresses_ = driver::UnifiedAddresses::make();
  ManagedSpace managed_;
  // What it has of others, by share key and device: a second handle is of the same memory.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::weak_ptr<const driver::MemoryHandle>>
      imported_;
  std::map<std::uint64_t, std::pair<std::uint32_t, driver::StreamMark>> closing_;  // by handle
  ClientUse used_;  // on cards that were given back
  Leftovers left_;
};

}  // namespace npu::exec::acl
