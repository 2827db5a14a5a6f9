// SPDX-License-Identifier: Apache-2.0
// The ring and the command processor want the same engines.

#include "dma_bench.hpp"

namespace npu::test {
namespace {

constexpr Bytes kCopy = 64_KiB;

// Asks for copies as the command processor does: whenever there is room.
class Requester : private model::DmaClient {
 public:
  explicit Requester(model::Dma& dma) : dma_(dma) { dma.connect(*this); }

  void want(unsigned copies) {
    wanted_ += copies;
    ask();
  }
  std::vector<SimTime> done;

 private:
  void ask() {
    while (wanted_ > 0 && dma_.can_request(0)) {
      --wanted_;
      model::DmaRequest copy;
      copy.client = this;
      copy.opcode = static_cast<std::uint8_t>(DmaOpcode::kDeviceToDevice);
      copy.operation = abi::find_dma_operation(copy.opcode);
      copy.destination = 8_MiB;
      copy.size = kCopy;
      dma_.request(copy);
    }
  }
  void dma_left(const model::DmaRequest& request) override {
    EXPECT_FALSE(request.fault.failed());
    done.push_back(model::sim_now());
  }
  void dma_free() override { ask(); }

  model::Dma& dma_;
  unsigned wanted_ = 0;
};

class DmaSharing : public testing::TestWithParam<unsigned> {};  // engines

model::ChipConfig with_engines(unsigned engines) {
  auto config = dma_chip_config();
  config.dma.engines = engines;
  return config;
}

TEST_P(DmaSharing, AFullRingDoesNotKeepRequestsFromTheEngines) {
  DmaBench bench(with_engines(GetParam()));
  Requester requester(bench.dma);
  bench.enable(16);
  for (unsigned i = 0; i < 64 * GetParam(); ++i) {
    bench.push(make_entry(DmaOpcode::kDeviceToDevice, 0, 16_MiB, kCopy, i % 16, i % 256));
  }
  bench.ring_doorbell();
  bench.run(1_us);
  requester.want(8 * GetParam());
  while (requester.done.size() < 8 * GetParam() && !bench.ring.idle()) bench.run(500_ns);
  // In turn: by then the ring has had as many, and what its engines held before.
  EXPECT_EQ(requester.done.size(), 8 * GetParam());
  EXPECT_LE(bench.dma.statistics().commands, (2 * 8 + 10) * GetParam());
}

TEST_P(DmaSharing, RequestsWithoutEndDoNotKeepTheRingFromTheEngines) {
  DmaBench bench(with_engines(GetParam()));
  Requester requester(bench.dma);
  bench.enable(16);
  requester.want(64 * GetParam());
  for (unsigned i = 0; i < 8 * GetParam(); ++i) {
    bench.push(make_entry(DmaOpcode::kDeviceToDevice, 0, 16_MiB, kCopy, i % 16, i % 256));
  }
  bench.ring_doorbell();
  while (!bench.ring.idle() && requester.done.size() < 64 * GetParam()) bench.run(500_ns);
  EXPECT_LE(requester.done.size(), (8 + 8) * GetParam());
}

TEST_P(DmaSharing, EnginesThatHoldOneCommandServeBoth) {
  auto config = with_engines(GetParam());
  config.dma.engine_queue_depth = 1;
  DmaBench bench(config);
  Requester requester(bench.dma);
  bench.enable(16);
  for (unsigned i = 0; i < 8; ++i) {
    bench.push(make_entry(DmaOpcode::kDeviceToDevice, 0, 16_MiB, kCopy, i % 16, i % 256));
  }
  requester.want(8);
  bench.ring_doorbell();
  for (unsigned i = 0; i < 1000 && (!bench.ring.idle() || requester.done.size() < 8); ++i) {
    bench.run(500_ns);
  }
  EXPECT_EQ(requester.done.size(), 8U);
  EXPECT_EQ(bench.dma.statistics().commands, 16U);
}

INSTANTIATE_TEST_SUITE_P(Engines, DmaSharing, testing::Values(1U, 4U));

}  // namespace
}  // namespace npu::test
