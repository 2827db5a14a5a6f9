// SPDX-License-Identifier: Apache-2.0
#include "model/dma/data_mover.hpp"

#include <algorithm>
#include <cstring>

#include "model/core/bus_page.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

using platform::Activity;

// Two of the largest pieces at least, so that a whole one can wait while the next arrives.
Bytes buffer_size(const ChipConfig& config) {
  const Bytes piece = std::max({kBusPage, config.dma.device_chunk, config.link.max_read_request});
  return std::max(align_down(config.dma.buffer, piece), 2 * piece);
}

std::uint32_t power_of_two_above(Bytes v) {
  return std::uint32_t{1} << ceil_log2(v);
}

}  // namespace

DataMover::DataMover(DmaShared& shared, std::uint8_t unit, std::uint32_t track, Listener& listener)
    : shared_(shared),
      unit_(unit),
      track_(track),
      listener_(listener),
      read_request_(std::min(shared.config.link.max_read_request, kBusPage)),
      chunk_(shared.config.dma.device_chunk),
      buffer_size_(buffer_size(shared.config)),
      // As much as of reads, but no more than keeps the transmitter busy: a backlog would delay
      // everything else that wants to leave the card.
      post_window_(std::clamp(shared.config.dma.max_outstanding_reads * read_request_, kBusPage,
                              4 * kBusPage)),
      turn_overlap_(static_cast<unsigned>(buffer_size_ / chunk_ / 32)),
      // Not zeroed: a large buffer costs host memory only where data passed through it.
      buffer_(new unsigned char[buffer_size_]),
      places_(power_of_two_above(2 * buffer_size_ / std::min(chunk_, read_request_) + 2)),
      reads_(new Read[places_]),
      writes_(new Write[places_]),
      // One command: whole pages but for its first and last write.
      taken_(power_of_two_above(post_window_ / kBusPage + 3)) {}

void DataMover::start(const DmaRequest& request) {
  sc_assert(!running_);
  running_ = true;
  operation_ = request.operation;
  source_ = request.source + (request.has_source_address() ? request.done : 0);
  destination_ = request.destination + request.done;
  size_ = request.size - request.done;
  cause_ = request.cause;
  requested_ = arrived_ = write_issued_ = written_ = 0;
  skew_ = source_ % (host_source() ? read_request_ : chunk_);
  writing_ = paused_ = stopped_ = false;
  space_ = request.space;
  reduction_ = {request.reduction, request.element};
  agent_ = {request.function, request.pasid};
  fault_ = {};
  missing_.reset();
  first_unread_ = first_unwritten_ = size_;
  if (fills()) prepare_fill(static_cast<std::uint32_t>(source_));
  if (request.read) take_up(request);
  pump();
}

// Of a request that was begun before: as if the bytes had just been read.
void DataMover::take_up(const DmaRequest& request) {
  requested_ = arrived_ = request.read->size();
  for (Bytes i = 0; i < arrived_; ++i) *at(i) = (*request.read)[static_cast<std::size_t>(i)];
}

void DataMover::note_progress(DmaRequest& request) const {
  const Bytes done = std::min(written_, first_unwritten_);
  const Bytes read = fills() ? done : std::min(arrived_, first_unread_);
  auto bytes = std::make_shared<std::vector<unsigned char>>();
  for (Bytes i = done; i < read; ++i) bytes->push_back(*at(i));
  request.read = bytes->empty() ? nullptr : std::move(bytes);
  request.done += done;
  request.replayed = true;
}

// Nothing is read: as much of the buffer as the transfer uses holds the pattern.
void DataMover::prepare_fill(std::uint32_t pattern) {
  skew_ = 0;
  requested_ = arrived_ = size_;
  std::memcpy(buffer_.get(), &pattern, sizeof pattern);
  for (Bytes i = sizeof pattern, end = std::min(size_, buffer_size_); i < end; i *= 2) {
    std::memcpy(buffer_.get() + i, buffer_.get(), std::min(i, end - i));
  }
}

