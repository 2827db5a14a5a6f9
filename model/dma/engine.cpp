// SPDX-License-Identifier: Apache-2.0
#include "model/dma/engine.hpp"

#include <algorithm>
#include <cstring>

#include "model/dma/translation_cache.hpp"
#include "model/registers/card_registers.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

using abi::FaultCode;
using platform::Activity;

std::string track_name(const DmaShared& shared, unsigned index) {
  return "card" + std::to_string(shared.registers.device_index()) + ".dma.engine" +
         std::to_string(index);
}

}  // namespace

Engine::Engine(DmaShared& shared, std::uint8_t index, Listener& listener)
    : shared_(shared),
      index_(index),
      track_(shared.sim.recorder.track(track_name(shared, index))),
      listener_(listener),
      mover_(shared, index, track_, *this),
      commands_(shared.config.dma.engine_queue_depth) {}

void Engine::reset() {
  head_ = next_ = tail_ = 0;
  executing_ = false;
  completion_free_ = 0;
  mover_.reset();
}

void Engine::accept(const DmaCommand& command) {
  sc_assert(!full());
  slot(tail_++) = command;
  start_next();
}

void Engine::start_next() {
  if (executing_ || next_ == tail_) return;
  const auto& command = slot(next_);
  for (auto i = head_; i != next_ && !command.requested; ++i) {
    const auto& before = slot(i);  // one after another within a stream
    if (!before.requested && before.entry.stream == command.entry.stream) return;
  }
  ++next_;
  executing_ = true;
  const bool to_peer = command.opcode() == abi::DmaOpcode::kPeerToPeer;
  const SimTime setup = ticks(shared_.config.dma.engine_setup) +
                        (to_peer ? ticks(shared_.config.hccs.command_setup) : 0);
  shared_.sim.agenda.at<&Engine::setup_done>(sim_now() + setup, *this, shared_.epoch);
}

// One that is set up, or whose translation is under way, ends with that.
void Engine::stop(std::uint64_t context) {
  for (auto i = executing_ ? next_ - 1 : next_; i != tail_; ++i) {
    auto& command = slot(i);
    if (!command.requested || command.context != context) continue;
    command.stopped = true;
    if (executing_ && i + 1 == next_) mover_.stop();
  }
}

void Engine::setup_done(std::uint64_t epoch) {
  if (epoch != shared_.epoch) return;
  auto& command = current();
  shared_.sim.emit(track_, Activity::kEngineStart, command.dispatched, sim_now(), command.cause);
  if (!command.stopped) check(command);
  if (command.stopped || command.fault.failed()) {
    data_done(command.fault);
  } else if (command.opcode() == abi::DmaOpcode::kDeviceToHost) {
    translate_from(0);
  } else {
    mover_.start(command);
  }
}

void Engine::check(DmaCommand& command) const {
  const auto& entry = command.entry;
  if (command.requested) return check_request(command);
  const auto& streams = shared_.registers.streams();
  if (entry.opcode < 0x01 || entry.opcode > 0x04) {
    command.fault.code = FaultCode::kInvalidOpcode;
  } else if (entry.stream >= streams.size() || !streams.enabled(entry.stream) ||
             streams.vmid(entry.stream) >= abi::kVmids) {
    command.fault.code = FaultCode::kInvalidStream;
  } else if (entry.size() == 0 || !checked_add(entry.source(), entry.size()) ||
             !checked_add(entry.destination(), entry.size())) {
    command.fault.code = FaultCode::kInvalidSize;
  } else if (entry.event != abi::kNoEvent && entry.event >= shared_.registers.events().size()) {
    command.fault.code = FaultCode::kInvalidEvent;
  } else {
    command.vmid = streams.vmid(entry.stream);
    check_addresses(command);
  }
}

void Engine::check_request(DmaCommand& command) const {
  const auto& entry = command.entry;
  if (entry.size() == 0 || !checked_add(entry.destination(), entry.size()) ||
      (!command.fill && !checked_add(entry.source(), entry.size()))) {
    command.fault.code = FaultCode::kInvalidSize;
  } else {
    check_addresses(command);
  }
}

// Of virtual addresses the MMU knows more.
void Engine::check_addresses(DmaCommand& command) const {
  const auto& entry = command.entry;
  const Bytes limit = command.vmid == abi::kVmidPhysical ? shared_.config.hbm.installed
                                                         : std::uint64_t{1} << abi::kVirtualBits;
  const auto require = [&](std::uint64_t address, bool write) {
    if (command.fault.failed() || range_fits(address, entry.size(), limit)) return;
    command.fault = {FaultCode::kDeviceAddress, address, command.vmid, write};
  };
  switch (command.opcode()) {
    case abi::DmaOpcode::kHostToDevice:
      require(entry.destination(), true);
      break;
    case abi::DmaOpcode::kDeviceToHost:
      require(entry.source(), false);
      break;
    case abi::DmaOpcode::kDeviceToDevice:
      if (!command.fill) require(entry.source(), false);
      require(entry.destination(), true);
      break;
    case abi::DmaOpcode::kPeerToPeer:
      // Peers are reached through page tables only.
      if (command.vmid == abi::kVmidPhysical) command.fault.code = FaultCode::kNoPeer;
      require(entry.source(), false);
      require(entry.destination(), true);
      break;
  }
}

void Engine::response(const RequestTag& tag, tlm::tlm_generic_payload& trans) {
  switch (tag.role) {
    case RequestTag::kRead:
      mover_.read_done(tag.slot, trans);
      break;
    case RequestTag::kWrite:
      mover_.write_done(tag.slot, trans);
      break;
    case RequestTag::kTranslate:
      translated(trans);
      break;
    case RequestTag::kFetch:
      sc_assert(false && "only the front-end fetches");
      break;
  }
}

