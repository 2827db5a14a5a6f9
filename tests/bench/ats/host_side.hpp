// SPDX-License-Identifier: Apache-2.0
// What is behind the card's end of the link: translations, page requests, reads and posted writes
// of addresses of a process and of the bus, each answered after a fixed time.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <map>
#include <vector>

#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/abi/pci.hpp"
#include "tests/bench/support/phases.hpp"

namespace npu::test {

class HostSide : public sc_core::sc_module,
                 public model::HostServicesPort,
                 public model::HostMemoryPort {
 public:
  static constexpr model::SimTime kTranslation = 300'000, kRead = 400'000, kWrite = 25'000;
  static constexpr std::uint32_t kPasid = 77;

  struct Piece {
    model::SimTime when;
    std::uint64_t address;
    unsigned length;
    bool write, translated;
    std::uint32_t pasid;
  };
  struct Asked {
    model::SimTime when;
    std::uint64_t page;
    std::uint32_t pasid;
    model::PageRequestMessage message;
  };
  struct Page {
    bool write = false;
    Bytes mapped = abi::entry_span(0);
    std::vector<std::byte> bytes = std::vector<std::byte>(abi::entry_span(0));
  };

  tlm_utils::simple_target_socket<HostSide> socket{"socket"};
  std::map<std::uint64_t, Page> pages;
  std::vector<Piece> pieces;
  std::vector<std::pair<std::uint64_t, bool>> translations;  // page, to read alone
  std::vector<Asked> asked;
  unsigned allowed = 4;  // page requests
  bool enabled = true, bus_master = true;
  model::Completion reads_end_with = model::Completion::kSuccess;
  std::uint16_t status = 0;
  unsigned reads = 0, most_reads = 0;

  explicit HostSide(model::Simulation& sim) : sc_module("host"), sim_(sim) {
    socket.register_nb_transport_fw(this, &HostSide::request);
  }

  bool translations_enabled(unsigned) const override { return enabled; }
  unsigned page_requests(unsigned) const override { return allowed; }
  void set_page_request_status(unsigned, std::uint16_t bits) override { status |= bits; }
  std::uint32_t requester_of(unsigned) const override { return 0x0100; }
  Access access(model::DmaRequester, std::uint64_t, Bytes, bool, std::uint64_t) override {
    return {model::Completion::kUnsupportedRequest, {}, nullptr, 0};
  }
  Access reach(model::DmaRequester, std::uint64_t, Bytes, bool, std::uint64_t) override {
    return {model::Completion::kUnsupportedRequest, {}, nullptr, 0};
  }
  void written(const std::byte*, Bytes length, std::uint64_t) override { told += length; }
  std::byte* find(std::uint32_t, std::uint32_t pasid, std::uint64_t address, Bytes,
                  bool write) override {
    const auto page = pages.find(address - address % abi::entry_span(0));
    const bool known = pasid == kPasid || pasid == 0;
    const bool there = page != pages.end() && known && (!write || page->second.write);
    return there ? page->second.bytes.data() + address % abi::entry_span(0) : nullptr;
  }
  Bytes told = 0;  // bytes written without time

 private:
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                             sc_core::sc_time& delay) {
    const auto& info = model::Transaction::of(trans);
    if (!bus_master && info.posted) return tlm::TLM_COMPLETED;
    if (info.kind == model::TransactionKind::kPageRequest) {
      model::PageRequestMessage message;
      std::memcpy(&message, trans.get_data_ptr(), sizeof message);
      asked.push_back({model::sim_now(), trans.get_address(), info.pasid, message});
      trans.release();
      return tlm::TLM_ACCEPTED;
    }
    if (info.kind == model::TransactionKind::kTranslation) {
      translations.emplace_back(trans.get_address(), info.no_write);
    } else {
      pieces.push_back({model::sim_now(), trans.get_address(), trans.get_data_length(),
                        trans.is_write(), info.translated, info.pasid});
    }
    if (info.posted) {
      if (trans.get_data_ptr() != nullptr) move(trans);
      trans.release();
      delay = sc_core::sc_time::from_value(kWrite);
      return tlm::TLM_ACCEPTED;
    }
    const bool read = info.kind == model::TransactionKind::kMemory;
    reads += read ? 1 : 0;
    most_reads = std::max(most_reads, reads);
    sim_.agenda.at<&HostSide::answer>(model::sim_now() + (read ? kRead : kTranslation), *this,
                                      reinterpret_cast<std::uintptr_t>(&trans));
    return tlm::TLM_ACCEPTED;
  }
  void answer(std::uint64_t pointer) {
    auto& trans =
        *reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(pointer));
    auto& info = model::Transaction::of(trans);
    if (info.kind == model::TransactionKind::kTranslation) {
      const auto page = pages.find(trans.get_address());
      const bool there = page != pages.end() && (info.no_write || page->second.write);
      const std::uint64_t bytes = there ? page->second.mapped : 0;
      std::memcpy(trans.get_data_ptr(), &bytes, sizeof bytes);
    } else {
      --reads;
      info.completion = reads_end_with;
      if (trans.get_data_ptr() != nullptr) move(trans);
    }
    send_back(socket, trans, tlm::BEGIN_RESP);
  }
  void move(tlm::tlm_generic_payload& trans) {
    const std::uint64_t address = trans.get_address();
    auto& page = pages.at(address - address % abi::entry_span(0));
    auto* const there = page.bytes.data() + address % abi::entry_span(0);
    if (trans.is_write()) {
      std::memcpy(there, trans.get_data_ptr(), trans.get_data_length());
    } else {
      std::memcpy(trans.get_data_ptr(), there, trans.get_data_length());
    }
  }

  model::Simulation& sim_;
};

}  // namespace npu::test
