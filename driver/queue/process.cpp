// SPDX-License-Identifier: Apache-2.0
// ProcessContext: opening, closing, commands, faults.
#include <fmt/format.h>

#include <algorithm>

#include "driver/device/address_space_impl.hpp"
#include "driver/queue/process_impl.hpp"
#include "driver/queue/signals_impl.hpp"

namespace npu::driver {
namespace {

constexpr Picoseconds kFaultPause = 100_us;
constexpr Picoseconds kSettling = 1_ms;   // behind a caller's deadline
constexpr std::size_t kMaxFaults = 1024;  // kept for take_faults(), and for the handler

void keep(std::deque<QueueFault>& list, const QueueFault& fault) {
  if (list.size() == kMaxFaults) list.pop_front();
  list.push_back(fault);
}

constexpr std::string_view to_string(abi::ManagementStatus status) {
  switch (status) {
    case abi::ManagementStatus::kSuccess:
      return "success";
    case abi::ManagementStatus::kInvalidCommand:
      return "invalid command";
    case abi::ManagementStatus::kInvalidProcess:
      return "invalid process";
    case abi::ManagementStatus::kInvalidPage:
      return "invalid doorbell page";
    case abi::ManagementStatus::kInvalidQueue:
      return "invalid queue";
    case abi::ManagementStatus::kInvalidDescriptor:
      return "invalid descriptor";
    case abi::ManagementStatus::kDoorbellInUse:
      return "doorbell in use";
    case abi::ManagementStatus::kProcessBusy:
      return "the process has queues";
    case abi::ManagementStatus::kNotDrained:
      return "what runs has not ended";
  }
  return "unknown status";
}

// Executed twice they do what they do once.
bool is_repeatable(std::uint8_t opcode) {
  const auto code = static_cast<abi::ManagementOpcode>(opcode);
  return code == abi::ManagementOpcode::kSuspend || code == abi::ManagementOpcode::kResume ||
         code == abi::ManagementOpcode::kQueryQueue;
}

}  // namespace

ProcessContext::Impl::Impl(Device::Impl& card, QueueManager& shared, const ProcessOptions& wanted)
    : device(card),
      manager(shared),
      options(wanted),
      mutex(card.platform.tasks().make_mutex()),
      resume_mutex(card.platform.tasks().make_mutex()),
      resumed(card.platform.tasks().make_condition()),
      doorbells(card.platform.clock(), 0,
                std::min<std::uint32_t>(wanted.max_queues, abi::kQueueDoorbells)) {}

Status ProcessContext::Impl::open() {
  auto member = GroupMembership::enter(manager.groups(), options.group);
  if (!member) return forward_error(member);
  group = std::move(*member);
  auto made = make_address_space(device, options.process, options.quota);
  if (!made) return forward_error(made);
  space = std::move(*made);
  const auto new_pasid = manager.pasids().allocate();
  if (!new_pasid) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} PASIDs in use", manager.pasids().capacity()));
  }
  pasid = PooledId(manager.pasids(), *new_pasid);
  const auto new_page = manager.pages().allocate();
  if (!new_page) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} doorbell pages in use", manager.pages().capacity()));
  }
  page = PooledId(manager.pages(), *new_page);
  vector_number = manager.vector_number(pasid.value());
  const auto opened = manager.open_vector(vector_number);
  if (!opened) return forward_error(opened);
  vector = *opened;
  auto region = manager.map_doorbells(page.value());
  if (!region) return forward_error(region);
  doorbell_page = std::move(*region);
  heap = std::make_unique<QueueHeap>(device, *space);
  auto slots = make_signals(device, pasid.value(), *doorbell_page, vector, options.signals);
  if (!slots) return forward_error(slots);
  signals = std::move(*slots);
  vmid = space->vmid();
  device.memory->add_stream(vmid);
  manager.add_process(pasid.value(), *this);
  registered = true;
  return {};
}

ProcessContext::Impl::~Impl() {
  if (!closed.load(std::memory_order_acquire)) static_cast<void>(close());
}

