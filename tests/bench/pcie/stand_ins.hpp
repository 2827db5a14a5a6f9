// SPDX-License-Identifier: Apache-2.0
// What surrounds the PCIe models: the chip behind an endpoint, host memory and interrupts.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/pcie/port.hpp"
#include "tests/bench/support/phases.hpp"

namespace npu::test {

// Something that reached its destination.
struct Seen {
  std::uint64_t when;
  std::uint64_t address;
  std::uint64_t value;  // the first eight bytes
};

inline std::uint64_t value_of(const tlm::tlm_generic_payload& payload) {
  std::uint64_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), std::min(8U, payload.get_data_length()));
  return value;
}

struct FakeCpu : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<FakeCpu> socket;
  explicit FakeCpu(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {}
};

class StandInHostMemory : public model::HostMemoryPort {
 public:
  static constexpr std::uint64_t kBase = 0x1'0000'0000;
  std::vector<std::byte> bytes = std::vector<std::byte>(1 << 20);
  Picoseconds latency = 100_ns;
  std::map<std::uint64_t, Picoseconds> latency_at;  // exceptions, by bus address
  std::vector<Seen> writes;
  std::vector<std::uint32_t> pasids;  // of the accesses

  Access access(model::DmaRequester requester, std::uint64_t bus, Bytes length, bool device_writes,
                std::uint64_t) override {
    pasids.push_back(requester.pasid);
    const std::uint64_t offset = bus - kBase;
    if (bus < kBase || offset + length > bytes.size()) {
      return {model::Completion::kUnsupportedRequest, latency, nullptr, 0};
    }
    if (device_writes && bus == read_only) {
      return {model::Completion::kPermission, latency, nullptr, 0};
    }
    const auto exception = latency_at.find(bus);
    return {model::Completion::kSuccess,
            exception == latency_at.end() ? latency : exception->second, bytes.data() + offset,
            bytes.size() - offset};
  }
  Access reach(model::DmaRequester requester, std::uint64_t bus, Bytes length, bool device_writes,
               std::uint64_t cause) override {
    return access(requester, bus, length, device_writes, cause);
  }
  void written(const std::byte* data, Bytes length, std::uint64_t) override {
    std::uint64_t value = 0;
    std::memcpy(&value, data, std::min<Bytes>(8, length));
    writes.push_back(
        {model::sim_now(), kBase + static_cast<std::uint64_t>(data - bytes.data()), value});
  }
  struct PageRequest {
    std::uint64_t when;
    std::uint32_t requester;
    std::uint32_t pasid;
    std::uint64_t address;
    model::PageRequestMessage message;
  };
  void page_requested(model::DmaRequester requester, std::uint64_t address,
                      const model::PageRequestMessage& message, std::uint64_t) override {
    page_requests.push_back(
        {model::sim_now(), requester.function, requester.pasid, address, message});
  }
  std::vector<PageRequest> page_requests;
  std::uint64_t read_only = 0;
};

class FakeInterrupts : public model::InterruptSink {
 public:
  std::vector<Seen> messages;
  void message(std::uint32_t, std::uint64_t address, std::uint32_t data, std::uint64_t) override {
    messages.push_back({model::sim_now(), address, data});
  }
};

// A DMA request's answer.
struct Answer {
  std::uint64_t when;
  model::Completion completion;
  std::vector<unsigned char> data;
};

// Registers and memory behind the endpoint, and a DMA engine that does as it is told.
class FakeChip : public sc_core::sc_module, public model::ResetListener {
 public:
  tlm_utils::passthrough_target_socket<FakeChip> registers;
  tlm_utils::passthrough_target_socket<FakeChip> memory;
  tlm_utils::simple_initiator_socket<FakeChip> dma;
  std::vector<Seen> register_writes;
  std::vector<Seen> memory_writes;
  std::map<std::uint64_t, std::uint64_t> values;  // of registers and memory, by offset
  std::function<void()> on_answer;  // at the time at which a read of the host is answered
  std::vector<Answer> answers;
  std::vector<std::uint64_t> resets;
  std::vector<model::Completion> refused;  // writes that came back at once
  static constexpr std::uint64_t kMemoryLatency = 200'000;
  static constexpr std::uint64_t kBadRegister = 0x5FF8;

