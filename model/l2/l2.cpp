// SPDX-License-Identifier: Apache-2.0
#include "model/l2/l2.hpp"

#include <algorithm>

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
      noc_(ticks(config.noc)),
      hit_(ticks(config.hit)),
      write_(ticks(config.write)),
      fill_(ticks(config.fill)) {
  for (unsigned i = 0; i < clients; ++i) {
    client_sockets[i].register_nb_transport_fw(this, &L2::request, static_cast<int>(i));
    hbm_sockets[i].register_nb_transport_bw(this, &L2::response, static_cast<int>(i));
  }
  if (config.size == 0) return;
  store_.emplace(config);
  line_shift_ = static_cast<unsigned>(__builtin_ctzll(config.line));
  line_time_ = time_of(config.line);
  slices_.resize(config.slices);
  for (auto& slice : slices_) slice.misses.reserve(config.miss_buffers);
}

SimTime L2::time_of(Bytes bytes) const {
  if (config_.slice_per_clock == 0) return 0;
  return ceil_div(ceil_div(bytes, config_.slice_per_clock) * 1'000'000'000'000, config_.clock_hz);
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
    return client_sockets[static_cast<unsigned>(client)]->nb_transport_bw(trans, phase, delay);
  }
  const auto transfer = static_cast<std::uint32_t>(Transaction::of(trans).context);
  const bool read = trans.is_read();
  transfers_[transfer].spoilt = Transaction::of(trans).completion == Completion::kPoisoned;
  trans.release();
  if (read) {
    sim_.agenda.at<&L2::filled>(sim_now() + transfers_[transfer].lag, *this, transfer);
  } else {
    finish_write_back(transfer);
  }
  return tlm::TLM_COMPLETED;
}

std::uint32_t L2::new_access(unsigned client, tlm::tlm_generic_payload& trans) {
  if (free_access_ == kNone) {
    free_access_ = static_cast<std::uint32_t>(accesses_.size());
    accesses_.push_back({});
    accesses_.back().next = kNone;
  }
  const std::uint32_t number = free_access_;
  Access& access = accesses_[number];
  free_access_ = access.next;
  const auto& info = Transaction::of(trans);
  const std::uint64_t address = trans.get_address();
  const std::uint16_t rows = std::max<std::uint16_t>(info.rows, 1);
  const bool rows_are_alike = rows == 1 || trans.get_data_length() % rows == 0;
  sc_assert(rows_are_alike);
  access.trans = &trans;
  access.row = access.address = address;
  access.end = address + trans.get_data_length() / rows;
  access.arrival = sim_now() + noc_;
  access.ready = access.tail = 0;
  access.fills = access.hits = access.misses = 0;
  access.rows = rows;
  access.client = static_cast<std::uint16_t>(client);
  access.write = trans.is_write();
  return number;
}

void L2::accept(unsigned client, tlm::tlm_generic_payload& trans) {
  sc_assert(trans.get_byte_enable_ptr() == nullptr);
  const unsigned length = trans.get_data_length();
  const auto number = new_access(client, trans);
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
  used_ = true;  // also by what waited when everything was invalidated
  run_ = joined_ = kNone;
  const std::uint64_t piece = access.end - access.row;
  Touch at;
  at.line = access.address >> line_shift_;
  at.block = store_->block_of(at.line);
  unsigned blocked = kNone;
  while (access.rows != 0) {
    at.line = access.address >> line_shift_;
    if (!store_->same_block(at.block, at.line)) at.block = store_->block_of(at.line);
    at.slice = store_->slice_of(at.block, at.line);
    at.bytes = std::min(access.end, (at.line + 1) << line_shift_) - access.address;
    if (!touch(number, at, resumed)) {
      blocked = at.slice;
      break;
    }
    access.address += at.bytes;
    if (access.address == access.end && --access.rows != 0) {
      access.row += Transaction::of(*access.trans).pitch;
      access.address = access.row;
      access.end = access.row + piece;
    }
  }
  send_fetch(access);
  send_write_backs(access.client, Transaction::of(*access.trans).cause, victims_);
  if (blocked != kNone) {
    enqueue(number, blocked, blocked == resumed);
  } else if (access.fills == 0) {
    ready(number);
  }
  return blocked;
}

