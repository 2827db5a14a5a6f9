// SPDX-License-Identifier: Apache-2.0
#include "model/dma/engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/dma/translation_cache.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

using abi::FaultCode;
using platform::Activity;

}  // namespace

Engine::Engine(DmaShared& shared, const std::string& track_prefix, std::uint8_t index,
               Listener& listener)
    : shared_(shared),
      index_(index),
      track_(shared.sim.recorder.track(track_prefix + ".dma.engine" + std::to_string(index))),
      listener_(listener),
      mover_(shared, index, track_, *this),
      requests_(shared.config.dma.engine_queue_depth) {}

void Engine::set_stuck(bool stuck) {
  stuck_ = stuck;
  if (!stuck_) start_next();
}

// What is left keeps its order, and the one that is executed stays the last that was started.
void Engine::reset(unsigned function) {
  const auto& partition = shared_.partitions[function];
  const bool uses = index_ - partition.first_engine < partition.dma_engines;
  if (uses) stuck_ = loses_next_ = false;
  if (executing_ && current().function == function) {
    executing_ = false;
    mover_.reset();
  }
  std::uint64_t kept = head_, started = head_;
  for (auto i = head_; i != tail_; ++i) {
    if (slot(i).function == function) continue;
    if (i < next_) ++started;
    if (kept != i) slot(kept) = slot(i);
    ++kept;
  }
  next_ = started;
  tail_ = kept;
  if (head_ == tail_) completion_free_ = 0;
  start_next();
}

void Engine::accept(const DmaRequest& request) {
  sc_assert(!full());
  slot(tail_) = request;
  slot(tail_).engine = index_;
  slot(tail_++).number = ++accepted_;
  start_next();
}

void Engine::start_next() {
  if (stuck_ || executing_ || next_ == tail_) return;
  const auto& request = slot(next_);
  for (auto i = head_; i != next_; ++i) {
    if (request.is_after(slot(i))) return;
  }
  ++next_;
  executing_ = true;
  const bool to_peer = request.operation != nullptr && request.operation->peer;
  const SimTime setup = ticks(shared_.config.dma.engine_setup) +
                        (to_peer ? ticks(shared_.config.hccs.command_setup) : 0) +
                        (request.reduces() ? ticks(shared_.config.dma.reduce_setup) : 0);
  shared_.sim.agenda.at<&Engine::setup_done>(sim_now() + setup, *this, request.number);
}

// One that is set up, or whose translation is in flight, ends with that.
void Engine::stop(const DmaClient& client, std::uint64_t context) {
  for (auto i = executing_ ? next_ - 1 : next_; i != tail_; ++i) {
    auto& request = slot(i);
    if (request.client != &client || request.context != context) continue;
    request.stopped = true;
    if (executing_ && i + 1 == next_) mover_.stop();
  }
}

void Engine::setup_done(std::uint64_t number) {
  if (!executing_ || current().number != number) return;  // reset meanwhile
  auto& request = current();
  if (!request.replayed) {
    shared_.sim.emit(track_, Activity::kEngineStart, request.dispatched, sim_now(), request.cause);
  }
  if (!request.stopped && !request.fault.failed()) check(request);
  if (std::exchange(loses_next_, false)) {
    std::vector<DmaRequest> behind;
    auto lost = give_up(behind);
    return listener_.request_lost(std::move(lost), std::move(behind));
  }
  if (request.stopped || request.fault.failed()) {
    data_done(request.fault);
  } else if (request.operation->target == abi::DmaSide::kHost) {
    translate_from(request.done);
  } else {
    mover_.start(request);
  }
}

// Of virtual addresses the MMU knows more.
void Engine::check(DmaRequest& request) const {
  const auto& operation = *request.operation;
  if (!request.has_sound_size()) {
    request.fault.code = FaultCode::kInvalidSize;
    return;
  }
  // Of a physical address it says itself that it is a peer's.
  const auto is_peer = [&](std::uint64_t address) {
    return operation.peer && is_physical(request.space) && abi::PageTableEntry{address}.is_peer();
  };
  const bool named = is_peer(request.source) || is_peer(request.destination);
  if (operation.peer && is_physical(request.space) && !named) {
    request.fault.code = FaultCode::kNoPeer;
    return;
  }
  const auto is_there = [&](std::uint64_t address) {
    if (is_peer(address)) return true;  // which the peer knows
    return is_physical(request.space)
               ? shared_.partitions[request.function].has_memory(address, request.size)
               : range_fits(address, request.size, std::uint64_t{1} << abi::kVirtualBits);
  };
  const auto require = [&](abi::DmaSide side, std::uint64_t address, bool write) {
    const bool fits = side != abi::DmaSide::kDevice || is_there(address);
    if (request.fault.failed() || fits) return;
    request.fault = {FaultCode::kDeviceAddress, address, request.space, write};
  };
  require(operation.source, request.source, false);
  require(operation.target, request.destination, true);
}

