// SPDX-License-Identifier: Apache-2.0
// dma_latency measures drivers other than the one in this repository: more register accesses,
// barriers and doorbells around a submission. The latency moves by what they cost, wherever the
// waiter's polls happen to fall.
#include "npu/abi/registers.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

enum class Change {
  kNone,
  kReadBeforeDoorbell,
  kReadAfterDoorbell,
  kTwoReadsBeforeDoorbell,
  kDoorbellTwice,
  kBarriers,
};

// The registers as a driver with the change would use them.
class ChangedRegisters : public platform::MmioRegion {
 public:
  ChangedRegisters(std::unique_ptr<MmioRegion> inner, platform::Platform& host, Change change)
      : inner_(std::move(inner)), host_(host), change_(change) {}
  Bytes size() const override { return inner_->size(); }
  std::uint32_t read32(Bytes offset) override { return inner_->read32(offset); }
  std::uint64_t read64(Bytes offset) override { return inner_->read64(offset); }
  void write64(Bytes offset, std::uint64_t value) override { inner_->write64(offset, value); }
  void write32(Bytes offset, std::uint32_t value) override {
    if (offset != abi::DmaDoorbell::kOffset) return inner_->write32(offset, value);
    if (change_ == Change::kReadBeforeDoorbell || change_ == Change::kTwoReadsBeforeDoorbell) {
      inner_->read32(abi::DmaQueueStatus::kOffset);
    }
    if (change_ == Change::kTwoReadsBeforeDoorbell) inner_->read32(abi::DmaQueueStatus::kOffset);
    if (change_ == Change::kBarriers) host_.write_barrier();
    inner_->write32(offset, value);
    if (change_ == Change::kDoorbellTwice) inner_->write32(offset, value);
    if (change_ == Change::kBarriers) host_.write_barrier();
    if (change_ == Change::kReadAfterDoorbell) inner_->read32(abi::DmaQueueStatus::kOffset);
  }

 private:
  std::unique_ptr<MmioRegion> inner_;
  platform::Platform& host_;
  Change change_;
};

class ChangedPlatform : public platform::Platform {
 public:
  ChangedPlatform(platform::Platform& host, Change change) : host_(host), change_(change) {}
  platform::PciAccess& pci() override { return host_.pci(); }
  platform::Clock& clock() override { return host_.clock(); }
  platform::Tasks& tasks() override { return host_.tasks(); }
  platform::Tracer& tracer() override { return host_.tracer(); }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override {
    auto region = host_.map_bar(bdf, bar, offset, size, caching);
    if (!region || bar != abi::kRegisterBar || offset != 0) return region;
    return std::make_unique<ChangedRegisters>(std::move(*region), host_, change_);
  }
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override {
    return host_.allocate_dma(bdf, size, alignment, direction);
  }
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override {
    return host_.open_vector(bdf, vector);
  }
  Status reset_function(platform::Bdf bdf) override { return host_.reset_function(bdf); }
  void write_barrier() override { host_.write_barrier(); }
  void read_barrier() override { host_.read_barrier(); }

 private:
  platform::Platform& host_;
  Change change_;
};

// The request of 24 bytes and the completion of 28 on 16 lanes of generation 4, every hop there and
// back, and the register.
std::int64_t cost_of_a_read(const model::SystemConfig& system) {
  const auto& endpoint = system.cards[0].endpoint;
  const auto& link = system.cards[0].link;
  const std::int64_t wires = (24 * 65'000 + 2047) / 2048 + (28 * 65'000 + 2047) / 2048;
  return system.cpu.mmio_load.count() + 2 * system.root_complex.latency.count() + wires +
         2 * link.propagation.count() + endpoint.ingress.count() + endpoint.register_access.count();
}

// Copies of 64 bytes to the host by the driver as it is and by one with the change, on one machine.
class DriverChange : public testing::TestWithParam<const char*> {
 protected:
  static constexpr double kHbmClock = 834;  // ps, rounded up; HBM2E at 1.2 GHz

  // Moves the latency by `cost`, but for the phase at which the HBM's clock is met.
  void expect_cost(Change change, std::int64_t cost) {
    const auto plain = measure(Change::kNone);
    const auto changed = measure(change);
    EXPECT_NEAR(static_cast<double>(exact(changed, "dma.d2h.64B.latency_ns")),
                static_cast<double>(exact(plain, "dma.d2h.64B.latency_ns") + cost), kHbmClock);
    // What the CPU and the link do has no such phase.
    EXPECT_EQ(on_the_way(changed), on_the_way(plain) + cost);
  }
  reports::Report measure(Change change) {
    machine_.decorate = [this, change](platform::Platform& host) -> platform::Platform& {
      changed_ = std::make_unique<ChangedPlatform>(host, change);
      return *changed_;
    };
    return machine_.workload("dma_latency",
                             {"sizes=64", "directions=d2h", std::string("ring=") + GetParam()});
  }
  static std::int64_t on_the_way(const reports::Report& report) {
    return exact(report, "dma.d2h.64B.breakdown.entry_store_ns") +
           exact(report, "dma.d2h.64B.breakdown.doorbell_ns");
  }

  std::unique_ptr<ChangedPlatform> changed_;
  Machine machine_;
};

TEST_P(DriverChange, AReadBeforeTheDoorbellCostsARoundTrip) {
  expect_cost(Change::kReadBeforeDoorbell, cost_of_a_read(machine_.config()));
}
TEST_P(DriverChange, TwoReadsBeforeTheDoorbellCostTwo) {
  expect_cost(Change::kTwoReadsBeforeDoorbell, 2 * cost_of_a_read(machine_.config()));
}
TEST_P(DriverChange, AReadBehindTheDoorbellCostsTheCommandNothing) {
  expect_cost(Change::kReadAfterDoorbell, 0);
}
TEST_P(DriverChange, ASecondDoorbellCostsTheCommandNothing) {
  expect_cost(Change::kDoorbellTwice, 0);
}
TEST_P(DriverChange, ABarrierCostsItself) {
  expect_cost(Change::kBarriers, machine_.config().cpu.barrier.count());
}
TEST_P(DriverChange, PartsAndWaitAddUpToTheCall) {
  for (const auto change :
       {Change::kReadBeforeDoorbell, Change::kReadAfterDoorbell, Change::kDoorbellTwice}) {
    const auto report = measure(change);
    std::int64_t sum = 0;
    for (const auto& metric : report.metrics()) {
      if (metric.name.find(".breakdown.") != std::string::npos) sum += metric.value.value();
    }
    EXPECT_EQ(sum, exact(report, "dma.d2h.64B.call_ns"));
  }
}

INSTANTIATE_TEST_SUITE_P(Rings, DriverChange, testing::Values("device", "host"),
                         [](const auto& ring) { return std::string(ring.param); });

}  // namespace
}  // namespace npu::test
