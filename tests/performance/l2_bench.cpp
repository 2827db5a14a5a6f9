// SPDX-License-Identifier: Apache-2.0
// Requests of 4 KiB without data through the L2's socket, on the 910B2's L2 (configs/910b2.yaml)
// and the source documents' HBM. An item is a line of 512 bytes. l2/read_hit: 1.5 GiB of 64 MiB, as
// a matrix product of 4096^3 reads its operands; l2/read_miss: 128 MiB that are not there;
// l2/write_back: 128 MiB written into a cache full of dirty lines.
#include <benchmark/benchmark.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "model/hbm/hbm.hpp"
#include "model/l2/l2.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/bench/support/phases.hpp"
#include "tests/performance/isolated.hpp"

namespace npu::bench {
namespace {

constexpr unsigned kLength = 4096;
constexpr unsigned kReadsInFlight = 24 * 8;  // a few of each core
constexpr Bytes kSize = Bytes{192} << 20;

model::L2Config card_l2() {
  model::L2Config config{};
  config.size = kSize;
  config.line = 512;
  config.ways = 12;
  config.slices = 32;
  config.clock_hz = 1'800'000'000;
  config.slice_per_clock = 128;
  config.noc = Picoseconds(25'000);
  config.hit = Picoseconds(58'000);
  config.write = Picoseconds(40'000);
  config.fill = Picoseconds(230'000);
  config.miss_buffers = 48;
  config.write_buffers = 32;
  return config;
}

class Cores : public sc_core::sc_module {
 public:
  explicit Cores(const sc_core::sc_module_name& name = "cores")
      : sc_module(name),
        l2_("l2", sim_, card_l2(), 1, "l2"),
        hbm_("hbm", sim_, model::test::card_config(), 1, "hbm") {
    socket_.bind(l2_.client_sockets[0]);
    socket_.register_nb_transport_bw(this, &Cores::answered);
    l2_.hbm_sockets[0].bind(hbm_.port_sockets[0]);
  }
  // Accesses [from, from + bytes) again and again, `count` times; wall time.
  double run(tlm::tlm_command command, Bytes from, Bytes bytes, std::uint64_t count) {
    command_ = command;
    from_ = from;
    bytes_ = bytes;
    left_ = count;
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                            sc_core::SC_DO_NOTHING);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates, for which the module must be complete
    const Stopwatch watch;
    for (unsigned i = 0; i < kReadsInFlight; ++i) next();
    sc_core::sc_start();
    return watch.seconds();
  }

 private:
  void next() {
    if (left_ == 0) return;
    --left_;
    auto& trans = sim_.pool.allocate_timing(command_, from_ + left_ * kLength % bytes_, kLength);
    test::send_request(socket_, trans);
  }
  tlm::tlm_sync_enum answered(tlm::tlm_generic_payload& trans, tlm::tlm_phase&, sc_core::sc_time&) {
    trans.release();
    next();
    return tlm::TLM_COMPLETED;
  }

  model::Simulation sim_;
  model::L2 l2_;
  model::Hbm hbm_;
  tlm_utils::simple_initiator_socket<Cores> socket_;
  tlm::tlm_command command_ = tlm::TLM_READ_COMMAND;
  Bytes from_ = 0, bytes_ = 1;
  std::uint64_t left_ = 0;
};

Measurement lines(double seconds, std::uint64_t requests) {
  Measurement measured;
  measured.seconds = seconds;
  measured.items = requests * (kLength / 512);
  return measured;
}

void read_hit(benchmark::State& state) {
  measure_isolated(state, [] {
    Cores cores;
    constexpr Bytes kLines = Bytes{64} << 20;
    cores.run(tlm::TLM_READ_COMMAND, 0, kLines, kLines / kLength);
    constexpr std::uint64_t kRequests = 400'000;
    return lines(cores.run(tlm::TLM_READ_COMMAND, 0, kLines, kRequests), kRequests);
  });
}
void read_miss(benchmark::State& state) {
  measure_isolated(state, [] {
    Cores cores;
    constexpr std::uint64_t kRequests = (Bytes{128} << 20) / kLength;
    return lines(cores.run(tlm::TLM_READ_COMMAND, 0, kSize, kRequests), kRequests);
  });
}
void write_back(benchmark::State& state) {
  measure_isolated(state, [] {
    Cores cores;
    cores.run(tlm::TLM_WRITE_COMMAND, 0, kSize, kSize / kLength);
    constexpr std::uint64_t kRequests = (Bytes{128} << 20) / kLength;
    return lines(cores.run(tlm::TLM_WRITE_COMMAND, kSize, kSize, kRequests), kRequests);
  });
}

BENCHMARK(read_hit)->Name("l2/read_hit")->Apply(three_in_ms);
BENCHMARK(read_miss)->Name("l2/read_miss")->Apply(three_in_ms);
BENCHMARK(write_back)->Name("l2/write_back")->Apply(three_in_ms);

}  // namespace
}  // namespace npu::bench
