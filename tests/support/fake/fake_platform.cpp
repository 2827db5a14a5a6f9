// SPDX-License-Identifier: Apache-2.0
// FakePlatform: BARs, DMA memory, interrupts, configuration accesses.
#include "tests/support/fake/fake_platform.hpp"

#include <cassert>

#include "npu/base/checked.hpp"
#include "tests/support/fake/hardware_section.hpp"

namespace npu::test {
namespace {

class FakeRegion : public platform::MmioRegion {
 public:
  FakeRegion(FakePlatform& fake, FakeCard& card, unsigned bar, Bytes base, Bytes size)
      : fake_(fake), card_(card), bar_(bar), base_(base), size_(size) {}

  Bytes size() const override { return size_; }
  std::uint32_t read32(Bytes offset) override {
    return static_cast<std::uint32_t>(load(offset, 4));
  }
  std::uint64_t read64(Bytes offset) override { return load(offset, 8); }
  void write32(Bytes offset, std::uint32_t value) override { store(offset, 4, value); }
  void write64(Bytes offset, std::uint64_t value) override { store(offset, 8, value); }

 private:
  std::uint64_t load(Bytes offset, unsigned width) {
    assert(is_aligned(offset, width) && range_fits(offset, width, size_));
    fake_.scheduler.advance(fake_.costs.mmio_load);
    const HardwareSection section(fake_.scheduler);
    const auto value = card_.read(bar_, base_ + offset, width);
    if (fake_.log_bus) {
      fake_.bus_log.push_back({BusAccess::Kind::kRead, bar_, base_ + offset, value});
    }
    return value;
  }
  void store(Bytes offset, unsigned width, std::uint64_t value) {
    assert(is_aligned(offset, width) && range_fits(offset, width, size_));
    fake_.scheduler.advance(fake_.costs.mmio_store);
    const HardwareSection section(fake_.scheduler);
    if (fake_.log_bus) {
      fake_.bus_log.push_back({BusAccess::Kind::kWrite, bar_, base_ + offset, value});
    }
    card_.write(bar_, base_ + offset, width, value);
  }

  FakePlatform& fake_;
  FakeCard& card_;
  unsigned bar_;
  Bytes base_, size_;
};

class FakeDmaMemory : public platform::DmaMemory {
 public:
  FakeDmaMemory(FakePlatform& fake, platform::BusAddress bus)
      : DmaMemory(fake.host_memory.cpu(bus), bus), fake_(fake) {}
  ~FakeDmaMemory() override {
    const HardwareSection section(fake_.scheduler);
    fake_.host_memory.unmap(bus());
  }

 private:
  FakePlatform& fake_;
};

class FakeVector : public platform::InterruptVector {
 public:
  FakeVector(FakePlatform& fake, FakeCard::Vector& state) : fake_(fake), state_(state) {
    state_.open = true;
    state_.count = 0;
  }
  ~FakeVector() override {
    const HardwareSection section(fake_.scheduler);
    state_.open = false;
    if (state_.sleepers > 0) fake_.misuses.emplace_back("a vector closes on which a task sleeps");
  }
  std::uint64_t count() override {
    if (fake_.before_vector_count) fake_.before_vector_count();
    const auto count = read();
    if (fake_.on_vector_count) fake_.on_vector_count();
    return count;
  }
  Result<std::uint64_t> wait_after(std::uint64_t seen, Instant deadline) override {
    if (read() != seen) return read();
    // Not in the object: it may be gone when the task wakes up, which is noted then.
    auto& state = state_;
    auto& scheduler = fake_.scheduler;
    change_sleepers(scheduler, state, 1);
    const std::function<bool()> came = [&] { return state.count != seen; };
    const bool woken = scheduler.block_until(deadline, came);
    change_sleepers(scheduler, state, -1);
    if (!woken) return fail(ErrorCode::kTimeout, "no interrupt");
    return read();
  }
  void wake() override {
    const HardwareSection section(fake_.scheduler);
    ++state_.count;
  }

 private:
  std::uint64_t read() const {
    const auto& state = state_;
    const HardwareSection section(fake_.scheduler);
    return state.count;
  }
  static void change_sleepers(FakeScheduler& scheduler, FakeCard::Vector& state, int change) {
    const HardwareSection section(scheduler);
    state.sleepers += change;
  }