void Engine::translations_invalidated() {
  if (executing_ && !mover_.paused() && mover_.pause_posting()) {
    translate_from(mover_.host_position());
  }
}

void Engine::translate_from(Bytes position) {
  translate_begin_ = translated_ = position;
  translate_next();
}

void Engine::translate_next() {
  const auto& command = current();
  while (translated_ < command.entry.size()) {
    const std::uint64_t bus = command.entry.destination() + translated_;
    const Bytes known = shared_.translations.lookup(command.pasid, bus);
    if (known == 0) {
      ++shared_.statistics.translations;
      translation_generation_ = shared_.translations.generation();
      shared_.ports.translate({index_, RequestTag::kTranslate, shared_.epoch, 0}, command.pasid,
                              bus, command.cause);
      return;
    }
    translated_ += known;
  }
  if (mover_.paused()) {
    mover_.resume();
  } else {
    mover_.start(command);
  }
}

void Engine::not_translated(const CommandFault& fault) {
  if (mover_.paused()) {
    mover_.abort(fault);
  } else {
    data_done(fault);
  }
}

void Engine::translated(tlm::tlm_generic_payload& trans) {
  if (current().stopped) return mover_.paused() ? mover_.resume() : data_done({});
  const auto completion = Transaction::of(trans).completion;
  std::uint64_t mapped = 0;
  std::memcpy(&mapped, trans.get_data_ptr(), sizeof mapped);
  if (completion != Completion::kSuccess || mapped == 0) {
    const auto fault = host_fault(completion);
    not_translated({fault == FaultCode::kNone ? FaultCode::kHostAddress : fault,
                    trans.get_address(), 0, true});
    return;
  }
  // An invalidation has overtaken the answer: none of what was learned holds any more.
  if (translation_generation_ != shared_.translations.generation()) {
    translate_from(translate_begin_);
    return;
  }
  shared_.translations.insert(current().pasid, trans.get_address(), mapped);
  translated_ += std::min(mapped, current().entry.size() - translated_);
  translate_next();
}

void Engine::data_done(const CommandFault& fault) {
  auto& command = current();
  command.fault = fault;
  command.data_end = sim_now();
  executing_ = false;
  // A request's completion is its requester's business.
  completion_free_ = std::max(completion_free_, sim_now()) +
                     (command.requested ? 0 : ticks(shared_.config.dma.completion_processing));
  shared_.sim.agenda.at<&Engine::complete>(completion_free_, *this, shared_.epoch);
  start_next();
}

void Engine::complete(std::uint64_t epoch) {
  if (epoch != shared_.epoch) return;
  const DmaCommand command = slot(head_);
  if (!command.requested) publish(command);
  account(command);
  ++head_;
  start_next();
  listener_.command_completed(command);
}

void Engine::publish(const DmaCommand& command) {
  const auto& entry = command.entry;
  auto& streams = shared_.registers.streams();
  const bool stream_exists = entry.stream < streams.size();
  if (stream_exists) streams.command_completed(entry.stream, command.fault.code);
  count_event(command);
  if (command.fault.failed()) {
    shared_.registers.report({command.fault.code, command.fault.address, entry.opcode, index_,
                              entry.stream, command.ring_index, command.cause, command.fault.vmid,
                              command.fault.write});
  }
  if ((entry.flags & abi::kDmaFlagInterrupt) != 0 && stream_exists && shared_.interrupts) {
    shared_.interrupts->raise(shared_.registers.function(), streams.vector(entry.stream),
                              command.cause);
  }
}

// The record is posted behind the data of the command and in front of its interrupt. One that the
// function may not send is lost: the counter in the card has the truth, and the next record too.
void Engine::count_event(const DmaCommand& command) {
  auto& events = shared_.registers.events();
  const auto id = command.entry.event;
  if (id >= events.size()) return;  // none wanted, or reported as kInvalidEvent
  const auto record = events.complete(id, command.fault.code);
  const auto base = shared_.registers.bank().get<abi::EventRecordBase>().raw;
  if (base == 0) return;
  auto& trans = shared_.ports.make_posted_write(0, base + std::uint64_t{abi::kEventStride} * id,
                                                sizeof record.raw, command.cause);
  std::memcpy(trans.get_data_ptr(), &record.raw, sizeof record.raw);
  shared_.ports.post(trans);
}

void Engine::account(const DmaCommand& command) {
  const auto& entry = command.entry;
  auto& statistics = shared_.statistics;
  ++statistics.commands;
  if (command.fault.failed()) {
    ++statistics.faults;
  } else if (command.stopped) {
    ++statistics.stopped;
  } else if (command.fill) {
    statistics.bytes_filled += entry.size();
  } else if (command.opcode() == abi::DmaOpcode::kHostToDevice) {
    statistics.bytes_host_to_device += entry.size();
  } else if (command.opcode() == abi::DmaOpcode::kDeviceToHost) {
    statistics.bytes_device_to_host += entry.size();
  } else {
    statistics.bytes_device_to_device += entry.size();
  }
  shared_.sim.emit(track_, Activity::kCompletion, command.data_end, sim_now(), command.cause);
  shared_.sim.emit(track_, Activity::kCommand, command.dispatched, sim_now(), command.cause,
                   entry.size(), std::uint64_t{entry.opcode} << 16 | entry.stream);
}

}  // namespace npu::model
