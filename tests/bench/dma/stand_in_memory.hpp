// SPDX-License-Identifier: Apache-2.0
// A memory that answers after a fixed latency, moves the bytes as late (host) or as early (device)
// as the socket's rules allow, and keeps a record of what it was asked.
#pragma once

#include <sys/mman.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <functional>
#include <new>
#include <vector>

#include "model/core/simulation.hpp"
#include "tests/bench/support/phases.hpp"

namespace npu::test {

struct MemoryRequest {
  model::SimTime when;
  tlm::tlm_command command;
  model::TransactionKind kind;
  std::uint64_t address;
  unsigned length;
  bool posted;
  std::uint64_t cause;
  unsigned char first;  // byte of a write
  model::SpaceId vmid;
};

// Zeroed, and costing nothing until touched, also with a sanitizer, whose calloc() writes to the
// shadow of it all.
class LazyBytes {
 public:
  explicit LazyBytes(std::size_t size)
      : data_(
            static_cast<unsigned char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
        size_(size) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~LazyBytes() { munmap(data_, size_); }
  LazyBytes(const LazyBytes&) = delete;
  LazyBytes& operator=(const LazyBytes&) = delete;
  unsigned char* data() const { return data_; }
  std::size_t size() const { return size_; }
  unsigned char& operator[](std::size_t i) const { return data_[i]; }

 private:
  unsigned char* data_;
  std::size_t size_;
};

class StandInMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<StandInMemory> socket{"socket"};
  LazyBytes bytes;
  std::vector<MemoryRequest> seen;
  bool keep_record = true;
  model::SimTime latency = 0;
  model::SimTime taken_after = 0;  // posted writes: the transmitter's time
  unsigned outstanding = 0, most_outstanding = 0;
  bool move_late = false;  // bytes move at the response
  bool answer = true;      // false: requests are kept and never answered
  std::vector<tlm::tlm_generic_payload*> kept;
  // Decides how a request ends; by default inside `bytes` succeeds.
  std::function<model::Completion(tlm::tlm_generic_payload&)> verdict;

  StandInMemory(const sc_core::sc_module_name& name, model::Simulation& sim, std::size_t size)
      : sc_module(name), bytes(size), sim_(sim) {
    socket.register_nb_transport_fw(this, &StandInMemory::request);
    socket.register_transport_dbg(this, &StandInMemory::debug);
  }

  void answer_kept() {
    for (auto* trans : kept) finish(reinterpret_cast<std::uintptr_t>(trans));
    kept.clear();
  }
  std::vector<MemoryRequest> requests(tlm::tlm_command command) const {
    std::vector<MemoryRequest> found;
    for (const auto& s : seen) {
      if (s.command == command && s.kind == model::TransactionKind::kMemory) found.push_back(s);
    }
    return found;
  }

 private:
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                             sc_core::sc_time& delay) {
    const auto& info = model::Transaction::of(trans);
    if (keep_record) {
      seen.push_back({model::sim_now(), trans.get_command(), info.kind, trans.get_address(),
                      trans.get_data_length(), info.posted, info.cause,
                      trans.is_write() && trans.get_data_ptr() != nullptr
                          ? *trans.get_data_ptr()
                          : static_cast<unsigned char>(0),
                      info.vmid});
    }
    if (info.posted) {
      transmitter_free_ = std::max(transmitter_free_, model::sim_now()) + taken_after;
      delay = sc_core::sc_time::from_value(transmitter_free_ - model::sim_now());
    } else {
      most_outstanding = std::max(most_outstanding, ++outstanding);
    }
    if (!move_late) move(trans);
    if (!answer && !info.posted) {
      kept.push_back(&trans);
      return tlm::TLM_ACCEPTED;
    }
    sim_.agenda.at<&StandInMemory::finish>(model::sim_now() + delay.value() + latency, *this,
                                           reinterpret_cast<std::uintptr_t>(&trans));
    return tlm::TLM_ACCEPTED;
  }

  unsigned debug(tlm::tlm_generic_payload& trans) {
    auto& info = model::Transaction::of(trans);
    move(trans);
    return info.completion == model::Completion::kSuccess ? trans.get_data_length() : 0;
  }

  void move(tlm::tlm_generic_payload& trans) {
    auto& info = model::Transaction::of(trans);
    const auto address = trans.get_address();
    const auto length = trans.get_data_length();
    const bool inside = address <= bytes.size() && length <= bytes.size() - address;
    info.completion = verdict  ? verdict(trans)
                      : inside ? model::Completion::kSuccess
                               : model::Completion::kUnsupportedRequest;
    if (info.completion != model::Completion::kSuccess) return;
    if (trans.get_data_ptr() == nullptr) return;
    if (info.kind == model::TransactionKind::kTranslation) {
      const std::uint64_t mapped = bytes.size() - address;
      std::memcpy(trans.get_data_ptr(), &mapped, sizeof mapped);
    } else if (trans.get_data_ptr() == nullptr) {  // timing only
    } else {
      move_rows(trans, std::max<unsigned>(info.rows, 1), info.pitch);
    }
  }

  void move_rows(tlm::tlm_generic_payload& trans, unsigned rows, std::size_t pitch) {
    const std::size_t piece = trans.get_data_length() / rows;
    auto* data = trans.get_data_ptr();
    auto* there = bytes.data() + trans.get_address();
    for (unsigned row = 0; row < rows; ++row, data += piece, there += pitch) {
      std::memcpy(trans.is_write() ? there : data, trans.is_write() ? data : there, piece);
    }
  }

  void finish(std::uint64_t pointer) {
    auto& trans =
        *reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(pointer));
    if (move_late) move(trans);
    if (model::Transaction::of(trans).posted) {
      trans.release();
      return;
    }
    --outstanding;
    send_back(socket, trans, tlm::BEGIN_RESP);
  }

  model::Simulation& sim_;
  model::SimTime transmitter_free_ = 0;
};

}  // namespace npu::test
