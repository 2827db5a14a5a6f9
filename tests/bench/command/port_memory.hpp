// SPDX-License-Identifier: Apache-2.0
// A memory with several ports that answers after a fixed latency and keeps a record of what it was
// asked. Bytes move when the answer is due, those of reads at the request if so wished; requests
// without data are for time alone.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <functional>
#include <vector>

#include "tests/bench/dma/stand_in_memory.hpp"
#include "tests/bench/support/phases.hpp"

namespace npu::test {

struct PortRequest {
  model::SimTime when;
  int port;
  bool write, posted;
  model::TransactionKind kind;
  std::uint64_t address;
  unsigned length;
  model::SpaceId vmid;
  std::uint32_t pasid;
  std::uint64_t cause;
};

class PortMemory : public sc_core::sc_module {
 public:
  using Socket = tlm_utils::simple_target_socket_tagged<PortMemory>;

  PortMemory(const sc_core::sc_module_name& name, model::Simulation& sim, unsigned ports,
             std::size_t size)
      : sc_module(name), sockets("socket", ports), bytes(size), sim_(sim) {
    for (unsigned i = 0; i < ports; ++i) {
      sockets[i].register_nb_transport_fw(this, &PortMemory::request, static_cast<int>(i));
      sockets[i].register_transport_dbg(this, &PortMemory::debug, static_cast<int>(i));
    }
  }

  template <class T>
  T load(std::uint64_t address) const {
    T value;
    std::memcpy(&value, bytes.data() + address, sizeof value);
    return value;
  }
  template <class T>
  void store(std::uint64_t address, const T& value) {
    std::memcpy(bytes.data() + address, &value, sizeof value);
  }

  sc_core::sc_vector<Socket> sockets;
  LazyBytes bytes;
  model::SimTime latency = 0;
  bool keep_record = false;
  bool sample_early = false;
  std::vector<PortRequest> seen;
  // Decides whether a request succeeds; by default everything inside `bytes` does.
  std::function<bool(const PortRequest&)> allowed;
  // Called when bytes have been written.
  std::function<void(const PortRequest&)> written;

 private:
  tlm::tlm_sync_enum request(int port, tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                             sc_core::sc_time&) {
    auto& info = model::Transaction::of(trans);
    info.sender_states.push(static_cast<std::uint64_t>(port));
    if (keep_record) seen.push_back(described(trans));
    if (sample_early && !trans.is_write() && trans.get_address() < bytes.size()) {
      std::memcpy(trans.get_data_ptr(), bytes.data() + trans.get_address(),
                  trans.get_data_length());
    }
    sim_.agenda.at<&PortMemory::answer>(model::sim_now() + latency, *this,
                                        reinterpret_cast<std::uintptr_t>(&trans));
    return tlm::TLM_ACCEPTED;
  }
  static PortRequest described(tlm::tlm_generic_payload& trans) {
    const auto& info = model::Transaction::of(trans);
    return {model::sim_now(),
            static_cast<int>(info.sender_states.top()),
            trans.is_write(),
            info.posted,
            info.kind,
            trans.get_address(),
            trans.get_data_length(),
            info.vmid,
            info.pasid,
            info.cause};
  }
  unsigned debug(int, tlm::tlm_generic_payload& trans) {
    const auto address = trans.get_address();
    const unsigned length = trans.get_data_length();
    if (address > bytes.size() || length > bytes.size() - address) return 0;
    auto* const at = bytes.data() + address;
    if (trans.is_write()) {
      std::memcpy(at, trans.get_data_ptr(), length);
    } else {
      std::memcpy(trans.get_data_ptr(), at, length);
    }
    return length;
  }
  void answer(std::uint64_t pointer) {
    auto& trans =
        *reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(pointer));
    auto& info = model::Transaction::of(trans);
    const auto what = described(trans);
    const bool inside = what.address <= bytes.size() && what.length <= bytes.size() - what.address;
    const bool good = inside && (!allowed || allowed(what));
    if (good && trans.get_data_ptr() != nullptr) move(trans, what);
    if (what.posted) return trans.release();
    info.sender_states.pop();
    info.completion = good ? model::Completion::kSuccess : model::Completion::kUnsupportedRequest;
    send_back(sockets[static_cast<std::size_t>(what.port)], trans, tlm::BEGIN_RESP);
  }
  void move(tlm::tlm_generic_payload& trans, const PortRequest& what) {
    if (what.kind == model::TransactionKind::kTranslation) {
      const std::uint64_t mapped = mapped_from ? mapped_from(what) : bytes.size() - what.address;
      std::memcpy(trans.get_data_ptr(), &mapped, sizeof mapped);
    } else if (what.write) {
      std::memcpy(bytes.data() + what.address, trans.get_data_ptr(), what.length);
      if (written) written(what);
    } else if (!sample_early) {
      std::memcpy(trans.get_data_ptr(), bytes.data() + what.address, what.length);
    }
  }

 public:
  std::function<std::uint64_t(const PortRequest&)> mapped_from;  // translations

 private:
  model::Simulation& sim_;
};

}  // namespace npu::test