void DataMover::reset() {
  epoch_ = (epoch_ + 1) & 0xFF'FFFF;
  running_ = wake_pending_ = paused_ = path_awaited_ = false;
  turn_ = UINT64_MAX;
  read_head_ = read_tail_ = write_head_ = write_tail_ = taken_head_ = taken_tail_ = 0;
  posted_ = reads_in_flight_ = writes_in_flight_ = 0;
}

// Pieces of a read are aligned in the buffer as they are at the source, so none wraps.
unsigned char* DataMover::at(Bytes position) const {
  return buffer_.get() + (skew_ + position) % buffer_size_;
}

// The first one counts; where accesses pass each other, that of the lowest address.
void DataMover::fail(const CommandFault& fault) {
  const bool lower = shared_.sim.weakest && fault.address < fault_.address;
  if (!fault_.failed() || lower) fault_ = fault;
}

void DataMover::miss(const tlm::tlm_generic_payload& trans) {
  if (!missing_) missing_ = MissingPage{trans.get_address(), trans.is_write()};
}

CommandFault DataMover::device_access_fault(tlm::tlm_generic_payload& trans) const {
  return {device_fault(Transaction::of(trans).completion), trans.get_address(), space_,
          trans.is_write()};
}

// While posting is paused the engine has asked for a translation: its answer ends the transfer.
bool DataMover::finished() const {
  if (paused_) return false;
  if (!ending()) return written_ == size_;
  return reads_in_flight_ == 0 && writes_in_flight_ == 0 && posted_ == 0;
}

void DataMover::pump() {
  reclaim();
  if (!ending()) {
    if (turns()) take_turn();
    issue_reads();
    if (host_target()) {
      issue_posted_writes();
    } else {
      issue_device_writes();
    }
  }
  if (finished()) {
    running_ = false;
    read_head_ = read_tail_;
    write_head_ = write_tail_;
    if (missing_ && !fault_.failed() && !stopped_) {
      listener_.page_missing(*missing_);
    } else {
      listener_.data_done(fault_);
    }
  } else {
    arm_wake();
  }
}

// --- reading -------------------------------------------------------------------------------

Bytes DataMover::next_read() const {
  const Bytes piece = host_source() ? read_request_ : chunk_;
  return std::min(size_ - requested_, piece - (source_ + requested_) % piece);
}

bool DataMover::may_read(Bytes length) const {
  if (turns() && writing_) return false;
  if (host_source() && reads_in_flight_ >= shared_.config.dma.max_outstanding_reads) return false;
  return requested_ + length - written_ <= buffer_size_ && read_tail_ - read_head_ < places_;
}

void DataMover::issue_reads() {
  while (requested_ < size_) {
    const Bytes length = next_read();
    if (!may_read(length) || (!host_source() && !path_is_free())) return;
    if (!may_send(host_source() ? SharedResource::kLinkToCard : SharedResource::kHbm, length)) {
      return;
    }
    issue_read(length);
  }
}

void DataMover::issue_read(Bytes length) {
  const std::uint32_t slot = read_tail_++ & (places_ - 1);
  reads_[slot] = {requested_, requested_ + length, false};
  ++reads_in_flight_;
  const RequestTag tag{unit_, RequestTag::kRead, epoch_, slot};
  const std::uint64_t address = source_ + requested_;
  unsigned char* const data = prefetches() ? nullptr : at(requested_);
  requested_ += length;
  if (host_source()) {
    shared_.ports.read_host(tag, agent_, address, length, cause_);
  } else {
    take_path(length);
    shared_.ports.read_device(tag, space_, address, data, length, cause_);
  }
}

