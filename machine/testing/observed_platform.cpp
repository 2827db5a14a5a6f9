// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/observed_platform.hpp"

#include <algorithm>
#include <utility>

#include "machine/testing/access_names.hpp"

namespace npu::testkit {

template <class Make>
std::uint64_t ObservedPlatform::observe(Access access, Make make) {
  access.begin = now();
  observer_.before(access);
  const std::uint64_t value = make();
  if (access.kind == AccessKind::kMmioRead || access.kind == AccessKind::kConfigRead) {
    access.value = value;
  }
  access.end = now();
  if (access.kind == AccessKind::kPoll && poll_round_.count() > 0) {
    access.times = static_cast<std::uint64_t>(
        std::max<std::int64_t>(1, (access.end - access.begin) / poll_round_));
  }
  observer_.after(access);
  return value;
}

class ObservedPlatform::Region : public platform::MmioRegion {
 public:
  Region(ObservedPlatform& platform, std::unique_ptr<MmioRegion> inner, Access place)
      : platform_(platform),
        inner_(std::move(inner)),
        place_(std::move(place)),
        entry_(platform.ledger_, "BAR mapping", inner_->size()) {}
  Bytes size() const override { return inner_->size(); }
  std::uint32_t read32(Bytes offset) override {
    return static_cast<std::uint32_t>(
        read(offset, 4, [&] { return std::uint64_t{inner_->read32(offset)}; }));
  }
  std::uint64_t read64(Bytes offset) override {
    return read(offset, 8, [&] { return inner_->read64(offset); });
  }
  void write32(Bytes offset, std::uint32_t value) override {
    write(offset, 4, value, [&] { inner_->write32(offset, value); });
  }
  void write64(Bytes offset, std::uint64_t value) override {
    write(offset, 8, value, [&] { inner_->write64(offset, value); });
  }

 private:
  Access at(AccessKind kind, Bytes offset, unsigned width) const {
    Access access = place_;
    access.kind = kind;
    access.offset += offset;
    access.width = width;
    access.name = platform_.bar_name_(access.bdf, access.bar, access.offset);
    return access;
  }
  template <class Make>
  std::uint64_t read(Bytes offset, unsigned width, Make make) {
    if (!platform_.observer_.is_listening()) return make();
    return platform_.observe(at(AccessKind::kMmioRead, offset, width), make);
  }
  template <class Make>
  void write(Bytes offset, unsigned width, std::uint64_t value, Make make) {
    if (!platform_.observer_.is_listening()) return make();
    Access access = at(place_.kind, offset, width);
    access.value = value;
    platform_.observe(std::move(access), [&] { return make(), std::uint64_t{0}; });
  }

  ObservedPlatform& platform_;
  std::unique_ptr<MmioRegion> inner_;
  Access place_;  // of offset 0; its kind is that of a store
  LedgerEntry entry_;
};

ObservedPlatform::ObservedPlatform(platform::Platform& inner, AccessObserver& observer,
                                   BarName bar_name, Picoseconds poll_round)
    : ForwardingPlatform(inner),
      observer_(observer),
      bar_name_(std::move(bar_name)),
      poll_round_(poll_round) {
  ledger_->tell(&observer);
}

void ObservedPlatform::copy(ByteSpan to, ConstByteSpan from) {
  observer_.host_accesses(from, false);
  observer_.host_accesses({to.data, to.size}, true);
  inner().copy(to, from);
}

Result<std::unique_ptr<platform::MmioRegion>> ObservedPlatform::map_bar(platform::Bdf bdf,
                                                                        unsigned bar, Bytes offset,
                                                                        Bytes size,
                                                                        platform::Caching caching) {
  auto region = inner().map_bar(bdf, bar, offset, size, caching);
  if (!region) return region;
  Access place;
  place.kind = caching == platform::Caching::kWriteCombining ? AccessKind::kCombiningStore
                                                             : AccessKind::kMmioWrite;
  place.bdf = bdf;
  place.bar = bar;
  place.offset = offset;
  return std::make_unique<Region>(*this, std::move(*region), std::move(place));
}

void ObservedPlatform::write_barrier() {
  if (!observer_.is_listening()) return inner().write_barrier();
  Access access;
  access.kind = AccessKind::kWriteBarrier;
  observe(std::move(access), [&] { return inner().write_barrier(), std::uint64_t{0}; });
}

void ObservedPlatform::read_barrier() {
  if (!observer_.is_listening()) return inner().read_barrier();
  Access access;
  access.kind = AccessKind::kReadBarrier;
  observe(std::move(access), [&] { return inner().read_barrier(), std::uint64_t{0}; });
}

std::uint32_t ObservedPlatform::read(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  const auto make = [&] { return std::uint64_t{inner().pci().read(bdf, offset, width)}; };
  if (!observer_.is_listening()) return static_cast<std::uint32_t>(make());
  Access access;
  access.kind = AccessKind::kConfigRead;
  access.name = config_name(offset);
  access.bdf = bdf;
  access.offset = offset;
  access.width = width;
  return static_cast<std::uint32_t>(observe(std::move(access), make));
}

void ObservedPlatform::write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                             std::uint32_t value) {
  if (!observer_.is_listening()) return inner().pci().write(bdf, offset, width, value);
  Access access;
  access.kind = AccessKind::kConfigWrite;
  access.name = config_name(offset);
  access.bdf = bdf;
  access.offset = offset;
  access.width = width;
  access.value = value;
  observe(std::move(access),
          [&] { return inner().pci().write(bdf, offset, width, value), std::uint64_t{0}; });
}

void ObservedPlatform::relax(ConstByteSpan watched, Instant deadline) {
  if (!observer_.is_listening()) return inner().clock().relax(watched, deadline);
  Access access;
  access.kind = AccessKind::kPoll;
  observe(std::move(access),
          [&] { return inner().clock().relax(watched, deadline), std::uint64_t{0}; });
}

}  // namespace npu::testkit