  FakePlatform& fake_;
  FakeCard::Vector& state_;
};

}  // namespace

FakeCard& FakePlatform::add_card(const FakeCardConfig& config) {
  auto& card = cards_[config.bdf];
  card = std::make_unique<FakeCard>(config, fake_pci, host_memory, scheduler);
  card->find_card = [this](unsigned index) -> FakeCard* {
    for (const auto& [bdf, each] : cards_) {
      if (each->config().index == index && each->present()) return each.get();
    }
    return nullptr;
  };
  return *card;
}

FakeCard* FakePlatform::card(platform::Bdf bdf) {
  const HardwareSection section(scheduler);
  const auto found = cards_.find(bdf);
  return found != cards_.end() && found->second->present() ? found->second.get() : nullptr;
}

Result<std::unique_ptr<platform::MmioRegion>> FakePlatform::map_bar(platform::Bdf bdf, unsigned bar,
                                                                    Bytes offset, Bytes size,
                                                                    platform::Caching) {
  auto* found = card(bdf);
  if (!found || (bar != abi::kRegisterBar && bar != abi::kMemoryBar)) {
    return fail(ErrorCode::kNotFound, "no such BAR");
  }
  if (size == 0 || !is_aligned(offset | size, 4096)) {
    return fail(ErrorCode::kMisaligned, "offset and size must be multiples of 4 KiB");
  }
  const Bytes limit = bar == abi::kRegisterBar ? abi::kBar0Size : found->config().bar2_size;
  if (!range_fits(offset, size, limit)) return fail(ErrorCode::kOutOfRange, "outside the BAR");
  return std::make_unique<FakeRegion>(*this, *found, bar, offset, size);
}

Result<std::unique_ptr<platform::DmaMemory>> FakePlatform::allocate_dma(
    platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) {
  if (size == 0) return fail(ErrorCode::kInvalidArgument, "0 bytes");
  if (!is_power_of_two(alignment) || alignment < 4096) {
    return fail(ErrorCode::kMisaligned, "alignment");
  }
  if (!card(bdf)) return fail(ErrorCode::kNotFound, "no such function");
  if (size > 64_GiB) return fail(ErrorCode::kOutOfMemory, "the fake has 64 GiB");
  const HardwareSection section(scheduler);
  return std::make_unique<FakeDmaMemory>(*this, host_memory.map(size, alignment, direction));
}

Result<std::unique_ptr<platform::DmaMemory>> FakePlatform::import_dma(
    platform::Bdf bdf, ByteSpan memory, platform::DmaDirection direction, platform::HostPages) {
  if (memory.size == 0) return fail(ErrorCode::kInvalidArgument, "0 bytes");
  if (!is_aligned(reinterpret_cast<std::uintptr_t>(memory.data) | memory.size, 4096)) {
    return fail(ErrorCode::kMisaligned, "no whole pages");
  }
  if (!card(bdf)) return fail(ErrorCode::kNotFound, "no such function");
  const HardwareSection section(scheduler);
  return std::make_unique<FakeDmaMemory>(*this, host_memory.import(memory, direction));
}

Result<std::unique_ptr<platform::InterruptVector>> FakePlatform::open_vector(platform::Bdf bdf,
                                                                             unsigned vector) {
  auto* found = card(bdf);
  if (!found) return fail(ErrorCode::kNotFound, "no such function");
  if (vector >= found->config().vectors) return fail(ErrorCode::kOutOfRange, "no such vector");
  const HardwareSection section(scheduler);
  auto& state = found->vector(vector);
  if (state.open) return fail(ErrorCode::kAlreadyExists, "the vector is open");
  auto* function = fake_pci.find(bdf);
  const auto control = found->msix_capability() + abi::pci::kMsixControl;
  function->set(control, 2, function->get(control, 2) | abi::pci::kMsixControlEnable);
  return std::make_unique<FakeVector>(*this, state);
}

Status FakePlatform::bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) {
  const HardwareSection section(scheduler);
  host_memory.bind(memory.bus(), pasid);
  return {};
}

Status FakePlatform::reset_function(platform::Bdf bdf) {
  auto* found = card(bdf);
  if (!found) return fail(ErrorCode::kNotFound, "no such function");
  const HardwareSection section(scheduler);
  found->reset();
  return {};
}

void FakePlatform::write_barrier() {
  scheduler.advance(costs.barrier);
  const HardwareSection section(scheduler);
  if (log_bus) bus_log.push_back({BusAccess::Kind::kBarrier, 0, 0, 0});
}

std::uint32_t FakePlatform::CountedPci::read(platform::Bdf bdf, std::uint32_t offset,
                                             unsigned width) {
  fake_.scheduler.advance(fake_.costs.config_access);
  const HardwareSection section(fake_.scheduler);
  return fake_.fake_pci.read(bdf, offset, width);
}

void FakePlatform::CountedPci::write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                                     std::uint32_t value) {
  fake_.scheduler.advance(fake_.costs.config_access);
  const HardwareSection section(fake_.scheduler);
  fake_.fake_pci.write(bdf, offset, width, value);
}

}  // namespace npu::test
