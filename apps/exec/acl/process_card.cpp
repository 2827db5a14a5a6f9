// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/process_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "apps/exec/acl/guard.hpp"
#include "npu/abi/queue_descriptor.hpp"
#include "npu/driver/program.hpp"

namespace npu::exec::acl {
namespace {

constexpr Bytes kStaging = 4_MiB;

}  // namespace

Value<std::unique_ptr<ProcessCard>> ProcessCard::open(platform::Platform& platform, Card& card,
                                                      std::uint32_t index,
                                                      const driver::ProcessOptions& options,
                                                      const ClientSharing& sharing) {
  std::unique_ptr<ProcessCard> opened(new ProcessCard(platform, card, index));
  if (auto ready = opened->prepare(options, sharing); !ready) return fault(ready.error());
  return opened;
}

Status ProcessCard::prepare(driver::ProcessOptions options, const ClientSharing& sharing) {
  auto& tasks = platform_.tasks();
  for (auto* const lock : {&copies_lock_, &modules_lock_, &pinned_lock_}) {
    *lock = tasks.make_mutex();
  }
  options.signals = abi::kSignalSlots;
  auto context = driver::ProcessContext::open(*card_.device, options);
  if (!context) return forward_error(context);
  process_ = std::move(*context);
  arguments_ = std::make_unique<driver::ArgumentPool>(*process_);
  if (auto ready = arguments_->prepare(); !ready) return ready;
  times_ = std::make_shared<TimePages>(*process_);
  peers_ = std::make_unique<PeerWindows>(process_->space(), tasks);
  host_windows_ = std::make_unique<HostWindows>(process_->space(), tasks);
  heap_ = std::make_unique<driver::DeviceHeap>(process_->space());
  share_name_ = sharing.name;
  share_ = sharing.share;
  const Guard held(*card_.sharing);
  card_.users.push_back(this);
  if (sharing.time_slices) {
    if (auto time_slices = card_.time_slices_of(*sharing.time_slices); !time_slices)
      return forward_error(time_slices);
  }
  return card_.time_slices == nullptr ? Status() : join(*card_.time_slices);
}

Status ProcessCard::join(driver::TimeSliceScheduler& time_slices) {
  if (turn_ != nullptr) return {};
  auto turn = time_slices.join(*process_, share_name_, share_);
  if (!turn) return forward_error(turn);
  turn_ = std::move(*turn);
  return {};
}

// Nobody joins it to anything any more.
void ProcessCard::leave_card() {
  const Guard held(*card_.sharing);
  auto& users = card_.users;
  users.erase(std::remove(users.begin(), users.end(), this), users.end());
}

ProcessCard::~ProcessCard() {
  close();
}

void ProcessCard::close() {
  if (process_ == nullptr) return;
  leave_card();
  if (copies_ != nullptr) {
    static_cast<void>(process_->destroy(*copies_, platform_.clock().now()));
    copies_.reset();
  }
  staging_.clear();
  freed_later_.clear();
  modules_.clear();
  variables_.clear();
  arguments_.reset();
  peers_.reset();
  host_windows_.reset();
  heap_.reset();
  times_.reset();
  turn_.reset();
  static_cast<void>(process_->close());
  process_.reset();
}

template <class Make>
Value<driver::DeviceAddress> ProcessCard::allocate_by(const Make& make) {
  reclaim_freed();
  for (;;) {
    const Value<Allocation> made = make();
    if (made) {
      memory_[made->address.value] = *made;
      return made->address;
    }
    const bool full = made.error().code == code_of(ErrorCode::kOutOfMemory);
    if (!full || !freed_later_.wait_for_one(deadline())) return forward_fault(made);
  }
}

Value<driver::DeviceAddress> ProcessCard::allocate(Bytes size, driver::PagePolicy policy,
                                                   Bytes padding) {
  return allocate_by([&]() -> Value<Allocation> {
    const auto block = heap_->allocate(size, policy, padding);
    if (!block) return fault(block.error());
    return Allocation{block->address, block->size, std::nullopt};
  });
}

Value<driver::DeviceAddress> ProcessCard::allocate_shareable(Bytes size) {
  return allocate_by([&] { return make_shareable(size); });
}

Value<ProcessCard::Allocation> ProcessCard::make_shareable(Bytes size) {
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

Outcome ProcessCard::free(driver::DeviceAddress address, std::vector<driver::StreamMark> in_flight,
                          const Before& before) {
  reclaim_freed();
  const auto found = memory_.find(address.value);
  if (found == memory_.end()) {
    return fault(kRuntimeParameter,
                 fmt::format("{:#x} is inside of an allocation, not its beginning", address.value));
  }
  const auto allocation = found->second;
  memory_.erase(found);
  freed_later_.add(address, allocation.size, std::move(in_flight),
                   [this, allocation, before] { give_back(allocation, before); });
  return {};
}

Bytes ProcessCard::size_of(driver::DeviceAddress address) const {
  const auto found = memory_.find(address.value);
  return found == memory_.end() ? 0 : found->second.size;
}

void ProcessCard::count(Leftovers& left) const {
  left.blocks += memory_.size();
  for (const auto& [address, allocation] : memory_) left.memory += allocation.size;
}

// What the card does not let go stays until the space ends.
void ProcessCard::give_back(const Allocation& allocation, const Before& before) {
  const auto address = allocation.address;
  if (watched_.races != nullptr) {
    watched_.races->memory().remove(index_, process_->vmid(), address.value);
  }
  if (!allocation.memory) return static_cast<void>(heap_->free(address, before));
  before(address, allocation.size);
  auto ended = space().unmap(address, allocation.size);
  if (ended) ended = space().release(address);
  if (ended) static_cast<void>(space().release_memory(*allocation.memory));
}

bool ProcessCard::has(driver::DeviceAddress address, Bytes size) const {
  if (size > UINT64_MAX - address.value || freed_later_.covers(address)) return false;
  if (heap_->contains(address)) {
    const auto block = heap_->find(address);
    return block && size <= block->address.value + block->size - address.value;
  }
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
Outcome ProcessCard::run(const abi::QueueEntry& entry, const races::CallSite& site) {
  const auto queue = copies();
  if (!queue) return forward_fault(queue);
  auto watched = watched_;
  watched.site = site;
  std::optional<Submitting> submitting(std::in_place, watched);
  const auto ticket = driver::submit_in_time_slice(*process_, **queue, &entry, 1, deadline());
  if (ticket) submitting->made(*ticket);
  submitting.reset();
  const Status done = ticket ? (*queue)->wait(*ticket, driver::WaitPolicy::kPolling, deadline())
                             : Status(forward_error(ticket));
  watched.known(watched.last);
  if (done) return {};
  if (copies_ == *queue) copies_.reset();
  static_cast<void>(process_->take_faults((*queue)->id()));
  static_cast<void>(process_->destroy(**queue, platform_.clock().now()));
  return fault(kDriver, done.error().message());
}

Value<platform::DmaMemory*> ProcessCard::staging(unsigned thread) {
  auto& memory = staging_[thread];
  if (memory == nullptr) {
    auto made = process_->allocate_host(kStaging);
    if (!made) return fault(made.error());
    memory = std::move(*made);
  }
  return memory.get();
}

Status ProcessCard::upload(driver::DeviceAddress to, ConstByteSpan bytes, unsigned thread) {
  const auto staged = staging(thread);
  if (!staged) return fail(ErrorCode::kOutOfMemory, staged.error().text);
  for (Bytes done = 0; done < bytes.size;) {
    const Bytes piece = std::min<Bytes>((*staged)->size(), bytes.size - done);
    std::memcpy((*staged)->cpu().data, bytes.data + done, piece);
    const auto copied = run(driver::entries::copy_to_device((*staged)->bus(), to + done, piece));
    if (!copied) return fail(ErrorCode::kIo, copied.error().text);
    done += piece;
  }
  return {};
}

Value<ProcessCard::Module> ProcessCard::module(const std::string& key, ConstByteSpan object,
                                               unsigned thread, Bytes declared,
                                               Variables variables) {
  const Guard held(*modules_lock_);
  const auto known = modules_.find(key);
  if (known != modules_.end()) return known->second;
  platform_.note_program(object);
  const auto there = [&](driver::DeviceAddress to, ConstByteSpan bytes) {
    return upload(to, bytes, thread);
  };
  auto loaded = driver::KernelModule::load(space(), object, there, declared);
  if (!loaded) return fault(loaded.error());
  const auto both = std::make_shared<std::pair<Variables, Module>>(std::move(variables), *loaded);
  const Module module(both, loaded->get());
  modules_[key] = module;
  if (const auto range = space().range_of(module->image())) module_bytes_[key] = range->size;
  return module;
}

Value<ProcessCard::Variables> ProcessCard::variables(const std::string& key, ConstByteSpan values,
                                                     unsigned thread) {
  const Guard held(*modules_lock_);
  const auto known = variables_.find(key);
  if (known != variables_.end()) return known->second;
  const auto memory = space().allocate(values.size);
  if (!memory) return fault(memory.error());
  const auto made = std::make_shared<const KernelVariables>(space(), memory->address);
  if (const auto done = upload(memory->address, values, thread); !done) return fault(done.error());
  variables_[key] = made;
  module_bytes_[key] = memory->size;
  return Variables(made);
}

ModuleUse ProcessCard::modules() const {
  ModuleUse use;
  use.count = module_bytes_.size();
  for (const auto& [key, bytes] : module_bytes_) use.bytes += bytes;
  return use;
}

Value<std::shared_ptr<ProgramStream>> ProcessCard::make_stream(unsigned priority) {
  driver::ExecutionStreamOptions options;
  options.priority = priority;
  for (const auto kind : {Cores::kVector, Cores::kCube}) {
    const auto number = static_cast<std::size_t>(kind);
    options.cores[number] = card_.mask(kind, card_.cores[number]);
  }
  auto opened = driver::ExecutionStream::open(*process_, *arguments_, options);
  if (!opened && opened.error().code == ErrorCode::kOutOfResources) {
    return fault(kNoStream, opened.error().message());
  }
  if (!opened) return fault(opened.error());
  auto stream = std::make_shared<ProgramStream>();
  stream->device = index_;
  stream->stream = std::move(*opened);
  stream->callbacks = platform_.tasks().make_mutex();
  return stream;
}

// Who looks for races knows the memory until what this returns goes.
std::shared_ptr<const void> ProcessCard::watch_pinned(PinnedMemory& memory, std::uint64_t bus) {
  auto* const races = watched_.races;
  if (races == nullptr) return nullptr;
  const auto size = memory.shared->bytes().size;
  if (!memory.place) memory.place = races->memory().add_host(size);
  races->memory().map_host(index_, bus, size, *memory.place);
  return {memory.shared.get(),
          [races, device = index_, bus](const void*) { races->memory().unmap_host(device, bus); }};
}

Value<std::shared_ptr<platform::DmaMemory>> ProcessCard::map(PinnedMemory& memory) {
  const Guard held(*pinned_lock_);
  const auto known = memory.mapped.find(index_);
  if (known != memory.mapped.end()) return known->second;
  const auto pages = memory.touched ? platform::HostPages::kResident : platform::HostPages::kFresh;
  memory.touched = true;
  auto mapped = process_->import_host(memory.shared->bytes(), pages);
  if (!mapped) return fault(mapped.error());
  // The pages are there as long as the card can reach them.
  struct Held {
    std::shared_ptr<SharedMemory> pages;
    std::unique_ptr<platform::DmaMemory> mapping;
    std::shared_ptr<const void> watched;
  };
  const auto held_pages = std::make_shared<Held>(Held{memory.shared, std::move(*mapped), nullptr});
  held_pages->watched = watch_pinned(memory, held_pages->mapping->bus().value);
  return memory.mapped[index_] = {held_pages, held_pages->mapping.get()};
}

Value<driver::DeviceAddress> ProcessCard::open_window(PinnedMemory& memory) {
  const auto mapping = map(memory);
  if (!mapping) return forward_fault(mapping);
  return host_windows_->find(*mapping);
}

void ProcessCard::close_window(PinnedMemory& memory) {
  const auto mapping = memory.mapped.find(index_);
  if (mapping != memory.mapped.end()) host_windows_->drop(mapping->second);
}

}  // namespace npu::exec::acl
