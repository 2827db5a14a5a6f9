// SPDX-License-Identifier: Apache-2.0
#include "tests/system/demo/saboteur.hpp"

#include <algorithm>

namespace npu::test {

using platform::Bdf;

class Saboteur::Memory : public platform::DmaMemory {
 public:
  Memory(Saboteur& owner, std::unique_ptr<DmaMemory> inner)
      : DmaMemory(inner->cpu(), inner->bus()), owner_(owner), inner_(std::move(inner)) {
    owner_.live_.push_back(cpu());
  }
  ~Memory() override {
    auto& live = owner_.live_;
    live.erase(std::find_if(live.begin(), live.end(),
                            [this](ByteSpan bytes) { return bytes.data == cpu().data; }));
    if (owner_.plan_.never_unmap) owner_.kept_.push_back(std::move(inner_));
  }
  DmaMemory& inner() { return *inner_; }

 private:
  Saboteur& owner_;
  std::unique_ptr<DmaMemory> inner_;
};

class Saboteur::Region : public platform::MmioRegion {
 public:
  Region(Saboteur& owner, std::unique_ptr<MmioRegion> inner, Bytes offset)
      : owner_(owner), inner_(std::move(inner)), offset_(offset) {}
  Bytes size() const override { return inner_->size(); }
  std::uint32_t read32(Bytes offset) override {
    return static_cast<std::uint32_t>(changed(offset, inner_->read32(offset)));
  }
  std::uint64_t read64(Bytes offset) override { return changed(offset, inner_->read64(offset)); }
  void write32(Bytes offset, std::uint32_t value) override { inner_->write32(offset, value); }
  void write64(Bytes offset, std::uint64_t value) override { inner_->write64(offset, value); }

 private:
  std::uint64_t changed(Bytes offset, std::uint64_t value) const {
    const auto& change = owner_.plan_.on_register;
    return change ? change(offset_ + offset, value) : value;
  }
  Saboteur& owner_;
  std::unique_ptr<MmioRegion> inner_;
  Bytes offset_;
};

class Saboteur::Vector : public platform::InterruptVector {
 public:
  Vector(Saboteur& owner, std::unique_ptr<InterruptVector> inner)
      : owner_(owner), inner_(std::move(inner)) {}
  std::uint64_t count() override { return owner_.plan_.silent_vectors ? 0 : inner_->count(); }
  Result<std::uint64_t> wait_after(std::uint64_t seen, Instant deadline) override {
    if (owner_.plan_.silent_vectors) {
      owner_.inner_.clock().sleep_until(deadline);
      return fail(ErrorCode::kTimeout, "silent");
    }
    auto woken = inner_->wait_after(seen, deadline);
    if (owner_.plan_.before_interrupt_returns) owner_.plan_.before_interrupt_returns();
    return woken;
  }
  void wake() override { inner_->wake(); }

 private:
  Saboteur& owner_;
  std::unique_ptr<InterruptVector> inner_;
};

Result<std::unique_ptr<platform::MmioRegion>> Saboteur::map_bar(Bdf bdf, unsigned bar, Bytes offset,
                                                                Bytes size,
                                                                platform::Caching caching) {
  auto inner = inner_.map_bar(bdf, bar, offset, size, caching);
  if (!inner || bar != 0) return inner;
  return std::make_unique<Region>(*this, std::move(*inner), offset);
}

Result<std::unique_ptr<platform::DmaMemory>> Saboteur::allocate_dma(
    Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) {
  if (plan_.map_read_write) direction = platform::DmaDirection::kBidirectional;
  auto inner = inner_.allocate_dma(bdf, size, alignment, direction);
  if (!inner) return inner;
  return std::make_unique<Memory>(*this, std::move(*inner));
}

Status Saboteur::bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) {
  return inner_.bind_pasid(static_cast<Memory&>(memory).inner(), pasid);
}

Result<std::unique_ptr<platform::InterruptVector>> Saboteur::open_vector(Bdf bdf, unsigned vector) {
  auto inner = inner_.open_vector(bdf, vector);
  if (!inner) return inner;
  return std::make_unique<Vector>(*this, std::move(*inner));
}

ByteSpan Saboteur::of_size(Bytes size) const {
  for (const auto bytes : live_) {
    if (bytes.size == size) return bytes;
  }
  return {};
}

Status Saboteur::reset_function(Bdf bdf) {
  return plan_.no_reset ? Status() : inner_.reset_function(bdf);
}

std::uint32_t Saboteur::read(Bdf bdf, std::uint32_t offset, unsigned width) {
  const auto value = inner_.pci().read(bdf, offset, width);
  return plan_.on_config ? plan_.on_config(offset, value) : value;
}

void Saboteur::write(Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) {
  inner_.pci().write(bdf, offset, width, value);
}

}  // namespace npu::test