bool L2::touch(std::uint32_t number, const Touch& at, unsigned resumed) {
  auto* const set = store_->set_of(at.block, at.slice);
  const unsigned way = store_->find(set, at.block);
  if (way == store_->ways()) return allocate(number, at, set, resumed);
  const LineStore::Entry entry = set[way];
  LineStore::use(set, way, accesses_[number].write ? entry | LineStore::kDirty : entry);
  hit(number, at, entry);
  return true;
}

void L2::hit(std::uint32_t number, const Touch& at, LineStore::Entry entry) {
  Access& access = accesses_[number];
  const bool waits = !access.write && (entry & LineStore::kFilling) != 0;
  ++(access.write ? statistics_.write_hits
     : waits      ? statistics_.read_merged
                  : statistics_.read_hits);
  ++access.hits;
  occupy(access, at);
  if (waits) wait_for(number, transfer_of(at));
}

// The line's turn in its slice; when it begins.
SimTime L2::occupy(Access& access, const Touch& at) {
  Slice& slice = slices_[at.slice];
  const SimTime earliest = std::max(access.arrival, sim_now());
  const SimTime start = std::max(earliest, slice.free);
  const SimTime time = at.bytes == config_.line ? line_time_ : time_of(at.bytes);
  slice.free = start + time;
  statistics_.queued += Picoseconds(static_cast<std::int64_t>(start - earliest));
  statistics_.busy += Picoseconds(static_cast<std::int64_t>(time));
  const SimTime tail = time + (access.write ? write_ : hit_) + noc_;
  access.tail = std::max(access.tail, tail);
  access.ready = std::max(access.ready, start + tail);
  return start;
}

void L2::ready(std::uint32_t number) {
  sim_.agenda.at<&L2::answer>(std::max(accesses_[number].ready, sim_now()), *this, number);
}

void L2::answer(std::uint64_t number) {
  Access& access = accesses_[number];
  auto& trans = *access.trans;
  const unsigned client = access.client;
  if (sim_.recorder.enabled()) trace(access);
  access.next = free_access_;
  free_access_ = static_cast<std::uint32_t>(number);
  if (Transaction::of(trans).posted) {
    trans.release();
    return;
  }
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  client_sockets[client]->nb_transport_bw(trans, phase, delay);
}

void L2::trace(const Access& access) const {
  if (!access.trans->is_response_ok()) return;
  sim_.emit(track_, access.write ? platform::Activity::kL2Write : platform::Activity::kL2Read,
            access.arrival - noc_, sim_now(), Transaction::of(*access.trans).cause,
            access.trans->get_data_length(), std::uint64_t{access.misses} << 32 | access.hits);
}

void L2::trace(const Transfer& transfer, platform::Activity activity) const {
  sim_.emit(track_, activity, transfer.sent, sim_now(), transfer.cause,
            Bytes{transfer.lines} << line_shift_, transfer.lines);
}

void L2::invalidate_all() {
  if (!used_) return;
  store_->clear(0, ~Line{0});
  used_ = std::any_of(slices_.begin(), slices_.end(),
                      [](const Slice& slice) { return !slice.misses.empty(); });
}

void L2::invalidate(std::uint64_t address, Bytes length) {
  if (used_) store_->clear(address >> line_shift_, (address + length - 1) >> line_shift_);
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
    store_->drop(set, way);
    ++statistics_.snooped;
    const std::uint64_t begin = line << line_shift_;
    if (dirty && (address > begin || address + length < begin + config_.line)) snooped_dirty(line);
  }
}

// What was dirty beside their bytes has to be written. Nobody can be made to wait for that.
void L2::snooped_dirty(Line line) {
  ++slices_[slice_of(line)].write_backs;
  ++statistics_.write_backs;
  if (snooped_.empty()) sim_.agenda.at<&L2::send_snooped>(sim_now(), *this);
  snooped_.push_back(line);
}

// Not inside the call of who writes.
void L2::send_snooped(std::uint64_t) {
  send_write_backs(0, 0, snooped_);
}

}  // namespace npu::model
