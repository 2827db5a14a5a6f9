// SPDX-License-Identifier: Apache-2.0
// Streams before the real HBM: the rule for write-backs, bandwidths.
#include <deque>

#include "l2_bench.hpp"
#include "model/hbm/hbm.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::test {
namespace {

// The 910B2's L2 and a HBM of its bandwidth, with `cores` clients' worth of requests in flight.
class StreamBench : public sc_core::sc_module {
 public:
  explicit StreamBench(Bytes l2_size, const sc_core::sc_module_name& name = "bench")
      : sc_module(name),
        l2("l2", sim, config(l2_size), 1, "l2"),
        hbm("hbm", sim, model::test::card_config(), 1, "hbm") {
    client.bind(l2.client_sockets[0]);
    client.register_nb_transport_bw(this, &StreamBench::answered);
    l2.hbm_sockets[0].bind(hbm.port_sockets[0]);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static model::L2Config config(Bytes size) {
    auto config = small_l2();
    config.size = size;
    config.ways = 12;
    config.slices = 32;
    config.clock_hz = 1'800'000'000;
    config.miss_buffers = 48;
    config.write_buffers = 32;
    return config;
  }
  // Requests of 16 KiB, 96 in flight: `writes` of every `of` are writes. Gives the time.
  SimTime stream(std::uint64_t from, Bytes bytes, unsigned writes, unsigned of) {
    constexpr unsigned kPiece = 16384;
    const SimTime begin = model::sim_now();
    for (Bytes i = 0; i < bytes / kPiece; ++i)
      todo_.push_back({from + i * kPiece, i % of < writes});
    for (unsigned i = 0; i < 96; ++i) next();
    sc_core::sc_start();
    return last_ - begin;
  }

  model::Simulation sim;
  model::L2 l2;
  model::Hbm hbm;
  tlm_utils::simple_initiator_socket<StreamBench> client;

 private:
  void next() {
    if (todo_.empty()) return;
    const auto [address, write] = todo_.front();
    todo_.pop_front();
    auto& trans = sim.pool.allocate_timing(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                                           address, 16384);
    send_request(client, trans);
  }
  tlm::tlm_sync_enum answered(tlm::tlm_generic_payload& trans, tlm::tlm_phase&, sc_core::sc_time&) {
    trans.release();
    last_ = model::sim_now();
    next();
    return tlm::TLM_COMPLETED;
  }
  std::deque<std::pair<std::uint64_t, bool>> todo_;
  SimTime last_ = 0;
};

double gigabytes_per_second(Bytes bytes, SimTime time) {
  return static_cast<double>(bytes) / static_cast<double>(time) * 1000.0;
}

// kernel-times.md K3: max(0, r + w - L2) w / (r + w).
void expect_write_backs(unsigned writes, unsigned of, Bytes footprint) {
  constexpr Bytes kSize = 24_MiB;
  StreamBench bench(kSize);
  bench.stream(0, footprint, writes, of);
  const double expected =
      footprint <= kSize ? 0.0 : static_cast<double>((footprint - kSize) * writes) / of;
  const double written = static_cast<double>(bench.l2.statistics().write_backs * kLine);
  EXPECT_NEAR(written, expected, 0.02 * expected) << writes << "/" << of << " " << footprint;
}

TEST(L2Stream, HalfWritesObeyTheRuleOfWriteBacks) {
  expect_write_backs(1, 2, 64_MiB);
}
TEST(L2Stream, OneThirdOfWritesObeysTheRuleOfWriteBacks) {
  expect_write_backs(1, 3, 96_MiB);
}
TEST(L2Stream, OnlyWritesObeyTheRuleOfWriteBacks) {
  expect_write_backs(1, 1, 40_MiB);
}
TEST(L2Stream, WhatFitsIsNotWrittenBack) {
  expect_write_backs(1, 2, 24_MiB);
}

TEST(L2Stream, HitsMoveAtTheRateOfTheSlices) {
  StreamBench bench(192_MiB);
  bench.stream(0, 32_MiB, 0, 1);
  const double rate = gigabytes_per_second(32_MiB, bench.stream(0, 32_MiB, 0, 1));
  EXPECT_GT(rate, 0.95 * 32 * 128 * 1.8);
  EXPECT_LE(rate, 32 * 128 * 1.8);
}

TEST(L2Stream, MissesMoveAtTheRateOfTheHbm) {
  StreamBench bench(192_MiB);
  const double rate = gigabytes_per_second(64_MiB, bench.stream(0, 64_MiB, 0, 1));
  EXPECT_GT(rate, 0.9 * 1228.8);
  EXPECT_LT(rate, 1228.8);
}

TEST(L2Stream, WriteBacksTakeTheirShareOfTheHbm) {
  StreamBench bench(24_MiB);
  const Bytes before = 64_MiB;
  bench.stream(0, before, 1, 1);
  const SimTime took = bench.stream(before, 64_MiB, 1, 2);
  // 32 MiB read, and with every line that goes a dirty one of the first stream or of this.
  const auto hbm = bench.hbm.statistics();
  EXPECT_NEAR(static_cast<double>(hbm.bursts_read) * 32, 32.0 * (1 << 20), 1e5);
  EXPECT_LT(gigabytes_per_second(64_MiB + 12_MiB, took), 1228.8);
  EXPECT_EQ(hbm.bursts_written * 32, bench.l2.statistics().write_backs * kLine);
}

}  // namespace
}  // namespace npu::test