void DataMover::read_done(std::uint32_t slot, tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  auto& read = reads_[slot];
  --reads_in_flight_;
  read.done = true;
  shared_.sim.emit(track_, Activity::kDataRead, info.issued, sim_now(), cause_,
                   read.end - read.begin);
  if (info.completion == Completion::kPageFault) {
    miss(trans);
    first_unread_ = std::min(first_unread_, read.begin);
  } else if (info.completion != Completion::kSuccess) {
    fail(host_source() ? CommandFault{host_fault(info.completion), trans.get_address(), 0, false}
                       : device_access_fault(trans));
  } else if (host_source()) {
    std::memcpy(at(read.begin), trans.get_data_ptr(), read.end - read.begin);
  }
  const auto mask = places_ - 1;
  while (read_head_ != read_tail_ && reads_[read_head_ & mask].done) {
    arrived_ = reads_[read_head_++ & mask].end;
  }
  if (prefetches()) write_issued_ = written_ = std::min(arrived_, first_unread_);
  pump();
}

// --- writing to device memory --------------------------------------------------------------

// The next piece that can be written: a chunk of the destination that has arrived whole.
Bytes DataMover::next_device_write() const {
  const std::uint64_t address = destination_ + write_issued_;
  const Bytes piece = std::min(size_ - write_issued_, chunk_ - address % chunk_);
  if (piece == 0 || write_issued_ + piece > arrived_) return 0;
  return std::min(piece, buffer_size_ - (skew_ + write_issued_) % buffer_size_);
}

void DataMover::issue_device_writes() {
  if (turns() && !writing_) return;
  while (const Bytes length = next_device_write()) {
    if (write_tail_ - write_head_ == places_ || !path_is_free()) return;
    if (!may_send(SharedResource::kHbm, length)) return;
    const Bytes position = write_issued_;
    write_issued_ += length;
    ++writes_in_flight_;
    take_path(length);
    const std::uint32_t slot = write_tail_++ & (places_ - 1);
    writes_[slot] = {position, write_issued_, false};
    const RequestTag tag{unit_, RequestTag::kWrite, epoch_, slot};
    shared_.ports.write_device(tag, reduction_, space_, destination_ + position, at(position),
                               length, cause_);
  }
}

// Writes may be done out of order, and one that waits for its translation still needs its bytes.
void DataMover::write_done(std::uint32_t slot, tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  --writes_in_flight_;
  writes_[slot].done = true;
  while (write_head_ != write_tail_ && writes_[write_head_ & (places_ - 1)].done) {
    written_ = writes_[write_head_++ & (places_ - 1)].end;
  }
  shared_.sim.emit(track_, Activity::kDataWrite, info.issued, sim_now(), cause_,
                   trans.get_data_length());
  if (info.completion == Completion::kPageFault) {
    miss(trans);
    first_unwritten_ = std::min(first_unwritten_, writes_[slot].begin);
  } else if (info.completion != Completion::kSuccess) {
    fail(device_access_fault(trans));
  }
  pump();
}

// D2D. The other kind begins when few of this kind are left, so that channels that are done early
// do not stand idle.
void DataMover::take_turn() {
  if (!writing_) {
    const bool all_issued =
        requested_ == size_ || requested_ + next_read() - written_ > buffer_size_;
    writing_ = all_issued && reads_in_flight_ <= turn_overlap_;
  } else {
    const bool all_issued = arrived_ == requested_ && next_device_write() == 0;
    if (all_issued && requested_ < size_ && writes_in_flight_ <= turn_overlap_) writing_ = false;
  }
}

// --- writing to the host -------------------------------------------------------------------

bool DataMover::pause_posting() {
  const bool is_posting = running_ && host_target() && write_issued_ < size_;
  paused_ = is_posting && !ending();
  return paused_;
}

void DataMover::resume() {
  paused_ = false;
  pump();
}

void DataMover::abort(const CommandFault& fault) {
  paused_ = false;
  fail(fault);
  pump();
}

void DataMover::stop() {
  if (!running_) return;
  stopped_ = true;
  pump();
}