void Engine::response(const RequestTag& tag, tlm::tlm_generic_payload& trans) {
  if (tag.epoch != mover_.epoch()) return;
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
      sc_assert(false && "only rings are fetched");
      break;
  }
}

void Engine::translations_invalidated(unsigned function) {
  const bool concerned = executing_ && current().function == function;
  if (concerned && !mover_.paused() && mover_.pause_posting()) {
    translate_from(current().done + mover_.host_position());
  }
}

void Engine::translate_from(Bytes position) {
  translate_begin_ = translated_ = position;
  translate_next();
}

void Engine::translate_next() {
  const auto& request = current();
  const HostAgent agent{request.function, request.pasid};
  while (translated_ < request.size) {
    const std::uint64_t bus = request.destination + translated_;
    const Bytes known = shared_.translations.lookup(agent, bus);
    if (known == 0) {
      ++shared_.statistics.translations;
      translation_generation_ = shared_.translations.generation();
      shared_.ports.translate({index_, RequestTag::kTranslate, mover_.epoch(), 0}, agent, bus,
                              request.cause);
      return;
    }
    translated_ += known;
  }
  if (mover_.paused()) {
    mover_.resume();
  } else {
    mover_.start(request);
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
  const auto& request = current();
  if (request.stopped) return mover_.paused() ? mover_.resume() : data_done({});
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
  shared_.translations.insert({request.function, request.pasid}, trans.get_address(), mapped);
  translated_ += std::min(mapped, request.size - translated_);
  translate_next();
}

void Engine::data_done(const CommandFault& fault) {
  auto& request = current();
  request.fault = fault;
  request.data_end = sim_now();
  request.read.reset();
  executing_ = false;
  completion_free_ = std::max(completion_free_, sim_now()) +
                     (request.announced ? ticks(shared_.config.dma.completion_processing) : 0);
  shared_.sim.agenda.at<&Engine::complete>(completion_free_, *this, request.number);
  start_next();
}

void Engine::page_missing(const MissingPage& page) {
  mover_.note_progress(current());
  std::vector<DmaRequest> behind;
  auto request = give_up(behind);
  listener_.page_missing(std::move(request), page, std::move(behind));
}

// The requests behind move up, but for those that have to stay behind it.
DmaRequest Engine::give_up(std::vector<DmaRequest>& behind) {
  DmaRequest request = std::move(current());
  executing_ = false;
  auto kept = next_ - 1;
  for (auto i = next_; i != tail_; ++i) {
    if (slot(i).is_after(request)) {
      behind.push_back(std::move(slot(i)));
    } else {
      slot(kept++) = std::move(slot(i));
    }
  }
  --next_;
  tail_ = kept;
  start_next();
  return request;
}

void Engine::complete(std::uint64_t number) {
  if (head_ == tail_ || slot(head_).number != number) return;  // reset meanwhile
  const DmaRequest request = slot(head_);
  request.client->dma_ended(request);
  account(request);
  ++head_;
  start_next();
  listener_.request_left(request);
}

void Engine::account(const DmaRequest& request) {
  auto& statistics = shared_.statistics;
  ++statistics.commands;
  if (request.fault.failed()) {
    ++statistics.faults;
  } else if (request.stopped) {
    ++statistics.stopped;
  } else if (!request.has_source_address()) {
    statistics.bytes_filled += request.size;
  } else if (request.operation->source == abi::DmaSide::kHost) {
    statistics.bytes_host_to_device += request.size;
  } else if (request.operation->target == abi::DmaSide::kHost) {
    statistics.bytes_device_to_host += request.size;
  } else if (request.operation->target == abi::DmaSide::kDevice) {
    statistics.bytes_device_to_device += request.size;
  }
  shared_.sim.emit(track_, Activity::kCompletion, request.data_end, sim_now(), request.cause);
  shared_.sim.emit(track_, Activity::kCommand, request.dispatched, sim_now(), request.cause,
                   request.size, std::uint64_t{request.opcode} << 16 | request.stream);
}

}  // namespace npu::model
