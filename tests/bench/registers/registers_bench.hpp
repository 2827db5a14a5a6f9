// SPDX-License-Identifier: Apache-2.0
// BAR0 and BAR2 of a card without an endpoint; device memory is a stand-in.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <vector>

#include "model/registers/bar2_decoder.hpp"
#include "tests/bench/dma/stand_in_memory.hpp"
#include "tests/bench/support/register_host.hpp"
#include "tests/support/on_bench.hpp"

namespace npu::test {

inline constexpr Bytes kUsable = 16_MiB;
inline constexpr Bytes kInstalled = 64_MiB;
inline constexpr Bytes kWindows = kUsable + abi::kReservedStreamOffset;

inline model::ChipConfig registers_chip_config() {
  model::ChipConfig config{};
  config.ai_cores = 64;
  config.streams = 256;
  config.events = 100;
  config.pci.device_id = 0xD110;
  config.pci.revision = 0x10;
  config.hbm.usable = kUsable;
  config.hbm.installed = kInstalled;
  return config;
}

struct Bar2Answer {
  model::SimTime when = 0;
  bool answered = false;
  model::Completion completion = model::Completion::kSuccess;
  std::vector<unsigned char> data;
};

class RegistersBench : public sc_core::sc_module,
                       public RegisterHost,
                       private model::InterruptPort {
 public:
  explicit RegistersBench(const sc_core::sc_module_name& name = "bench") : sc_module(name) {
    bar0.bind(registers.register_socket);
    bar2.bind(decoder.memory_socket);
    bar2.register_nb_transport_bw(this, &RegistersBench::answer_bar2);
    decoder.hbm_socket.bind(hbm.socket);
    registers.connect(*this);
    hbm.latency = 100'000;
  }

  Bar2Answer read_bar2(Bytes address, unsigned length) {
    auto& trans = sim.pool.allocate(tlm::TLM_READ_COMMAND, address, nullptr, length);
    send(trans);
    run(1_us);
    return last;
  }
  void write_bar2(Bytes address, const std::vector<unsigned char>& data) {
    auto& trans = sim.pool.allocate(tlm::TLM_WRITE_COMMAND, address, nullptr,
                                    static_cast<unsigned>(data.size()));
    std::memcpy(trans.get_data_ptr(), data.data(), data.size());
    model::Transaction::of(trans).posted = true;
    send(trans);
    run(1_us);
  }

  const model::ChipConfig config = registers_chip_config();
  model::CardRegisters registers{"registers", sim, config, 5};
  model::Bar2Decoder decoder{"decoder", sim, registers};
  StandInMemory hbm{"hbm", sim, kInstalled};
  tlm_utils::simple_initiator_socket<RegistersBench> bar2{"bar2"};
  std::vector<unsigned> interrupts;
  Bar2Answer last;

 private:
  void raise(unsigned, unsigned vector, std::uint64_t) override { interrupts.push_back(vector); }
  void send(tlm::tlm_generic_payload& trans) {
    last = {};
    in_call_ = true;
    EXPECT_EQ(send_request(bar2, trans), tlm::TLM_ACCEPTED);
    in_call_ = false;
  }
  tlm::tlm_sync_enum answer_bar2(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                 sc_core::sc_time&) {
    EXPECT_FALSE(in_call_) << "a response never comes inside the request's call";
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    const auto* data = trans.get_data_ptr();
    last = {model::sim_now(),
            true,
            model::Transaction::of(trans).completion,
            {data, data + trans.get_data_length()}};
    trans.release();
    return tlm::TLM_COMPLETED;
  }
  bool in_call_ = false;
};

}  // namespace npu::test
