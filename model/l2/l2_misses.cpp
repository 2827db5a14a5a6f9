// SPDX-License-Identifier: Apache-2.0
// Lines that are not there: room for them, reads and write-backs, requests that wait for buffers.
#include <algorithm>

#include "model/l2/l2.hpp"

namespace npu::model {

// A place for the line, and its read if it needs one; false if the request has to wait. Requests
// that wait at a slice have the first claim.
bool L2::allocate(std::uint32_t number, const Touch& at, LineStore::Entry* set, unsigned resumed) {
  Access& access = accesses_[number];
  Slice& slice = slices_[at.slice];
  if (slice.first != kNone && resumed != at.slice) return false;
  const bool fetched = !access.write || at.bytes != config_.line;
  if (fetched && slice.misses.size() == config_.miss_buffers) return false;
  const unsigned way = store_->victim(set);
  if (way == store_->ways()) return false;
  if ((set[way] & LineStore::kDirty) != 0) {
    if (slice.write_backs >= config_.write_buffers) return false;
    ++slice.write_backs;
    ++statistics_.write_backs;
    victims_.push_back(store_->line_of(at.block, at.slice, set[way]));
  }
  ++(access.write ? statistics_.write_misses : statistics_.read_misses);
  ++access.misses;
  LineStore::use(
      set, way,
      at.block.key | (access.write ? LineStore::kDirty : 0) | (fetched ? LineStore::kFilling : 0));
  const SimTime start = occupy(access, at);
  if (fetched) fetch(number, at, start - sim_now() + fill_);
  return true;
}

// Neighbours are read together.
void L2::fetch(std::uint32_t number, const Touch& at, SimTime lag) {
  const bool longer = run_ != kNone && transfers_[run_].first + transfers_[run_].lines == at.line;
  if (!longer) {
    send_fetch(accesses_[number]);
    run_ = new_transfer(at.line);
    if (!accesses_[number].write) wait_for(number, run_);
  }
  Transfer& transfer = transfers_[run_];
  ++transfer.lines;
  transfer.lag = std::max(transfer.lag, lag);
  slices_[at.slice].misses.push_back({at.line, run_});
  ++statistics_.fetches;
}

std::uint32_t L2::transfer_of(const Touch& at) const {
  const auto& misses = slices_[at.slice].misses;
  const auto found = std::find_if(misses.begin(), misses.end(),
                                  [&at](const Miss& miss) { return miss.line == at.line; });
  sc_assert(found != misses.end());
  return found->transfer;
}

std::uint32_t L2::new_transfer(Line first) {
  if (free_transfer_ == kNone) {
    free_transfer_ = static_cast<std::uint32_t>(transfers_.size());
    transfers_.push_back({});
    transfers_.back().waiters = kNone;
  }
  const std::uint32_t number = free_transfer_;
  free_transfer_ = transfers_[number].waiters;
  transfers_[number] = {first, 0, 0, kNone, kNone, 0, 0, false};
  return number;
}

void L2::wait_for(std::uint32_t number, std::uint32_t transfer) {
  if (joined_ == transfer) return;
  joined_ = transfer;
  if (free_waiter_ == kNone) {
    free_waiter_ = static_cast<std::uint32_t>(waiters_.size());
    waiters_.push_back({kNone, kNone});
  }
  const std::uint32_t waiter = free_waiter_;
  free_waiter_ = waiters_[waiter].next;
  waiters_[waiter] = {number, kNone};
  Transfer& waited = transfers_[transfer];
  (waited.last == kNone ? waited.waiters : waiters_[waited.last].next) = waiter;
  waited.last = waiter;
  ++accesses_[number].fills;
}

void L2::send_fetch(const Access& access) {
  if (run_ != kNone) {
    send(access.client, Transaction::of(*access.trans).cause, tlm::TLM_READ_COMMAND, run_);
  }
  run_ = kNone;
}

void L2::send_write_backs(unsigned client, std::uint64_t cause, std::vector<Line>& lines) {
  if (lines.empty()) return;
  std::sort(lines.begin(), lines.end());
  for (std::size_t i = 0; i < lines.size();) {
    const auto transfer = new_transfer(lines[i]);
    auto& count = transfers_[transfer].lines;
    for (; i < lines.size() && lines[i] == transfers_[transfer].first + count; ++i) ++count;
    send(client, cause, tlm::TLM_WRITE_COMMAND, transfer);
  }
  lines.clear();
}

void L2::send(unsigned client, std::uint64_t cause, tlm::tlm_command command,
              std::uint32_t number) {
  Transfer& transfer = transfers_[number];
  transfer.sent = sim_now();
  transfer.cause = cause;
  auto& trans = sim_.pool.allocate_timing(command, transfer.first << line_shift_,
                                          transfer.lines << line_shift_);
  auto& info = Transaction::of(trans);
  info.context = number;
  info.cause = cause;
  info.issued = transfer.sent;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  hbm_sockets[client]->nb_transport_fw(trans, phase, delay);
}

void L2::filled(std::uint64_t argument) {
  const auto number = static_cast<std::uint32_t>(argument);
  const Transfer transfer = transfers_[number];
  trace(transfer, platform::Activity::kL2Fill);
  for (Line line = transfer.first; line < transfer.first + transfer.lines; ++line) {
    const auto block = store_->block_of(line);
    const unsigned slice = store_->slice_of(block, line);
    auto* const set = store_->set_of(block, slice);
    const unsigned way = store_->find(set, block);
    set[way] &= ~LineStore::kFilling;
    if (transfer.spoilt) store_->drop(set, way);
    auto& misses = slices_[slice].misses;
    *std::find_if(misses.begin(), misses.end(),
                  [line](const Miss& miss) { return miss.line == line; }) = misses.back();
    misses.pop_back();
  }
  for (std::uint32_t waiter = transfer.waiters; waiter != kNone;) {
    const auto [waiting, next] = waiters_[waiter];
    Access& access = accesses_[waiting];
    access.ready = std::max(access.ready, sim_now() + access.tail);
    if (transfer.spoilt) {
      access.trans->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      Transaction::of(*access.trans).completion = Completion::kPoisoned;
    }
    if (--access.fills == 0 && access.rows == 0) ready(waiting);
    waiters_[waiter].next = free_waiter_;
    free_waiter_ = waiter;
    waiter = next;
  }
  release(number);
  for (Line line = transfer.first; line < transfer.first + transfer.lines; ++line) {
    resume(slice_of(line));
  }
}

void L2::finish_write_back(std::uint32_t number) {
  const Transfer transfer = transfers_[number];
  trace(transfer, platform::Activity::kL2WriteBack);
  release(number);
  const Line end = transfer.first + transfer.lines;
  for (Line line = transfer.first; line < end; ++line) --slices_[slice_of(line)].write_backs;
  for (Line line = transfer.first; line < end; ++line) resume(slice_of(line));
}

void L2::release(std::uint32_t transfer) {
  transfers_[transfer].waiters = free_transfer_;
  free_transfer_ = transfer;
}

void L2::enqueue(std::uint32_t number, unsigned where, bool in_front) {
  Slice& slice = slices_[where];
  Access& access = accesses_[number];
  access.blocked = sim_now();
  access.next = in_front ? slice.first : kNone;
  if (slice.first == kNone) {
    slice.first = slice.last = number;
  } else if (in_front) {
    slice.first = number;
  } else {
    accesses_[slice.last].next = number;
    slice.last = number;
  }
}

// Those that wait at a slice go on, in their order, as far as they can.
void L2::resume(unsigned where) {
  Slice& slice = slices_[where];
  while (slice.first != kNone) {
    const std::uint32_t number = slice.first;
    Access& access = accesses_[number];
    slice.first = access.next;
    if (slice.first == kNone) slice.last = kNone;
    statistics_.blocked += Picoseconds(static_cast<std::int64_t>(sim_now() - access.blocked));
    if (walk(number, where) == where) return;
  }
}

}  // namespace npu::model