Status ProcessContext::Impl::enter() {
  const MutexHolder holder(*mutex);
  if (auto ok = usable(); !ok) return ok;
  handles.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status ProcessContext::Impl::begin_close() {
  const MutexHolder holder(*mutex);
  if (auto ok = usable(); !ok) return ok;
  if (const auto left = handles.load(std::memory_order_acquire); left > 0) {
    return fail(ErrorCode::kBusy, fmt::format("the process has {} queues", left));
  }
  closed.store(true, std::memory_order_release);
  return {};
}

// In the reverse order of open(); the last member it needs is its address space.
Status ProcessContext::Impl::close() {
  closed.store(true, std::memory_order_release);
  if (registered) {
    manager.collect_faults();  // before the PASID is another's
    manager.remove_process(pasid.value());
    device.memory->remove_stream(vmid);
    registered = false;
  }
  if (mapped) {  // its last queue's end has not been answered in time
    static_cast<void>(forget_process());
    mapped = false;
    manager.note_mapped(-1);
  }
  if (withheld) {
    const MutexHolder holder(device.memory->mutex());
    device.memory->withhold(vmid);
  }
  signals.reset();
  Status status;
  if (heap && device.usable()) status = heap->close();
  heap.reset();
  doorbell_page.reset();
  page = {};
  pasid = {};
  group = {};
  if (space && device.usable()) {
    if (auto ok = space->close(); !ok && status) status = ok;
  }
  space.reset();
  return status;
}

Result<CoreMask> ProcessContext::Impl::cores_of(const CoreMask& wanted) const {
  CoreMask mask = wanted;
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] &= group.cores()[i];
  if (mask != CoreMask{}) return mask;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("a core mask without a core of compute group {}", options.group));
}

Status ProcessContext::Impl::usable() const {
  if (closed.load(std::memory_order_acquire)) {
    return fail(ErrorCode::kInvalidArgument, "the process context is closed");
  }
  return device.usable();
}

// --- Commands ------------------------------------------------------------------------------

abi::ManagementCommand ProcessContext::Impl::on_queue(abi::ManagementOpcode opcode,
                                                      const QueueRecord& record,
                                                      abi::PreemptMode mode) const {
  abi::ManagementCommand command;
  command.opcode = static_cast<std::uint8_t>(opcode);
  command.queue = record.id.value();
  command.pasid = pasid.value();
  command.mode = static_cast<std::uint8_t>(mode);
  command.scope = static_cast<std::uint8_t>(abi::ManagementScope::kQueue);
  return command;
}

Result<ManagementAnswer> ProcessContext::Impl::accepted(Result<ManagementAnswer> answer,
                                                        std::uint8_t opcode) {
  if (!answer || answer->status == abi::ManagementStatus::kSuccess) return answer;
  const bool late = answer->status == abi::ManagementStatus::kNotDrained;
  return fail(late ? ErrorCode::kTimeout : ErrorCode::kBadDevice,
              fmt::format("the card has refused to {}: {}",
                          abi::to_string(static_cast<abi::ManagementOpcode>(opcode)),
                          to_string(answer->status)));
}

Result<ManagementAnswer> ProcessContext::Impl::command(const abi::ManagementCommand& what,
                                                       Instant deadline, DeadlineOf whose) {
  return std::move(commands({what}, deadline, whose).front());
}

// Ids are the card's: it may be one of another process.
tl::unexpected<Error> ProcessContext::Impl::no_queue(QueueId id) const {
  return fail(ErrorCode::kNotFound, fmt::format("queue {} is no queue of the process with PASID {}",
                                                id.value, pasid.value()));
}

tl::unexpected<Error> ProcessContext::Impl::others_too_long() const {
  return fail(ErrorCode::kTimeout,
              fmt::format("waited for other calls of the process with PASID {}", pasid.value()));
}

std::vector<Result<ManagementAnswer>> ProcessContext::Impl::commands(
    const std::vector<abi::ManagementCommand>& what, Instant deadline, DeadlineOf whose) {
  auto answers = manager.ring().execute(what, deadline, whose);
  for (std::size_t i = 0; i < what.size(); ++i) {
    auto& answer = answers[i];
    if (!answer && answer.error().code == ErrorCode::kAborted && is_repeatable(what[i].opcode)) {
      answer = manager.ring().execute(what[i], deadline, whose);
    }
    // Others' commands have had their turn; what runs may have ended.
    while (answer && answer->status == abi::ManagementStatus::kNotDrained &&
           device.platform.clock().now() < deadline) {
      answer = manager.ring().execute(what[i], deadline, whose);
    }
    answer = accepted(std::move(answer), what[i].opcode);
  }
  return answers;
}

