// SPDX-License-Identifier: Apache-2.0
// An L2 with two clients before stand-in memories of fixed latency.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <vector>

#include "model/l2/l2.hpp"
#include "tests/bench/dma/stand_in_memory.hpp"
#include "tests/support/on_bench.hpp"

namespace npu::test {

using model::SimTime;

inline constexpr SimTime kMemory = 70'000;
inline constexpr SimTime kNoc = 25'000, kHit = 50'000, kWrite = 40'000, kFill = 200'000;
inline constexpr SimTime kClock = 1'000;
inline constexpr unsigned kLine = 512;
inline constexpr SimTime kLineTime = kLine / 128 * kClock;
inline constexpr unsigned kLines = 64;  // of the whole cache
// From a line being in its slice to the response.
inline constexpr SimTime kTail = kHit + kNoc + kLineTime;
// Whole lines by a client, when nothing is in the way.
inline constexpr SimTime kReadHit = kNoc + kTail;
inline constexpr SimTime kReadMiss = kReadHit + kMemory + kFill;
inline constexpr SimTime kWriteTaken = 2 * kNoc + kWrite + kLineTime;

inline model::L2Config small_l2() {
  model::L2Config config{};
  config.size = kLines * kLine;
  config.line = kLine;
  config.ways = 2;
  config.slices = 4;
  config.clock_hz = 1'000'000'000;
  config.slice_per_clock = 128;
  config.noc = 25_ns;
  config.hit = 50_ns;
  config.write = 40_ns;
  config.fill = 200_ns;
  config.miss_buffers = 8;
  config.write_buffers = 8;
  return config;
}

class L2Bench : public sc_core::sc_module {
 public:
  struct Request {
    bool write = false;
    std::uint64_t address = 0;
    unsigned length = kLine;
    unsigned char* data = nullptr;  // null: timing only
    unsigned rows = 1;
    std::uint32_t pitch = 0;
    bool posted = false;
    unsigned client = 0;
  };

  explicit L2Bench(const model::L2Config& config = small_l2(),
                   const sc_core::sc_module_name& name = "bench")
      : sc_module(name), l2("l2", sim, config, 2, "l2") {
    for (unsigned i = 0; i < 2; ++i) {
      clients[i].bind(l2.client_sockets[i]);
      clients[i].register_nb_transport_bw(this, &L2Bench::answered);
      l2.hbm_sockets[i].bind(memory(i).socket);
      memory(i).latency = kMemory;
    }
    run(1_ps);
  }

  // Gives the number of its response.
  std::size_t issue(const Request& request) {
    auto& trans =
        sim.pool.allocate_timing(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                                 request.address, request.length);
    trans.set_data_ptr(request.data);
    auto& info = model::Transaction::of(trans);
    info.rows = static_cast<std::uint16_t>(request.rows);
    info.pitch = request.pitch;
    info.posted = request.posted;
    info.context = ended.size();
    info.sender_states.push(0xABC);
    ended.push_back(0);
    status.push_back(tlm::TLM_INCOMPLETE_RESPONSE);
    in_call_ = true;
    EXPECT_EQ(send_request(clients[request.client], trans), tlm::TLM_ACCEPTED);
    in_call_ = false;
    return ended.size() - 1;
  }
  // The same, and how long it took; everything has come to rest.
  SimTime time(const Request& request) {
    const SimTime begin = model::sim_now();
    const auto id = issue(request);
    run(100_us);
    return ended[id] - begin;
  }
  SimTime read(std::uint64_t address, unsigned length = kLine) {
    return time({false, address, length});
  }
  SimTime write(std::uint64_t address, unsigned length = kLine) {
    return time({true, address, length});
  }
  bool holds(std::uint64_t line) { return read(line * kLine) < kReadMiss; }
  std::size_t memory_reads() { return memory0.requests(tlm::TLM_READ_COMMAND).size(); }
  std::vector<MemoryRequest> write_backs() { return memory0.requests(tlm::TLM_WRITE_COMMAND); }
  void run(Picoseconds time) {
    sc_core::sc_start(sc_core::sc_time::from_value(static_cast<std::uint64_t>(time.count())));
  }
  StandInMemory& memory(unsigned client) { return client == 0 ? memory0 : memory1; }

  model::Simulation sim;
  model::L2 l2;
  StandInMemory memory0{"memory0", sim, 64_MiB}, memory1{"memory1", sim, 64_MiB};
  std::array<tlm_utils::simple_initiator_socket<L2Bench>, 2> clients;
  std::vector<SimTime> ended;  // by request; 0: not yet
  std::vector<tlm::tlm_response_status> status;

 private:
  tlm::tlm_sync_enum answered(tlm::tlm_generic_payload& trans, tlm::tlm_phase&, sc_core::sc_time&) {
    EXPECT_FALSE(in_call_) << "a response never comes inside the request's call";
    auto& info = model::Transaction::of(trans);
    EXPECT_EQ(info.sender_states.pop(), 0xABCu) << "the client's, or of who stands before";
    EXPECT_EQ(info.sender_states.count(), 0u);
    EXPECT_EQ(ended[info.context], 0u) << "answered twice";
    ended[info.context] = model::sim_now();
    status[info.context] = trans.get_response_status();
    trans.release();
    return tlm::TLM_COMPLETED;
  }
  bool in_call_ = false;
};

}  // namespace npu::test
