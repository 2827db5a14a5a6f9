// SPDX-License-Identifier: Apache-2.0
// The platform interface over fake hardware in virtual time. Deterministic; everything it does can
// be looked at (bus log, trace) and turned against the driver (see FakeCardBehaviour).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "npu/platform/platform.hpp"
#include "tests/support/fake/fake_card.hpp"
#include "tests/support/fake/fake_memory.hpp"
#include "tests/support/fake/fake_pci.hpp"
#include "tests/support/fake/fake_scheduler.hpp"

namespace npu::test {

struct FakeCosts {
  Picoseconds mmio_store = 10_ns;
  Picoseconds mmio_load = 600_ns;
  Picoseconds barrier = 20_ns;
  Picoseconds poll_round = 20_ns;
  Picoseconds config_access = 1_us;
};

struct BusAccess {
  enum class Kind { kRead, kWrite, kBarrier } kind;
  unsigned bar = 0;
  Bytes offset = 0;  // in the BAR
  std::uint64_t value = 0;
};

// Keeps what is emitted while it listens.
class FakeTracer : public platform::Tracer {
 public:
  explicit FakeTracer(FakeScheduler& scheduler) : scheduler_(scheduler) {}
  std::uint32_t track(std::string_view name) override;
  void emit(const platform::TraceEvent& event) override;
  std::uint64_t exchange_cause(std::uint64_t cause) override;
  std::uint64_t cause() const;
  void listen(bool on) { enabled_ = on; }

  std::vector<platform::TraceEvent> events;

 private:
  FakeScheduler& scheduler_;
  std::vector<std::string> names_{"none"};
  std::map<std::size_t, std::uint64_t> causes_;
};

class FakePlatform : public platform::Platform, private platform::Clock, private platform::Tasks {
 public:
  FakePlatform() : tracer_(scheduler) {}

  platform::PciAccess& pci() override { return counted_pci_; }
  platform::Clock& clock() override { return *this; }
  platform::Tasks& tasks() override { return *this; }
  FakeTracer& tracer() override { return tracer_; }

  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override;
  // Its functions have one address space.
  Result<platform::BusAddress> share_dma(platform::DmaMemory& memory, platform::Bdf bdf) override {
    if (card(bdf) == nullptr) return fail(ErrorCode::kNotFound, "no such function");
    return memory.bus();
  }
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override;
  Result<std::unique_ptr<platform::DmaMemory>> import_dma(platform::Bdf bdf, ByteSpan memory,
                                                          platform::DmaDirection direction,
                                                          platform::HostPages pages) override;
  void copy(ByteSpan to, ConstByteSpan from) override { Platform::copy(to, from); }
  Status bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) override;
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override;
  Status reset_function(platform::Bdf bdf) override;
  void write_barrier() override;
  void read_barrier() override {}

  FakeCard& add_card(const FakeCardConfig& config = {});
  FakeCard* card(platform::Bdf bdf);

  FakeScheduler scheduler;
  FakePci fake_pci;
  FakeHostMemory host_memory;
  FakeCosts costs;
  // What a real platform would not survive, in words.
  std::vector<std::string> misuses;
  bool log_bus = false;
  std::vector<BusAccess> bus_log;
  // Called inside InterruptVector::count(), before and after the count is taken: between a check
  // and the sleep, where wake-ups get lost.
  std::function<void()> before_vector_count, on_vector_count;

 private:
  class CountedPci : public platform::PciAccess {
   public:
    explicit CountedPci(FakePlatform& fake) : fake_(fake) {}
    std::vector<platform::HostBridge> host_bridges() const override {
      return fake_.fake_pci.host_bridges();
    }
    std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
    void write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
               std::uint32_t value) override;

   private:
    FakePlatform& fake_;
  };

  // Clock
  Instant now() override { return scheduler.now(); }
  void relax(ConstByteSpan watched, Instant deadline) override;
  void sleep_until(Instant deadline) override;
  // Tasks
  Result<std::unique_ptr<platform::Task>> spawn(std::string name,
                                                std::function<void()> body) override;
  std::unique_ptr<platform::Mutex> make_mutex() override;
  std::unique_ptr<platform::Condition> make_condition() override;
  platform::CpuUsage cpu_usage() override;

  FakeTracer tracer_;
  CountedPci counted_pci_{*this};
  std::map<platform::Bdf, std::unique_ptr<FakeCard>> cards_;
};

}  // namespace npu::test