// --- Faults --------------------------------------------------------------------------------

Status ProcessContext::wait_fault(Instant deadline) {
  auto& process = *impl_;
  auto& clock = process.device.platform.clock();
  for (;;) {
    const auto seen = process.vector->count();
    process.look_for_faults();
    {
      process.fault_lock.lock(clock);
      const SpinLockHolder holder(process.fault_lock);
      if (!process.faults.empty()) return {};
    }
    if (auto ok = process.usable(); !ok) return ok;
    if (clock.now() >= deadline) return fail(ErrorCode::kTimeout, "no fault of the process");
    // A queue's fault comes on the queue's vector, so look now and then.
    static_cast<void>(
        process.vector->wait_beyond(seen, std::min(deadline, clock.now() + kFaultPause)));
  }
}

// Not while compaction or another task has the log: there is a next look.
void ProcessContext::Impl::look_for_faults() {
  manager.collect_faults(device.platform.clock().now());
  deliver();
}

// The record of a fault comes before the answer, unless it was lost.
Status ProcessContext::Impl::ask_card(QueueId id) {
  if (auto ok = manager.ring().check_on(); !ok) return ok;
  const auto known = [&] {
    fault_lock.lock(device.platform.clock());
    const SpinLockHolder holder(fault_lock);
    for (const auto& [queue, channel] : channels) {
      if (queue == id) return channel->faulted();
    }
    return true;
  };
  if (known()) return {};
  auto found = manager.read_fault(id);
  if (!found) return forward_error(found);
  if (!*found) return {};
  manager.collect_faults_behind_lost();
  if (!known()) {
    (*found)->pasid = pasid.value();
    add_fault(**found);
  }
  deliver();
  return {};
}

// Called by the manager, under its mutex of faults.
void ProcessContext::Impl::add_fault(const QueueFault& fault) {
  fault_lock.lock(device.platform.clock());
  const SpinLockHolder holder(fault_lock);
  for (const auto& [id, channel] : channels) {
    if (fault.queue && id == *fault.queue) channel->note_fault(fault);
  }
  keep(faults, fault);
  if (handler) keep(undelivered, fault);
}

// The handler runs without a lock: it may call anything.
void ProcessContext::Impl::deliver() {
  for (;;) {
    FaultHandler call;
    QueueFault fault;
    {
      fault_lock.lock(device.platform.clock());
      const SpinLockHolder holder(fault_lock);
      if (undelivered.empty()) return;
      fault = undelivered.front();
      undelivered.pop_front();
      call = handler;
    }
    if (call) call(fault);
  }
}

// What runs of a queue at fault ends; SUSPEND is answered when that and its completions are done.
bool ProcessContext::Impl::settle(QueueId id, Instant deadline) {
  const auto patient = command_deadline();
  const auto limit =
      std::min(patient, std::max(deadline, device.platform.clock().now()) + kSettling);
  const TimedMutexHolder holder(*mutex, limit);
  auto* record = holder ? find(id) : nullptr;
  if (record == nullptr || record->dying || record->leaving) return false;
  const auto suspend = on_queue(abi::ManagementOpcode::kSuspend, *record);
  const bool answered = command(suspend, limit, DeadlineOf::kCaller).has_value();
  record->held = answered ? Held::kYes : Held::kUnknown;
  // If the card does not answer for so long, what is known has to do.
  return answered || limit == patient;
}

std::optional<std::uint64_t> ProcessContext::Impl::ask_read_index(QueueId id, Instant deadline) {
  const TimedMutexHolder holder(*mutex, deadline);
  if (!holder) return std::nullopt;
  const auto* record = find(id);
  if (record == nullptr || record->dying || record->leaving) return std::nullopt;
  const auto asked = on_queue(abi::ManagementOpcode::kQueryQueue, *record);
  if (!command(asked, deadline, DeadlineOf::kCaller)) return std::nullopt;
  auto now = record->descriptor;
  if (!manager.read_card_half(now)) return std::nullopt;
  return now.read_index;
}

}  // namespace npu::driver
