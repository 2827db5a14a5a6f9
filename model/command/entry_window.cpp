// SPDX-License-Identifier: Apache-2.0
#include "model/command/entry_window.hpp"

#include <utility>

#include "model/command/dispatcher.hpp"
#include "model/command/queue_entries.hpp"
#include "model/command/scheduler.hpp"
#include "model/core/work_watch.hpp"

namespace npu::model {

using abi::FaultCode;
using abi::QueueOpcode;
using platform::Activity;

EntryWindow::EntryWindow(CommandShared& shared, std::uint32_t track, QueueSlot& slot, Owner& owner)
    : shared_(shared),
      track_(track),
      slot_(slot),
      owner_(owner),
      reader_(shared, track, *this),
      wait_(shared, *this),
      results_(shared, *this) {}

// --- the queue comes and goes --------------------------------------------------------------

void EntryWindow::begin(HardwareQueue& queue) {
  queue_ = &queue;
  mode_ = Mode::kRunning;
  idle_since_ = sim_now();
  reader_.begin(queue);
  results_.begin(queue);
  wait_.reset();
  with_dispatcher_ = false;
}

// A descriptor may bring a saved kernel that never ran here.
void EntryWindow::restore_kernel(const abi::QueueSaveRecord& saved) {
  auto* const aside = std::exchange(queue_->kernel, nullptr);
  auto& command = aside != nullptr ? shared_.commands.take_up(*aside) : shared_.commands.allocate();
  command.slot = &slot_;
  command.entry = saved.entry;
  command.index = saved.index;
  command.cause = function().cause(*queue_, saved.index);
  command.decoded = command.eligible = sim_now();
  begin_launch(command);
  command.next_block = saved.next_block;
  command.taken = true;
  queue_->mqd.saved = 0;
  ++open_;
  ++working_;
  if (!shared_.dispatcher->has_core(slot_, command)) {  // it has changed
    command.fault = {FaultCode::kInvalidCoreMask, 0, queue_->mqd.vmid, false};
    return finish(command);
  }
  kernel_ = &command;
  with_dispatcher_ = true;
  shared_.dispatcher->want_cores(slot_);
}

void EntryWindow::stop(bool at_once) {
  mode_ = Mode::kStopping;
  drop_current();
  const bool may_save = queue_->mqd.save_area != 0;
  if (kernel_ != nullptr && (at_once || may_save || queue_->faulted)) {
    shared_.dispatcher->cancel(slot_);
    with_dispatcher_ = false;
  }
  if (at_once) shared_.dispatcher->stop(slot_);
  check_ended();
}

// The decoded entry has not been taken: it is read again later. With a kernel before it, it is that
// one that the dispatcher knows of.
void EntryWindow::drop_current() {
  wait_.forget();
  if (current_ == nullptr) return;
  if (kernel_ == nullptr) cancel();
  shared_.commands.free(*current_);
  current_ = nullptr;
}

void EntryWindow::cancel() {
  if (with_dispatcher_) shared_.dispatcher->cancel(slot_);
  with_dispatcher_ = false;
}

void EntryWindow::preempt_kernel() {
  auto& command = *kernel_;
  if (owner_.saves(command)) {
    queue_->kernel = &command;
    shared_.commands.put_aside(command);
  } else {
    shared_.commands.free(command);
  }
  --open_;
  --working_;
  kernel_ = nullptr;
}

void EntryWindow::check_ended() {
  if (!stopping() || reader_.fetching() || wait_.reading()) return;
  if (kernel_ != nullptr && !with_dispatcher_ && kernel_->blocks_out == 0) preempt_kernel();
  if (open_ > 0) return;
  mode_ = Mode::kOff;
  ++generation_;
  reader_.stop();
  owner_.entries_ended();
}

void EntryWindow::reset() {
  ++generation_;
  mode_ = Mode::kOff;
  queue_ = nullptr;
  current_ = kernel_ = nullptr;
  with_dispatcher_ = false;
  working_ = open_ = 0;
  reader_.reset();
  wait_.reset();
}

// --- entries come --------------------------------------------------------------------------

bool EntryWindow::idle() const {
  return mode_ == Mode::kRunning && open_ == 0 && current_ == nullptr && !reader_.fetching() &&
         queue_->mqd.read_index == queue_->mqd.write_index;
}

void EntryWindow::note_idle() {
  if (mode_ != Mode::kRunning || !idle()) return;
  idle_since_ = sim_now();
  shared_.scheduler->slot_changed();
}

void EntryWindow::pump() {
  fetch();
  decode_next();
}

void EntryWindow::fetch() {
  if (mode_ == Mode::kRunning) reader_.fetch();
}

bool EntryWindow::takes_entries(const Answer& answer) {
  if (stopping()) {
    check_ended();
    return false;
  }
  if (answer.ok()) return true;
  owner_.queue_fault({FaultCode::kRingFetch, answer.address, queue_->mqd.vmid, false}, answer.host,
                     nullptr);
  return false;
}

// One entry is decoded ahead of those that have been taken.
void EntryWindow::decode_next() {
  if (reader_.decoding() || current_ != nullptr || mode_ != Mode::kRunning) return;
  if (reader_.empty()) return note_idle();
  reader_.decode();
}

void EntryWindow::entry_decoded(const abi::QueueEntry& entry, SimTime since) {
  if (stopping()) return;
  auto& command = shared_.commands.allocate();
  command.slot = &slot_;
  command.entry = entry;
  command.index = queue_->mqd.read_index;
  command.cause = function().cause(*queue_, command.index);
  command.decoded = sim_now();
  current_ = &command;
  shared_.sim.emit(track_, Activity::kQueueDecode, since, sim_now(), command.cause, 0,
                   queue_->mqd.queue_id);
  try_start();
}

// --- entries start -------------------------------------------------------------------------

// Whether something before the decoded entry has to end first.
bool EntryWindow::held_up() const {
  const auto& entry = current_->entry;
  const bool barrier = (entry.flags & abi::kEntryBarrier) != 0 ||
                       (queue_->mqd.flags & abi::kQueueInOrder) != 0 ||
                       implies_barrier(current_->opcode());
  return (barrier && working_ > 0) || open_ >= shared_.config.command.window;
}

void EntryWindow::try_start() {
  if (current_ == nullptr || with_dispatcher_ || stopping()) return;
  if (wait_.parked() || wait_.reading() || kernel_ != nullptr || held_up()) return;
  auto& command = *current_;
  command.eligible = sim_now();
  if (command.eligible > command.decoded) {
    shared_.sim.emit(track_, Activity::kQueueWait, command.decoded, command.eligible, command.cause,
                     0, queue_->mqd.queue_id);
  }
  if (!well_formed(command.entry)) return fail(command, FaultCode::kMalformedEntry, command.index);
  start(command);
}

// From here on the card has its own copy, and the entry's place in the ring is free.
void EntryWindow::take(QueueCommand& command) {
  sc_assert(current_ == &command);
  current_ = nullptr;
  command.taken = true;
  ++queue_->mqd.read_index;
  ++open_;
  ++working_;
  fetch();
  decode_next();
}

void EntryWindow::start(QueueCommand& command) {
  switch (command.opcode()) {
    case QueueOpcode::kLaunchAiCore:
    case QueueOpcode::kLaunchAicpu:
      return start_launch(command);
    case QueueOpcode::kEventRecord:
      return start_record(command);
    case QueueOpcode::kEventWait:
      return start_wait(command);
    case QueueOpcode::kTimestamp:
      take(command);
      return results_.write_timestamp(command);
    case QueueOpcode::kNotify:
    case QueueOpcode::kBarrier:
    case QueueOpcode::kNop:
      take(command);
      return finish(command);
    default:  // of the DMA engines: the entry is well formed
      with_dispatcher_ = true;
      return shared_.dispatcher->want_dma(slot_);
  }
}

void EntryWindow::dma_granted() {
  auto& command = *current_;
  with_dispatcher_ = false;
  const auto dma = dma_request(command, function(), *queue_);
  shared_.sim.emit(track_, Activity::kQueueDispatch, command.eligible, sim_now(), command.cause, 0,
                   queue_->mqd.queue_id);
  take(command);
  shared_.dispatcher->request(dma);
}

void EntryWindow::start_launch(QueueCommand& command) {
  begin_launch(command);
  if (!shared_.dispatcher->has_core(slot_, command)) {
    return fail(command, FaultCode::kInvalidCoreMask, 0);
  }
  const auto launch = command.entry.get<abi::LaunchPayload>();
  if (launch.function != 0 || launch.image == 0) {
    return fail(command, FaultCode::kInvalidFunction, launch.function);
  }
  with_dispatcher_ = true;
  shared_.dispatcher->want_cores(slot_);
}

KernelBlock EntryWindow::take_block(unsigned lanes) {
  if (kernel_ == nullptr) {
    kernel_ = current_;
    shared_.sim.emit(track_, Activity::kQueueDispatch, kernel_->eligible, sim_now(), kernel_->cause,
                     0, queue_->mqd.queue_id);
    take(*kernel_);
  }
  auto& command = *kernel_;
  const auto block = next_block(command, function().space(queue_->mqd.vmid), lanes);
  ++shared_.statistics.blocks;
  if (command.next_block == command.blocks) {
    kernel_ = nullptr;
    with_dispatcher_ = false;
  }
  return block;
}

void EntryWindow::start_record(QueueCommand& command) {
  const auto slot = command.entry.get<abi::SignalPayload>().slot;
  const bool known = names_signal(command.entry, queue_->mqd.signal_slots);
  if (!known) return fail(command, FaultCode::kInvalidSignal, slot, true);
  take(command);
  tell(command);
  results_.write_signal(command);
}

void EntryWindow::start_wait(QueueCommand& command) {
  const auto slot = command.entry.get<abi::WaitPayload>().slot;
  const bool known = names_signal(command.entry, queue_->mqd.signal_slots);
  if (!known) return fail(command, FaultCode::kInvalidSignal, slot);
  wait_.start(*queue_, command);
}

bool EntryWindow::keeps_waiting() {
  if (!stopping()) return true;
  check_ended();
  return false;
}

void EntryWindow::wait_over(FaultCode status) {
  auto& command = *current_;
  shared_.sim.emit(track_, Activity::kQueueWait, queue_->wait.since, sim_now(), command.cause, 0,
                   queue_->mqd.queue_id);
  command.fault = {status, queue_->wait.place.address, queue_->mqd.vmid, false};
  take(command);
  finish(command);
}

// --- entries end ---------------------------------------------------------------------------

void EntryWindow::block_ended(QueueCommand& command, const CommandFault& fault) {
  --command.blocks_out;
  if (fault.failed() && !command.fault.failed()) {
    command.fault = fault;
    if (kernel_ == &command) {  // no more blocks of it
      cancel();
      kernel_ = nullptr;
    }
    if (command.blocks_out > 0 && !command.given_up) report(command);
  }
  if (command.blocks_out > 0) return;
  if (kernel_ != &command) return finish(command);
  if (stopping()) check_ended();
}

void EntryWindow::tell(const QueueCommand& command) const {
  if (detail::work_watch == nullptr) return;
  detail::work_watch->ended({function().space(queue_->mqd.vmid), command.cause, command.entry});
}

// The entry's work is done; what waited for that may start.
void EntryWindow::finish(QueueCommand& command) {
  --working_;
  command.done = sim_now();
  if (command.opcode() != QueueOpcode::kEventRecord) tell(command);
  if (command.given_up) {
    --open_;
    shared_.commands.free(command);
    return check_ended();
  }
  shared_.sim.agenda.at<&EntryWindow::completed>(
      sim_now() + ticks(shared_.config.command.completion_processing), *this,
      std::uint64_t{generation_} << 32 | command.handle);
  if (command.fault.failed() && command.fault.code != FaultCode::kWaitTimeout) {
    report(command);
    if (!command.continues_on_error()) return;
    pump();  // what comes behind an entry that could not be started
  }
  try_start();
}

void EntryWindow::completed(std::uint64_t argument) {
  if (argument >> 32 != generation_) return;
  results_.write_completion(shared_.commands.at(argument & 0xFFFF'FFFF));
}

// Everything is written, or on its way to the host in front of the interrupt.
void EntryWindow::completion_written(QueueCommand& command) {
  auto& mqd = queue_->mqd;
  ++mqd.completed;
  ++shared_.statistics.entries;
  shared_.sim.agenda.note_progress();
  const bool interrupt = (command.entry.flags & abi::kEntryInterrupt) != 0 ||
                         command.opcode() == QueueOpcode::kNotify || command.fault.failed();
  if (interrupt) function().raise(mqd.vector, command.cause);
  shared_.sim.emit(track_, Activity::kQueueComplete, command.done, sim_now(), command.cause, 0,
                   mqd.queue_id);
  shared_.sim.emit(track_, Activity::kQueueCommand, command.decoded, sim_now(), command.cause, 0,
                   std::uint64_t{command.entry.opcode} << 16 | mqd.queue_id);
  --open_;
  shared_.commands.free(command);
  if (stopping()) return check_ended();
  try_start();
  note_idle();
  if (parked()) shared_.scheduler->slot_changed();
}

// The decoded entry cannot be started.
void EntryWindow::fail(QueueCommand& command, FaultCode code, std::uint64_t address, bool write) {
  fail(command, {code, address, queue_->mqd.vmid, write}, false);
}

void EntryWindow::fail(QueueCommand& command, const CommandFault& fault, bool host) {
  command.fault = fault;
  command.host_fault = host;
  current_ = nullptr;
  ++queue_->mqd.read_index;
  ++open_;
  ++working_;
  finish(command);
}

// Of a kernel as soon as one block is at fault.
void EntryWindow::report(QueueCommand& command) {
  if (command.reported) return;
  command.reported = true;
  owner_.entry_fault(command);
}

}  // namespace npu::model
