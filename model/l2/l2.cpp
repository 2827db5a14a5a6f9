// SPDX-License-Identifier: Apache-2.0
#include "model/l2/l2.hpp"

#include <algorithm>
#include <array>

#include "npu/base/checked.hpp"

namespace npu::model {

L2::L2(const sc_core::sc_module_name& name, Simulation& sim, const L2Config& config,
       unsigned clients, std::string_view track_name)
    : sc_module(name),
      client_sockets("client_socket", clients),
      hbm_sockets("hbm_socket", clients),
      sim_(sim),
      track_(sim.recorder.track(track_name)),
      config_(config),
      times_(config),
      noc_(ticks(config.noc)),
      hit_(ticks(config.hit)),
      write_(ticks(config.write)),
      fill_(ticks(config.fill)),
      written_(config.line),
      fills_(*this),
      write_backs_(*this) {
  for (unsigned i = 0; i < clients; ++i) {
    client_sockets[i].register_nb_transport_fw(this, &L2::request, static_cast<int>(i));
    hbm_sockets[i].register_nb_transport_bw(this, &L2::response, static_cast<int>(i));
  }
  if (config.size == 0) return;
  store_.emplace(config);
  line_shift_ = static_cast<unsigned>(__builtin_ctzll(config.line));
  slices_.reserve(config.slices);
  for (unsigned i = 0; i < config.slices; ++i) {
    slices_.emplace_back(config.miss_buffers, config.write_buffers);
  }
}

// Calls use(block, line) for each of them; `first`: the first one's block.
template <class Use>
void L2::each_line(const HbmTransfer& transfer, const LineStore::Block& first, Use use) {
  auto block = first;
  for (Line line = transfer.first; line < transfer.first + transfer.lines; ++line) {
    if (!store_->same_block(block, line)) block = store_->block_of(line);
    use(block, line);
  }
}

tlm::tlm_sync_enum L2::request(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                               sc_core::sc_time& delay) {
  const auto number = static_cast<unsigned>(client);
  if (!store_) return hbm_sockets[number]->nb_transport_fw(trans, phase, delay);
  accept(number, trans);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum L2::response(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) {
  if (!store_) {
    Transaction::of(trans).hbm_until = sim_now();
    return client_sockets[static_cast<unsigned>(client)]->nb_transport_bw(trans, phase, delay);
  }
  const auto number = static_cast<std::uint32_t>(Transaction::of(trans).context);
  const bool read = trans.is_read();
  const bool spoilt = Transaction::of(trans).completion == Completion::kPoisoned;
  trans.release();
  if (read) {
    const LineFills::Fill& fill = fills_[number];
    each_line(fill.transfer, fill.block, [this](const LineStore::Block& block, Line line) {
      LineStore::prefetch(store_->set_of(block, store_->slice_of(block, line)));
    });
    sim_.agenda.at<&L2::filled>(sim_now() + fills_.arrived(number, spoilt), *this, number);
  } else {
    finish_write_back(number);
  }
  return tlm::TLM_COMPLETED;
}

void L2::accept(unsigned client, tlm::tlm_generic_payload& trans) {
  sc_assert(trans.get_byte_enable_ptr() == nullptr);
  const unsigned length = trans.get_data_length();
  const auto number = accesses_.take();
  accesses_[number] = Access(trans, client, sim_now() + noc_, line_shift_);
  if (length == 0 || hbm_sockets[client]->transport_dbg(trans) != length) {
    trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    Transaction::of(trans).completion = Completion::kUnsupportedRequest;
    accesses_[number].ready = accesses_[number].arrival + hit_ + noc_;
    ready(number);
    return;
  }
  trans.set_response_status(tlm::TLM_OK_RESPONSE);
  ++statistics_.requests;
  (trans.is_write() ? statistics_.bytes_written : statistics_.bytes_read) += length;
  walk(number, kNone);
}

// Looks up line after line; gives the slice where the request has to wait, if it has. `resumed`:
// the slice where it waited.
unsigned L2::walk(std::uint32_t number, unsigned resumed) {
  Access& access = accesses_[number];
  const std::uint64_t cause = Transaction::of(*access.trans).cause;
  used_ = true;  // also by what waited when everything was invalidated
  fills_.begin({number, access.client, cause});
  LineTurns turns;
  turns.earliest = std::max(access.arrival, sim_now());
  turns.behind = (access.write ? write_ : hit_) + noc_;
  std::array<Touch, 2 * kAhead> lines;  // that are looked up in turn
  LineCursor ahead = access.rest;
  LineStore::Block block = store_->block_of(ahead.line());
  for (unsigned i = 0; i < kAhead; ++i) look_ahead(ahead, block, lines[i]);
  unsigned blocked = kNone;
  for (unsigned i = 0; !access.rest.at_end(); ++i) {
    look_ahead(ahead, block, lines[(i + kAhead) % lines.size()]);
    const Touch& at = lines[i % lines.size()];
    if (!touch(access, at, turns, resumed)) {
      blocked = at.slice;
      break;
    }
    access.rest.advance(at.bytes);
  }
  account(access, turns);
  access.fills += fills_.end();
  write_backs_.send_evicted(access.client, cause);
  if (blocked != kNone) {
    access.blocked = sim_now();
    ++waiting_;
    if (blocked == resumed) {
      slices_[blocked].block_again(number);
    } else {
      slices_[blocked].block(number);
    }
  } else if (access.fills == 0) {
    ready(number);
  }
  return blocked;
}

// Finds the place of the next line, if there is one, whose set comes from the host's memory until
// it is looked up. `block`: that of a line before it.
inline void L2::look_ahead(LineCursor& next, LineStore::Block& block, Touch& at) {
  if (next.at_end()) return;
  at.line = next.line();
  if (!store_->same_block(block, at.line)) block = store_->block_of(at.line);
  at.block = block;
  at.slice = store_->slice_of(block, at.line);
  at.set = store_->set_of(block, at.slice);
  at.bytes = next.bytes();
  at.offset = next.offset();
  LineStore::prefetch(at.set);
  next.advance(at.bytes);
}

// Most lines are there: what they have in common is kept in `turns`.
inline bool L2::touch(Access& access, const Touch& at, LineTurns& turns, unsigned resumed) {
  const unsigned way = store_->find(at.set, at.block);
  if (way == store_->ways()) return allocate(access, at, turns, resumed);
  const LineStore::Entry entry = at.set[way];
  if ((entry & LineStore::kPartial) != 0) return touch_partial(access, at, way, turns, resumed);
  LineStore::use(at.set, way, access.write ? entry | LineStore::kDirty : entry);
  occupy(at, turns);
  if (!access.write && (entry & LineStore::kFilling) != 0) {
    ++turns.merged;
    fills_.join(slices_[at.slice].fill_of(at.line));
  } else {
    ++turns.hits;
  }
  return true;
}

// What was found for lines of the request.
void L2::account(Access& access, const LineTurns& turns) {
  if (turns.bytes == 0) return;  // of none
  (access.write ? statistics_.write_hits : statistics_.read_hits) += turns.hits;
  statistics_.read_merged += turns.merged;
  statistics_.queued += Picoseconds(static_cast<std::int64_t>(turns.queued));
  statistics_.busy += Picoseconds(static_cast<std::int64_t>(turns.busy));
  access.hits += turns.hits + turns.merged;
  access.tail = std::max(access.tail, turns.longest + turns.behind);
  access.ready = std::max(access.ready, turns.latest + turns.behind);
}

// The line has only what was written to it. A read of the rest reads it whole.
bool L2::touch_partial(Access& access, const Touch& at, unsigned way, LineTurns& turns,
                       unsigned resumed) {
  const LineStore::Entry entry = at.set[way], whole = entry & ~LineStore::kPartial;
  if (access.write) {
    LineStore::use(at.set, way, written_.add(at.line, at.offset, at.bytes) ? whole : entry);
  } else if (written_.has(at.line, at.offset, at.bytes)) {
    LineStore::use(at.set, way, entry);
  } else {
    const L2Slice& slice = slices_[at.slice];
    if (slice.has_blocked() && resumed != at.slice) return false;
    if (!slice.has_miss_buffer()) return false;
    written_.forget(at.line);
    LineStore::use(at.set, way, whole | LineStore::kFilling);
    ++statistics_.read_misses;
    ++access.misses;
    fetch(at, occupy(at, turns));
    return true;
  }
  occupy(at, turns);
  ++turns.hits;
  return true;
}

// A place for the line, and its read if it needs one; false if the request has to wait. Requests
// that wait at a slice have the first claim.
bool L2::allocate(Access& access, const Touch& at, LineTurns& turns, unsigned resumed) {
  const L2Slice& slice = slices_[at.slice];
  if (slice.has_blocked() && resumed != at.slice) return false;
  if (!access.write && !slice.has_miss_buffer()) return false;
  auto* const set = at.set;
  const unsigned way = store_->victim(set);
  if (way == store_->ways()) return false;
  if ((set[way] & LineStore::kDirty) != 0) {
    if (!slice.has_write_buffer()) return false;
    make_room(at, set[way]);
  }
  ++(access.write ? statistics_.write_misses : statistics_.read_misses);
  ++access.misses;
  LineStore::Entry state = LineStore::kFilling;
  if (access.write) {
    const bool whole = at.bytes == config_.line;
    if (!whole) written_.add(at.line, at.offset, at.bytes);
    state = whole ? LineStore::kDirty : LineStore::kDirty | LineStore::kPartial;
  }
  LineStore::use(set, way, at.block.key | state);
  const SimTime start = occupy(at, turns);
  if (!access.write) fetch(at, start);
  return true;
}

// The dirty line `entry` of the set goes.
void L2::make_room(const Touch& at, LineStore::Entry entry) {
  const Line line = store_->line_of(at.block, at.slice, entry);
  if ((entry & LineStore::kPartial) != 0) written_.forget(line);
  slices_[at.slice].begin_write_back();
  ++statistics_.write_backs;
  write_backs_.evict(line);
}

// The request waits for the line, whose turn in its slice begins at `start`.
void L2::fetch(const Touch& at, SimTime start) {
  const SimTime lag = start - sim_now() + fill_;
  slices_[at.slice].begin_miss(at.line, fills_.read(at.block, at.line, lag));
  ++statistics_.fetches;
}

// Those that wait at a slice go on, in their order, as far as they can.
void L2::resume(unsigned where) {
  L2Slice& slice = slices_[where];
  while (slice.has_blocked()) {
    const std::uint32_t number = slice.take_blocked();
    --waiting_;
    const SimTime waited = sim_now() - accesses_[number].blocked;
    statistics_.blocked += Picoseconds(static_cast<std::int64_t>(waited));
    accesses_[number].hbm_until = sim_now();
    if (walk(number, where) == where) return;
  }
}

// Those that wait at the slices of these lines.
void L2::resume(const HbmTransfer& transfer, const LineStore::Block& first) {
  if (waiting_ == 0) return;
  each_line(transfer, first, [&](const LineStore::Block& block, Line line) {
    resume(store_->slice_of(block, line));
  });
}

void L2::ready(std::uint32_t number) {
  sim_.agenda.at<&L2::answer>(std::max(accesses_[number].ready, sim_now()), *this, number);
}

void L2::answer(std::uint64_t number) {
  const Access& access = accesses_[static_cast<std::uint32_t>(number)];
  auto& trans = *access.trans;
  const unsigned client = access.client;
  auto& info = Transaction::of(trans);
  info.hbm_until = access.hbm_until;
  info.l2_hits = access.hits;
  info.l2_misses = access.misses;
  trace(access);
  accesses_.give_back(static_cast<std::uint32_t>(number));
  if (info.posted) {
    trans.release();
    return;
  }
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  client_sockets[client]->nb_transport_bw(trans, phase, delay);
}

void L2::send(unsigned client, tlm::tlm_command command, const HbmTransfer& transfer,
              std::uint32_t number) {
  auto& trans = sim_.pool.allocate_timing(command, transfer.first << line_shift_,
                                          transfer.lines << line_shift_);
  auto& info = Transaction::of(trans);
  info.context = number;
  info.cause = transfer.cause;
  info.issued = transfer.sent;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  hbm_sockets[client]->nb_transport_fw(trans, phase, delay);
}

void L2::filled(std::uint64_t argument) {
  const auto number = static_cast<std::uint32_t>(argument);
  const HbmTransfer transfer = fills_[number].transfer;
  const LineStore::Block first = fills_[number].block;
  const bool spoilt = fills_[number].spoilt;
  trace(transfer, platform::Activity::kL2Fill);
  each_line(transfer, first,
            [&](const LineStore::Block& block, Line line) { line_filled(block, line, spoilt); });
  fills_.finish(number, [this, spoilt](std::uint32_t waiting) {
    Access& access = accesses_[waiting];
    access.ready = std::max(access.ready, sim_now() + access.tail);
    access.hbm_until = sim_now();
    if (spoilt) {
      access.trans->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      Transaction::of(*access.trans).completion = Completion::kPoisoned;
    }
    if (--access.fills == 0 && access.rest.at_end()) ready(waiting);
  });
  resume(transfer, first);
}

void L2::line_filled(const LineStore::Block& block, Line line, bool spoilt) {
  const unsigned slice = store_->slice_of(block, line);
  auto* const set = store_->set_of(block, slice);
  const unsigned way = store_->find(set, block);
  set[way] &= ~LineStore::kFilling;
  if (spoilt) store_->drop(set, way);
  slices_[slice].end_miss(line);
}

void L2::finish_write_back(std::uint32_t number) {
  const HbmTransfer transfer = write_backs_.finish(number);
  const auto first = store_->block_of(transfer.first);
  trace(transfer, platform::Activity::kL2WriteBack);
  each_line(transfer, first, [&](const LineStore::Block& block, Line line) {
    slices_[store_->slice_of(block, line)].end_write_back();
  });
  resume(transfer, first);
}

inline void L2::trace(const Access& access) const {
  const auto activity = access.write ? platform::Activity::kL2Write : platform::Activity::kL2Read;
  if (!sim_.recorder.hears(activity) || !access.trans->is_response_ok()) return;
  sim_.emit(track_, activity, access.arrival - noc_, sim_now(),
            Transaction::of(*access.trans).cause, access.trans->get_data_length(),
            std::uint64_t{access.misses} << 32 | access.hits);
}

inline void L2::trace(const HbmTransfer& transfer, platform::Activity activity) const {
  sim_.emit(track_, activity, transfer.sent, sim_now(), transfer.cause,
            Bytes{transfer.lines} << line_shift_, transfer.lines);
}

void L2::invalidate_all() {
  if (!used_) return;
  store_->clear(0, ~Line{0});
  written_.forget(0, ~Line{0});
  used_ = std::any_of(slices_.begin(), slices_.end(),
                      [](const L2Slice& slice) { return slice.has_misses(); });
}

void L2::invalidate(std::uint64_t address, Bytes length) {
  if (!used_) return;
  const Line first = address >> line_shift_, last = (address + length - 1) >> line_shift_;
  store_->clear(first, last);
  written_.forget(first, last);
}

void L2::bytes_written(std::uint64_t address, Bytes length) {
  if (!used_ || length == 0) return;
  const Line last = (address + length - 1) >> line_shift_;
  for (Line line = address >> line_shift_; line <= last; ++line) {
    const auto block = store_->block_of(line);
    auto* const set = store_->set_of(block, store_->slice_of(block, line));
    const unsigned way = store_->find(set, block);
    if (way == store_->ways() || (set[way] & LineStore::kFilling) != 0) continue;
    const bool dirty = (set[way] & LineStore::kDirty) != 0;
    if ((set[way] & LineStore::kPartial) != 0) written_.forget(line);
    store_->drop(set, way);
    ++statistics_.snooped;
    const std::uint64_t begin = line << line_shift_;
    const bool partly = address > begin || address + length < begin + config_.line;
    if (!dirty || !partly) continue;
    // What was dirty beside their bytes has to be written, but not inside the call of who writes.
    slices_[store_->slice_of(block, line)].begin_write_back();
    ++statistics_.write_backs;
    if (write_backs_.snoop(line)) sim_.agenda.at<&L2::send_snooped>(sim_now(), *this);
  }
}

}  // namespace npu::model