void DataMover::issue_posted_writes() {
  while (!paused_ && !ending() && write_issued_ < arrived_) {
    const std::uint64_t address = destination_ + write_issued_;
    const Bytes length = std::min(size_ - write_issued_, kBusPage - address % kBusPage);
    if (write_issued_ + length > arrived_ || !can_post(length)) return;
    if (!may_send(SharedResource::kLinkToHost, length)) return;
    post(length);
  }
}

void DataMover::post(Bytes length) {
  const std::uint64_t address = destination_ + write_issued_;
  auto& trans = shared_.ports.make_posted_write(agent_, address, length, cause_);
  Transaction::of(trans).relaxed = true;
  const Bytes to_wrap = buffer_size_ - (skew_ + write_issued_) % buffer_size_;
  const Bytes first = std::min(length, to_wrap);
  std::memcpy(trans.get_data_ptr(), at(write_issued_), first);
  std::memcpy(trans.get_data_ptr() + first, buffer_.get(), length - first);
  const auto taken = shared_.ports.post(trans);
  if (!taken) return fail({abi::FaultCode::kBusMasterDisabled, address, 0, true});
  write_issued_ += length;
  shared_.sim.emit(track_, Activity::kDataWrite, sim_now(), *taken, cause_, length);
  if (*taken <= sim_now()) {
    written_ += length;
    return;
  }
  taken_[taken_tail_++ & (taken_.size() - 1)] = {*taken, length};
  posted_ += length;
}

void DataMover::reclaim() {
  while (taken_head_ != taken_tail_) {
    const auto& oldest = taken_[taken_head_ & (taken_.size() - 1)];
    if (oldest.when > sim_now()) return;
    posted_ -= oldest.bytes;
    written_ += oldest.bytes;
    ++taken_head_;
  }
}

// Nothing tells when the transmitter has taken a write: look again then.
void DataMover::arm_wake() {
  if (wake_pending_ || taken_head_ == taken_tail_) return;
  const std::uint32_t next = write_issued_ == size_ ? taken_tail_ - 1 : taken_head_;
  wake_pending_ = true;
  shared_.sim.agenda.at<&DataMover::wake>(taken_[next & (taken_.size() - 1)].when, *this, epoch_);
}

// On a divided card: whether it is its function's turn. If not, it looks again when it may be.
bool DataMover::may_send(SharedResource resource, Bytes length) {
  if (!shared_.bandwidth.divided()) return true;
  const SimTime when = shared_.bandwidth.admit(resource, agent_.function, length);
  if (when <= sim_now()) return true;
  if (when < turn_) {
    turn_ = when;
    shared_.sim.agenda.at<&DataMover::turn_came>(when, *this, epoch_);
  }
  return false;
}

void DataMover::turn_came(std::uint64_t epoch) {
  if (epoch != epoch_ || turn_ > sim_now()) return;
  turn_ = UINT64_MAX;
  if (running_) pump();
}

// If the engine's path to device memory is not, it looks again when it is.
bool DataMover::path_is_free() {
  if (path_free_ <= sim_now()) return true;
  if (!path_awaited_) {
    path_wanted_ = sim_now();
    shared_.sim.agenda.at<&DataMover::path_freed>(path_free_, *this, epoch_);
  }
  path_awaited_ = true;
  return false;
}

void DataMover::take_path(Bytes length) {
  const auto rate = shared_.config.dma.engine_rate;
  if (rate != 0) path_free_ = sim_now() + ceil_div(length * 1'000'000'000'000, rate);
}

void DataMover::path_freed(std::uint64_t epoch) {
  if (epoch != epoch_) return;
  path_awaited_ = false;
  if (!running_) return;
  shared_.sim.emit(track_, Activity::kEnginePath, path_wanted_, sim_now(), cause_);
  pump();
}

void DataMover::wake(std::uint64_t epoch) {
  if (epoch != epoch_) return;
  wake_pending_ = false;
  if (running_) pump();
}

}  // namespace npu::model
