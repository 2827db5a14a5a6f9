// SPDX-License-Identifier: Apache-2.0
#include "model/ats/host_access.hpp"

#include <algorithm>
#include <cstring>

#include "model/core/bus_page.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

void HostAccess::begin(tlm::tlm_generic_payload& trans, std::uint32_t pasid) {
  std::uint16_t number = 0;
  while (number < accesses_.size() && accesses_[number].trans != nullptr) ++number;
  if (number == accesses_.size()) accesses_.emplace_back();
  auto& access = accesses_[number];
  const std::uint16_t generation = access.generation;
  access = {};
  access.generation = generation;
  access.trans = &trans;
  access.pasid = pasid;
  access.write = trans.is_write();
  if (!access.write) {
    to_read_.push_back(number);
    return read_on();
  }
  to_write_.push_back(number);
  if (writing_) return;
  writing_ = true;
  sim_.agenda.at<&HostAccess::write_on>(sim_now(), *this, 0);
}

// The next bytes of it, none beyond a row or a 4 KiB border.
tlm::tlm_generic_payload& HostAccess::next_piece(std::uint16_t number) {
  auto& access = accesses_[number];
  auto& trans = *access.trans;
  const auto& info = Transaction::of(trans);
  const Bytes row_bytes = trans.get_data_length() / std::max<unsigned>(info.rows, 1);
  const Bytes in_row = access.issued % row_bytes;
  const std::uint64_t address =
      trans.get_address() + access.issued / row_bytes * Bytes{info.pitch} + in_row;
  const Bytes length = std::min(row_bytes - in_row, kBusPage - address % kBusPage);
  const bool has_data = trans.get_data_ptr() != nullptr;
  auto& piece = has_data ? buffers_.allocate(trans.get_command(), address, length)
                         : sim_.pool.allocate_timing(trans.get_command(), address,
                                                     static_cast<unsigned>(length));
  if (has_data && access.write) {
    std::memcpy(piece.get_data_ptr(), trans.get_data_ptr() + access.issued, length);
  }
  auto& piece_info = Transaction::of(piece);
  piece_info.posted = access.write;
  piece_info.translated = access.pasid != 0;
  piece_info.function = static_cast<std::uint8_t>(function_of(info.vmid));
  piece_info.pasid = access.pasid;
  piece_info.cause = info.cause;
  piece_info.issued = sim_now();
  piece_info.context =
      Tag{number, access.generation, static_cast<std::uint32_t>(access.issued)}.pack();
  access.issued += length;
  return piece;
}

// --- Reads ------------------------------------------------------------------------------------

void HostAccess::read_on() {
  while (reads_ < most_reads_ && !to_read_.empty()) {
    const auto number = to_read_.front();
    auto& piece = next_piece(number);
    ++accesses_[number].outstanding;
    ++reads_;
    if (all_issued(accesses_[number])) to_read_.pop_front();
    auto delay = sc_core::SC_ZERO_TIME;
    send_(piece, delay);
  }
}

void HostAccess::answered(tlm::tlm_generic_payload& piece) {
  const auto& info = Transaction::of(piece);
  const auto tag = Tag::unpack(info.context);
  auto& access = accesses_[tag.access];
  --reads_;
  if (access.trans != nullptr && access.generation == tag.generation) {
    --access.outstanding;
    auto* const to = access.trans->get_data_ptr();
    if (info.completion != Completion::kSuccess) {
      access.completion = info.completion;
      if (!all_issued(access)) {  // the rest is not asked for
        access.issued = access.trans->get_data_length();
        to_read_.erase(std::find(to_read_.begin(), to_read_.end(), tag.access));
      }
    } else if (to != nullptr) {
      std::memcpy(to + tag.offset, piece.get_data_ptr(), piece.get_data_length());
    }
    if (all_issued(access) && access.outstanding == 0) end(tag.access);
  }
  piece.release();
  read_on();
}

// --- Writes -----------------------------------------------------------------------------------

// One piece, and the next when the link has taken it.
void HostAccess::write_on(std::uint64_t) {
  writing_ = !to_write_.empty();
  if (!writing_) return;
  const auto number = to_write_.front();
  auto& piece = next_piece(number);
  auto delay = sc_core::SC_ZERO_TIME;
  const bool refused = send_(piece, delay) == tlm::TLM_COMPLETED;
  const SimTime taken = sim_now() + delay.value();
  auto& access = accesses_[number];
  if (refused) {
    piece.release();
    access.completion = Completion::kCompleterAbort;
    access.issued = access.trans->get_data_length();
  }
  if (all_issued(access)) {
    to_write_.pop_front();
    sim_.agenda.at<&HostAccess::left>(taken, *this, Tag{number, access.generation, 0}.pack());
  }
  sim_.agenda.at<&HostAccess::write_on>(taken, *this, 0);
}

void HostAccess::left(std::uint64_t packed) {
  const auto tag = Tag::unpack(packed);
  const auto& access = accesses_[tag.access];
  if (access.trans != nullptr && access.generation == tag.generation) end(tag.access);
}

// --- The end ----------------------------------------------------------------------------------

void HostAccess::end(std::uint16_t number) {
  auto& access = accesses_[number];
  auto& trans = *access.trans;
  const bool ok = access.completion == Completion::kSuccess;
  Transaction::of(trans).completion = access.completion;
  trans.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  access.trans = nullptr;
  ++access.generation;
  ended_(trans);
}

void HostAccess::reset(unsigned function) {
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    auto& access = accesses_[i];
    const auto number = static_cast<std::uint16_t>(i);
    if (access.trans == nullptr) continue;
    auto& trans = *access.trans;
    auto& info = Transaction::of(trans);
    if (function_of(info.vmid) != function) continue;
    for (auto* const queue : {&to_read_, &to_write_}) {
      queue->erase(std::remove(queue->begin(), queue->end(), number), queue->end());
    }
    access.trans = nullptr;
    ++access.generation;
    info.completion = Completion::kCompleterAbort;
    trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    sim_.agenda.at<&HostAccess::answer>(sim_now(), *this, reinterpret_cast<std::uintptr_t>(&trans));
  }
}

void HostAccess::answer(std::uint64_t trans) {
  ended_(*reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(trans)));
}

}  // namespace npu::model
