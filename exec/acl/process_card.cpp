// SPDX-License-Identifier: Apache-2.0
#include "exec/acl/process_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/acl/guard.hpp"
#include "npu/abi/queue_descriptor.hpp"
#include "npu/driver/program.hpp"

namespace npu::exec::acl {
namespace {

constexpr Bytes kStaging = 4_MiB;

}  // namespace

Value<std::unique_ptr<ProcessCard>> ProcessCard::open(platform::Platform& platform, Card& card,
                                                      std::uint32_t index, std::uint64_t process,
                                                      const ClientSharing& sharing) {
  std::unique_ptr<ProcessCard> opened(new ProcessCard(platform, card, index));
  if (auto ready = opened->prepare(process, sharing); !ready) return fault(ready.error());
  return opened;
}

Status ProcessCard::prepare(std::uint64_t process, const ClientSharing& sharing) {
  auto& tasks = platform_.tasks();
  for (auto* const lock : {&copies_lock_, &managed_lock_, &images_lock_})
    *lock = tasks.make_mutex();
  driver::ProcessOptions options;
  options.process = {process};
  options.quota = sharing.quota;
  options.signals = abi::kSignalSlots;
  auto context = driver::ProcessContext::open(*card_.device, options);
  if (!context) return forward_error(context);
  process_ = std::move(*context);
  faults_ = std::make_unique<FaultBook>(*process_);
  auto arguments = ArgumentSlots::open(*process_);
  if (!arguments) return forward_error(arguments);
  arguments_ = std::move(*arguments);
  if (!sharing.turns) return {};
  auto turns = card_.turns_of(*sharing.turns);
  if (!turns) return forward_error(turns);
  auto turn = (*turns)->join(*process_, sharing.name, sharing.share);
  if (!turn) return forward_error(turn);
  turn_ = std::move(*turn);
  return {};
}

ProcessCard::~ProcessCard() {
  close();
}

void ProcessCard::close() {
  if (process_ == nullptr) return;
  if (copies_ != nullptr) {
    static_cast<void>(process_->destroy(*copies_, platform_.clock().now()));
    copies_.reset();
  }
  if (managed_ != nullptr) static_cast<void>(managed_->close());
  managed_.reset();
  staging_.clear();
  arguments_.reset();
  faults_.reset();
  turn_.reset();
  static_cast<void>(process_->close());
  process_.reset();
}

Value<driver::DeviceAddress> ProcessCard::allocate(Bytes size, bool shareable) {
  if (shareable) {
    const auto made = allocate_shareable(size);
    if (!made) return forward_fault(made);
    memory_[made->address.value] = *made;
    return made->address;
  }
  const auto memory = space().allocate(size);
  if (!memory) return fault(memory.error());
  memory_[memory->address.value] = {memory->address, size, std::nullopt};
  return memory->address;
}

Value<ProcessCard::Allocation> ProcessCard::allocate_shareable(Bytes size) {
  if (size == 0 || size > UINT64_MAX - driver::kPageSize) {
    return fault(kInvalidParameter, "bytes of memory");
  }
  const Bytes whole = (size + driver::kPageSize - 1) / driver::kPageSize * driver::kPageSize;
  const auto memory = space().create_memory(whole);
  if (!memory) return fault(memory.error());
  const auto range = space().reserve(whole);
  Status ready = range ? space().map(*range, whole, *memory) : Status(forward_error(range));
  if (ready) ready = space().set_access(*range, whole, driver::Access::kReadWrite);
  if (ready) return Allocation{*range, whole, *memory};
  if (range) static_cast<void>(space().unmap(*range, whole));
  if (range) static_cast<void>(space().release(*range));
  static_cast<void>(space().release_memory(*memory));
  return fault(ready.error());
}

Outcome ProcessCard::free(driver::DeviceAddress address) {
  if (managed_ranges_.erase(address.value) != 0) return outcome_of(managed_->free(address));
  const auto found = memory_.find(address.value);
  if (found == memory_.end()) {
    return fault(kRuntimeParameter, fmt::format("{:#x} was not allocated", address.value));
  }
  const auto allocation = found->second;
  memory_.erase(found);
  if (!allocation.memory) return outcome_of(space().free(address));
  auto ended = space().unmap(address, allocation.size);
  if (ended) ended = space().release(address);
  if (ended) ended = space().release_memory(*allocation.memory);
  return outcome_of(ended);
}

// The allocation that has all of it; null: none.
const ProcessCard::ManagedRange* ProcessCard::managed_range(driver::DeviceAddress address,
                                                            Bytes size) const {
  auto range = managed_ranges_.upper_bound(address.value);
  if (range == managed_ranges_.begin()) return nullptr;
  --range;
  return address.value + size <= range->first + range->second.size ? &range->second : nullptr;
}

bool ProcessCard::is_heap(driver::DeviceAddress address) const {
  const auto* const range = is_managed(address) ? managed_range(address, 1) : nullptr;
  return range != nullptr && range->heap;
}

bool ProcessCard::has(driver::DeviceAddress address, Bytes size) const {
  if (size > UINT64_MAX - address.value) return false;
  if (is_managed(address)) return managed_range(address, size) != nullptr;
  const auto& space = process_->space();
  for (Bytes seen = 0; seen < size;) {
    const auto range = space.range_of(address + seen);
    if (!range || !range->mapped) return false;
    seen = range->begin.value + range->size - address.value;
  }
  return true;
}

Value<std::shared_ptr<driver::Queue>> ProcessCard::copies() {
  if (copies_ != nullptr) return copies_;
  const Guard held(*copies_lock_);
  if (copies_ != nullptr) return copies_;
  driver::QueueOptions options;
  options.interrupt = false;
  auto queue = process_->create_queue(options);
  if (!queue) return fault(queue.error());
  copies_ = std::move(*queue);
  return copies_;
}

// A queue that an entry has stopped is another one for those that come later.
Outcome ProcessCard::run(const abi::QueueEntry& entry) {
  const auto queue = copies();
  if (!queue) return forward_fault(queue);
  const auto ticket = driver::submit_in_turn(*process_, **queue, &entry, 1, deadline());
  const Status done = ticket ? (*queue)->wait(*ticket, driver::WaitPolicy::kPolling, deadline())
                             : Status(forward_error(ticket));
  if (done) return {};
  if (copies_ == *queue) copies_.reset();
  static_cast<void>(faults_->take((*queue)->id()));
  static_cast<void>(process_->destroy(**queue, platform_.clock().now()));
  return fault(kDriver, done.error().message());
}

Value<platform::DmaMemory*> ProcessCard::staging(const void* thread) {
  auto& memory = staging_[thread];
  if (memory == nullptr) {
    auto made = process_->allocate_host(kStaging);
    if (!made) return fault(made.error());
    memory = std::move(*made);
  }
  return memory.get();
}

Value<driver::ManagedMemory*> ProcessCard::managed(ConstByteSpan pager) {
  const Guard held(*managed_lock_);
  if (managed_ != nullptr) return managed_.get();
  driver::ManagedOptions options;
  options.pager = pager;
  auto opened = driver::ManagedMemory::open(*card_.device, space(), options);
  if (!opened) return fault(opened.error());
  managed_ = std::move(*opened);
  return managed_.get();
}

Value<driver::DeviceAddress> ProcessCard::allocate_managed(Bytes size, bool heap,
                                                           ConstByteSpan pager) {
  const auto all = managed(pager);
  if (!all) return forward_fault(all);
  const auto address = (*all)->allocate(size);
  if (!address) return fault(address.error());
  managed_ranges_[address->value] = {
      (size + driver::kPageSize - 1) / driver::kPageSize * driver::kPageSize, heap};
  return *address;
}

Value<driver::DeviceAddress> ProcessCard::image(const std::string& key, ConstByteSpan object,
                                                const void* thread) {
  const Guard held(*images_lock_);
  const auto known = images_.find(key);
  if (known != images_.end()) return known->second;
  const auto image = driver::make_image(abi::ImageKind::kAiCore, object);
  if (!image) return fault(image.error());
  const auto memory = space().allocate(image->size());
  if (!memory) return fault(memory.error());
  const auto staged = staging(thread);
  if (!staged) return forward_fault(staged);
  for (Bytes done = 0; done < image->size();) {
    const Bytes piece = std::min<Bytes>((*staged)->size(), image->size() - done);
    std::memcpy((*staged)->cpu().data, image->data() + done, piece);
    const auto copied =
        run(driver::entries::copy_to_device((*staged)->bus(), memory->address + done, piece));
    if (!copied) return forward_fault(copied);
    done += piece;
  }
  images_[key] = memory->address;
  return memory->address;
}

}  // namespace npu::exec::acl