  FakeChip(const sc_core::sc_module_name& name, model::Simulation& simulation)
      : sc_module(name),
        registers("registers"),
        memory("memory"),
        dma("dma"),
        simulation_(simulation) {
    registers.register_b_transport(this, &FakeChip::access_register);
    memory.register_nb_transport_fw(this, &FakeChip::access_memory);
    dma.register_nb_transport_bw(this, &FakeChip::answered);
  }

  std::uint32_t pasid = 0;  // of what it sends from now on
  void read(std::uint64_t bus, unsigned length,
            model::TransactionKind kind = model::TransactionKind::kMemory) {
    buffers_.push_back(std::vector<unsigned char>(length));
    auto& payload =
        simulation_.pool.allocate(tlm::TLM_READ_COMMAND, bus, buffers_.back().data(), length);
    model::Transaction::of(payload).kind = kind;
    send(payload);
  }
  // Returns when the last byte leaves the card; now: the endpoint has refused it.
  // `relaxed`: the transfer that it is data of; 0: it is none.
  std::uint64_t write(std::uint64_t bus, std::vector<unsigned char> data,
                      std::uint64_t relaxed = 0) {
    buffers_.push_back(std::move(data));
    auto& payload = simulation_.pool.allocate(tlm::TLM_WRITE_COMMAND, bus, buffers_.back().data(),
                                              static_cast<unsigned>(buffers_.back().size()));
    auto& info = model::Transaction::of(payload);
    info.posted = true;
    info.relaxed = relaxed != 0;
    info.cause = relaxed;
    return send(payload);
  }
  void ask_for_page(std::uint64_t address, std::uint16_t group) {
    auto& payload = simulation_.pool.allocate(tlm::TLM_WRITE_COMMAND, address, nullptr,
                                              sizeof(model::PageRequestMessage));
    model::PageRequestMessage message;
    message.group = group;
    message.read = message.last = true;
    std::memcpy(payload.get_data_ptr(), &message, sizeof message);
    model::Transaction::of(payload).kind = model::TransactionKind::kPageRequest;
    model::Transaction::of(payload).posted = true;
    send(payload);
  }
  void function_reset(unsigned) override { resets.push_back(model::sim_now()); }

 private:
  std::uint64_t send(tlm::tlm_generic_payload& payload) {
    model::Transaction::of(payload).pasid = pasid;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    if (dma->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED) {
      refused.push_back(model::Transaction::of(payload).completion);
      payload.release();
    }
    return model::sim_now() + delay.value();
  }
  tlm::tlm_sync_enum answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                              sc_core::sc_time&) {
    const auto* data = payload.get_data_ptr();
    answers.push_back({model::sim_now(),
                       model::Transaction::of(payload).completion,
                       {data, data + payload.get_data_length()}});
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  void access_register(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    const std::uint64_t offset = payload.get_address();
    payload.set_response_status(offset == kBadRegister ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                       : tlm::TLM_OK_RESPONSE);
    if (payload.is_write()) {
      register_writes.push_back({model::sim_now(), offset, value_of(payload)});
      values[offset] = value_of(payload);
    } else {
      std::memcpy(payload.get_data_ptr(), &values[offset], payload.get_data_length());
      if (on_answer) on_answer();
    }
  }
  tlm::tlm_sync_enum access_memory(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                   sc_core::sc_time&) {
    if (payload.is_write()) {
      memory_writes.push_back({model::sim_now(), payload.get_address(), value_of(payload)});
      payload.release();
    } else {
      std::memcpy(payload.get_data_ptr(), &values[payload.get_address()],
                  payload.get_data_length());
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      simulation_.agenda.at<&FakeChip::memory_done>(model::sim_now() + kMemoryLatency, *this,
                                                    model::handle_of(payload));
    }
    return tlm::TLM_ACCEPTED;
  }
  void memory_done(std::uint64_t handle) {
    if (on_answer) on_answer();
    send_back(memory, model::payload_of(handle), tlm::BEGIN_RESP);
  }

  model::Simulation& simulation_;
  std::deque<std::vector<unsigned char>> buffers_;  // live as long as anything may refer to them
};

}  // namespace npu::test
