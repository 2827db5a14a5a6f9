// SPDX-License-Identifier: Apache-2.0
// What a program has on one card: an address space with what was allocated in it, host memory the
// card reaches, a queue for copies that are waited for, images of kernels.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "exec/acl/argument_slots.hpp"
#include "exec/acl/card.hpp"
#include "exec/acl/client_sharing.hpp"
#include "exec/acl/fault_book.hpp"
#include "exec/acl/stream.hpp"
#include "exec/host/shared_memory.hpp"
#include "npu/driver/managed.hpp"
#include "npu/driver/process.hpp"

namespace npu::exec::acl {

// aclrtMallocHost(): the program's memory, and the card's image of it.
struct PinnedMemory {
  SharedMemory shared;
  std::unique_ptr<platform::DmaMemory> image;
  std::uint32_t device = 0;
};

class ProcessCard {
 public:
  static Value<std::unique_ptr<ProcessCard>> open(platform::Platform& platform, Card& card,
                                                  std::uint32_t index, std::uint64_t process,
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
  ArgumentSlots& arguments() { return *arguments_; }
  FaultBook& faults() { return *faults_; }
  CoreLimits& limits() { return limits_; }
  driver::TurnClient* turn() { return turn_.get(); }  // null: it runs when it wants
  Instant deadline() { return platform_.clock().now() + kPatience; }

  // `shareable`: it may be given to MemoryShares.
  Value<driver::DeviceAddress> allocate(Bytes size, bool shareable);
  // kRuntimeParameter: not what allocate() or allocate_managed() returned.
  Outcome free(driver::DeviceAddress address);
  // Whether the whole range is memory of the program on this card.
  bool has(driver::DeviceAddress address, Bytes size) const;

  // An entry by itself, waited for.
  Outcome run(const abi::QueueEntry& entry);
  // Host memory for the pieces of the calling thread's copies.
  Value<platform::DmaMemory*> staging(const void* thread);
  void forget_staging(const void* thread) { staging_.erase(thread); }

  // The managed memory, which begins with the first use.
  Value<driver::ManagedMemory*> managed(ConstByteSpan pager);
  bool is_managed(driver::DeviceAddress address) const {
    return managed_ != nullptr && managed_->contains(address);
  }
  // `heap`: of the kind of the HAL's SVM heap.
  Value<driver::DeviceAddress> allocate_managed(Bytes size, bool heap, ConstByteSpan pager);
  bool is_heap(driver::DeviceAddress address) const;
  driver::ManagedMemory* known_managed() { return managed_.get(); }

  // The image of a kernel in the card's memory; the thread puts it there when it is first asked
  // for.
  Value<driver::DeviceAddress> image(const std::string& key, ConstByteSpan object,
                                     const void* thread);

 private:
  ProcessCard(platform::Platform& platform, Card& card, std::uint32_t index)
      : platform_(platform), card_(card), index_(index), limits_(card.cores) {}
  Status prepare(std::uint64_t process, const ClientSharing& sharing);
  // What the space knows as plain memory, or as a mapping of memory that it holds.
  struct Allocation {
    driver::DeviceAddress address;
    Bytes size = 0;
    std::optional<driver::MemoryHandle> memory;
  };
  Value<std::shared_ptr<driver::Queue>> copies();

  static constexpr Picoseconds kPatience = 60'000'000_us;

  platform::Platform& platform_;
  Card& card_;
  const std::uint32_t index_;
  CoreLimits limits_;
  std::unique_ptr<driver::ProcessContext> process_;
  std::unique_ptr<driver::TurnClient> turn_;
  std::unique_ptr<FaultBook> faults_;
  // Threads of the program share what follows; each part is made once, with its lock held.
  std::unique_ptr<platform::Mutex> copies_lock_, managed_lock_, images_lock_;
  std::shared_ptr<driver::Queue> copies_;
  std::unique_ptr<ArgumentSlots> arguments_;
  std::unique_ptr<driver::ManagedMemory> managed_;
  std::map<const void*, std::unique_ptr<platform::DmaMemory>> staging_;
  Value<Allocation> allocate_shareable(Bytes size);
  std::map<std::uint64_t, Allocation> memory_;  // by address
  struct ManagedRange {
    Bytes size = 0;
    bool heap = false;
  };
  const ManagedRange* managed_range(driver::DeviceAddress address, Bytes size) const;
  std::map<std::uint64_t, ManagedRange> managed_ranges_;
  std::map<std::string, driver::DeviceAddress> images_;
};

}  // namespace npu::exec::acl
