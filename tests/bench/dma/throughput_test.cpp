// SPDX-License-Identifier: Apache-2.0
// Device-to-device copies on a real HBM model.
#include "dma_bench.hpp"
#include "model/hbm/hbm.hpp"

namespace npu::test {
namespace {

// HBM2E at 2.4 Gb/s per pin, per-bank refresh; 32 channels of 38.4 GB/s.
model::HbmTimings timings() {
  model::HbmTimings t{};
  t.name = "HBM2E";
  t.clock_hz = 1'200'000'000;
  t.pseudo_channels = t.stacks = 2;
  t.bank_groups = t.banks_per_group = 4;
  t.burst = 32;
  t.burst_clocks = 2;
  t.row = 1024;
  t.trcd_rd = 17, t.trcd_wr = 12, t.trp = 17, t.tras = 40, t.trc = 57, t.cl = 17, t.cwl = 7;
  t.tccd_s = 2, t.tccd_l = 4, t.tccd_r = 3;
  t.trrd_s = 4, t.trrd_l = 5, t.tfaw = 18, t.twr = 19, t.twtr_s = 4, t.twtr_l = 9, t.trtp = 5;
  t.trtw = 14;
  t.trfc = 420, t.trefi = 4680;
  t.trfc_pb = 192, t.trefi_pb = 146, t.trrefd = 10;
  t.act_clocks = 2;
  return t;
}
constexpr double kPeak = 32 * 38.4e9;  // bytes per second

// `rate`: of an engine, 0: as fast as it can.
model::ChipConfig hbm_chip_config(std::uint64_t rate) {
  auto config = dma_chip_config();
  config.dma.engine_rate = rate;
  config.hbm.usable = 1_GiB;
  config.hbm.installed = 2_GiB;
  config.hbm.channels = 32;
  config.hbm.timings = timings();
  config.hbm.policy = model::HbmPolicy::kSplitQueues;
  config.hbm.read_queue = config.hbm.write_queue = 64;
  config.hbm.write_high_percent = 80;
  config.hbm.write_low_percent = 20;
  config.hbm.xor_hash = true;
  config.hbm.frontend = 20_ns;
  config.hbm.backend = 20_ns;
  config.dma.device_chunk = 4_KiB;
  config.dma.buffer = 2_MiB;
  return config;
}

class HbmBench : public sc_core::sc_module {
 public:
  explicit HbmBench(std::uint64_t rate, const sc_core::sc_module_name& name = "bench")
      : sc_module(name), config(hbm_chip_config(rate)) {
    dma.host_socket.bind(host.socket);
    dma.hbm_socket.bind(hbm.port_sockets[0]);
    idle.bind(hbm.port_sockets[1]);
    bar0.bind(registers.register_socket);
  }
  void write32(std::uint64_t offset, std::uint32_t value) {
    auto& trans = sim.pool.allocate(tlm::TLM_WRITE_COMMAND, offset, nullptr, 4);
    std::memcpy(trans.get_data_ptr(), &value, 4);
    auto delay = sc_core::SC_ZERO_TIME;
    bar0->b_transport(trans, delay);
    trans.release();
  }
  model::Simulation sim;
  model::ChipConfig config;
  model::CardRegisters registers{"registers", sim, config, 0};
  model::Dma dma{"dma", sim, config, 0};
  model::RingFrontEnd ring{registers, dma};
  model::Hbm hbm{"hbm", sim, config.hbm, 2, "hbm"};
  StandInMemory host{"host", sim, 1_MiB};
  tlm_utils::simple_initiator_socket<HbmBench> bar0{"bar0"}, idle{"idle"};
};

constexpr Bytes kCopied = 16_MiB;

// Time in ps of so many copies at once, each of a stream and so an engine of its own.
SimTime time_of_copies(HbmBench& bench, unsigned copies) {
  for (unsigned i = 0; i < copies; ++i) {
    const auto entry = make_entry(DmaOpcode::kDeviceToDevice, i * kCopied, 512_MiB + i * kCopied,
                                  kCopied, static_cast<std::uint16_t>(i));
    bench.hbm.memory().write(1_GiB + i * sizeof entry, &entry, sizeof entry);
  }
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::uint32_t one = 1;
  for (unsigned i = 0; i < copies; ++i) {
    bench.registers.streams().host_write(i * abi::kStreamWindowSize,
                                         reinterpret_cast<const unsigned char*>(&one), 4);
  }
  bench.write32(abi::DmaQueueBase::kOffset, static_cast<std::uint32_t>(1_GiB));
  bench.write32(abi::DmaQueueControl::kOffset, 1);
  bench.write32(abi::DmaDoorbell::kOffset, copies);
  while (bench.dma.statistics().commands < copies && model::sim_now() < 10'000'000'000) {
    sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_NS));
  }
  EXPECT_EQ(bench.dma.statistics().commands, copies);
  return model::sim_now();
}

double traffic(unsigned copies, SimTime time) {
  return 2.0 * copies * static_cast<double>(kCopied) / (static_cast<double>(time) * 1e-12);
}

TEST(DmaThroughput, LargeDeviceToDeviceCopyUsesMostOfTheHbm) {
  HbmBench bench(0);
  for (Bytes i = 0; i < kCopied; i += 4096) bench.hbm.memory().write(i, &i, sizeof i);
  const double rate = traffic(1, time_of_copies(bench, 1));
  EXPECT_GE(rate, 0.85 * kPeak);
  EXPECT_LT(rate, kPeak);
  for (Bytes i = 0; i < kCopied; i += 4096) {
    Bytes copied = 1;
    bench.hbm.memory().read(512_MiB + i, &copied, sizeof copied);
    ASSERT_EQ(copied, i);
  }
}

constexpr std::uint64_t kEngineRate = 200'000'000'000;  // bytes per second

TEST(DmaThroughput, AnEngineMovesNoMoreThanItsRate) {
  HbmBench bench(kEngineRate);
  const double rate = traffic(1, time_of_copies(bench, 1));
  EXPECT_LE(rate, 1.001 * kEngineRate);
  EXPECT_GE(rate, 0.97 * kEngineRate) << "between its turns it waits for little";
}

TEST(DmaThroughput, FourEnginesMoveFourTimesAsMuch) {
  HbmBench bench(kEngineRate);
  const double rate = traffic(4, time_of_copies(bench, 4));
  EXPECT_GE(rate, 0.9 * 4 * kEngineRate) << "they meet in the HBM, in some of its banks";
  EXPECT_LE(rate, 4.004 * kEngineRate);
}

}  // namespace
}  // namespace npu::test
