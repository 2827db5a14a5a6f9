// SPDX-License-Identifier: Apache-2.0
// An MMU with two clients between stand-in memories. The clients' memory and the walker's are two,
// so that what each is asked for is seen apart; tables are written into the walker's.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <functional>
#include <vector>

#include "model/mmu/mmu_context.hpp"
#include "tests/bench/dma/stand_in_memory.hpp"
#include "tests/bench/support/register_host.hpp"
#include "tests/support/on_bench.hpp"
#include "tests/support/page_tables.hpp"

namespace npu::test {

using model::Completion;
using model::SimTime;

inline constexpr std::uint64_t kVirtual = 0x1234'4000'0000;  // 1 GiB aligned

inline constexpr std::uint64_t kInstalled = 2560_MiB;
inline constexpr std::uint64_t kContext = 0x10000;
inline constexpr std::uint64_t kTables = 0x20000;
inline constexpr SimTime kMemoryLatency = 100'000;
inline constexpr SimTime kWalkLatency = 70'000;
inline constexpr SimTime kWalkStep = 5'000;
inline constexpr SimTime kInvalidate = 50'000;
inline constexpr SimTime kPerEntry = kWalkLatency + kWalkStep;

inline model::ChipConfig mmu_chip_config() {
  model::ChipConfig config{};
  config.streams = 4;
  config.events = 4;
  config.hbm.usable = 1_GiB;
  config.hbm.installed = kInstalled;
  config.mmu.tlb_entries = 16;
  config.mmu.tlb_ways = 4;
  config.mmu.walk_cache_entries = 0;
  config.mmu.walkers = 2;
  config.mmu.walk_step = 5_ns;
  config.mmu.invalidate = 50_ns;
  return config;
}

struct Response {
  std::uint64_t id;
  SimTime when;
  Completion completion;
  tlm::tlm_response_status status;
  std::uint64_t address;
  unsigned char first;  // byte
};

class MmuBench : public sc_core::sc_module, public RegisterHost {
 public:
  using RegisterHost::read;
  static constexpr unsigned kClients = 2;

  explicit MmuBench(const model::ChipConfig& chip = mmu_chip_config(),
                    const sc_core::sc_module_name& name = "bench")
      : sc_module(name),
        config(chip),
        registers("registers", sim, config, 0),
        mmu("mmu", sim, config, 0, kClients),
        context(registers, mmu) {
    bar0.bind(registers.register_socket);
    for (unsigned i = 0; i < kClients; ++i) {
      clients[i].bind(mmu.client_sockets[i]);
      clients[i].register_nb_transport_bw(this, &MmuBench::answered, static_cast<int>(i));
      mmu.hbm_sockets[i].bind(memory(i).socket);
      memory(i).latency = kMemoryLatency;
    }
    mmu.walker_socket.bind(walked.socket);
    walked.latency = kWalkLatency;
  }

  // The context table's address to the card.
  void enable() {
    run(1_ps);
    write(abi::MmuContextBase::from_raw(kContext));
  }
  // One byte at `address`, written as `value` or read; gives the number of its response.
  std::uint64_t issue(bool is_write, unsigned vmid, std::uint64_t address,
                      unsigned char value = 0x5A, unsigned client = 0) {
    auto& trans = sim.pool.allocate(is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                                    address, nullptr, 1);
    auto& info = model::Transaction::of(trans);
    info.vmid = static_cast<std::uint8_t>(vmid);
    info.context = issued;
    info.cause = cause;
    *trans.get_data_ptr() = value;
    in_call_ = true;
    EXPECT_EQ(send_request(clients[client], trans), tlm::TLM_ACCEPTED);
    in_call_ = false;
    return issued++;
  }
  // The same, with its response.
  Response access(bool is_write, unsigned vmid, std::uint64_t address, unsigned client = 0) {
    const auto id = issue(is_write, vmid, address, 0x5A, client);
    run(10_us);
    return response(id);
  }
  Response read(unsigned vmid, std::uint64_t address) { return access(false, vmid, address); }
  bool answered(std::uint64_t id) const {
    for (const auto& r : responses) {
      if (r.id == id) return true;
    }
    return false;
  }
  Response response(std::uint64_t id) const {
    for (const auto& r : responses) {
      if (r.id == id) return r;
    }
    ADD_FAILURE() << "request " << id << " was not answered";
    return {};
  }
  // What the client's memory was asked for last.
  std::uint64_t last_address(unsigned client = 0) { return memory(client).seen.back().address; }
  std::size_t entries_read() const { return walked.seen.size(); }

  void invalidate(std::uint32_t scope, unsigned vmid = 0, std::uint64_t address = 0,
                  std::uint64_t size = 0) {
    write(abi::MmuInvalidateAddress::from_raw(address));
    write(abi::MmuInvalidateSize::from_raw(size));
    write(abi::MmuInvalidate{}
              .set<abi::MmuInvalidate::Vmid>(vmid)
              .set<abi::MmuInvalidate::Scope>(scope)
              .set<abi::MmuInvalidate::Start>(1));
  }
  bool invalidating() { return read<abi::MmuInvalidate>().get<abi::MmuInvalidate::Start>() != 0; }
  StandInMemory& memory(unsigned client) { return client == 0 ? memory0 : memory1; }

  const model::ChipConfig config;
  model::CardRegisters registers;
  model::Mmu mmu;
  model::MmuContext context;
  StandInMemory memory0{"memory0", sim, kInstalled}, memory1{"memory1", sim, kInstalled};
  StandInMemory walked{"walked", sim, 64_MiB};
  PageTables tables{kContext, kTables, [this](std::uint64_t address, std::uint64_t raw) {
                      std::memcpy(walked.bytes.data() + address, &raw, sizeof raw);
                    }};
  tlm_utils::simple_initiator_socket_tagged<MmuBench> clients[kClients];
  std::vector<Response> responses;
  // Told of requests by what their context is.
  std::function<void(std::uint64_t)> on_translated, on_response;
  std::uint64_t issued = 0, cause = 0;

 private:
  tlm::tlm_sync_enum answered(int, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time&) {
    const auto& info = model::Transaction::of(trans);
    if (phase == tlm::END_REQ) {
      EXPECT_TRUE(info.asks_translated);
      if (on_translated) on_translated(info.context);
      return tlm::TLM_ACCEPTED;
    }
    EXPECT_FALSE(in_call_) << "a response never comes inside the request's call";
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    responses.push_back(
        {info.context, model::sim_now(), info.completion, trans.get_response_status(),
         trans.get_address(),
         trans.get_data_ptr() == nullptr ? static_cast<unsigned char>(0) : *trans.get_data_ptr()});
    const std::uint64_t id = info.context;
    trans.release();
    if (on_response) on_response(id);
    return tlm::TLM_COMPLETED;
  }
  bool in_call_ = false;
};

// What a test expects of most requests.
inline constexpr std::uint64_t kPage = 2_MiB;
inline constexpr std::uint64_t kGiant = 1_GiB;

}  // namespace npu::test
