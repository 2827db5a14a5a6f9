// SPDX-License-Identifier: Apache-2.0
// Objects of a platform that a ledger knows of while they live; they do what the ones inside do.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "machine/testing/object_ledger.hpp"
#include "npu/platform/platform.hpp"

namespace npu::testkit {

class TrackedMemory final : public platform::DmaMemory {
 public:
  TrackedMemory(std::unique_ptr<DmaMemory> inner, std::shared_ptr<ObjectLedger> ledger,
                std::string_view kind = "host buffer")
      : DmaMemory(inner->cpu(), inner->bus()),
        inner_(std::move(inner)),
        entry_(std::move(ledger), kind, size()) {}
  ~TrackedMemory() override { entry_.ledger().memory_goes(cpu()); }
  TrackedMemory(const TrackedMemory&) = delete;
  TrackedMemory& operator=(const TrackedMemory&) = delete;
  // What the platform inside has made of it.
  static DmaMemory& inside(DmaMemory& memory) {
    auto* const tracked = dynamic_cast<TrackedMemory*>(&memory);
    return tracked != nullptr ? *tracked->inner_ : memory;
  }

 private:
  std::unique_ptr<DmaMemory> inner_;
  LedgerEntry entry_;
};

class TrackedVector final : public platform::InterruptVector {
 public:
  TrackedVector(std::unique_ptr<InterruptVector> inner, std::shared_ptr<ObjectLedger> ledger)
      : inner_(std::move(inner)), entry_(std::move(ledger), "interrupt vector") {}
  std::uint64_t count() override { return looked(inner_->count()); }
  Result<std::uint64_t> wait_after(std::uint64_t seen, Instant deadline) override {
    return looked(inner_->wait_after(seen, deadline));
  }
  Result<std::uint64_t> daemon_wait_after(std::uint64_t seen, Instant deadline) override {
    return looked(inner_->daemon_wait_after(seen, deadline));
  }
  void wake() override { inner_->wake(); }

 private:
  template <class Seen>
  Seen looked(Seen seen) const {
    entry_.ledger().host_looks();
    return seen;
  }

  std::unique_ptr<InterruptVector> inner_;
  LedgerEntry entry_;
};

class TrackedAddresses final : public platform::ProcessAddresses {
 public:
  TrackedAddresses(std::unique_ptr<ProcessAddresses> inner, std::shared_ptr<ObjectLedger> ledger)
      : inner_(std::move(inner)), ledger_(ledger), entry_(std::move(ledger), "address sharing") {}
  Result<std::unique_ptr<platform::DmaMemory>> allocate(Bytes size) override {
    auto memory = inner_->allocate(size);
    if (!memory) return memory;
    return std::make_unique<TrackedMemory>(std::move(*memory), ledger_);
  }
  Result<std::unique_ptr<platform::DmaMemory>> import(ByteSpan bytes) override {
    auto memory = inner_->import(bytes);
    if (!memory) return memory;
    return std::make_unique<TrackedMemory>(std::move(*memory), ledger_);
  }
  Status attach(std::uint32_t pasid) override { return inner_->attach(pasid); }
  Status map(std::uint32_t pasid, std::uint64_t address, platform::DmaMemory& memory,
             bool write) override {
    return inner_->map(pasid, address, TrackedMemory::inside(memory), write);
  }
  Status unmap(std::uint32_t pasid, std::uint64_t address) override {
    return inner_->unmap(pasid, address);
  }
  std::optional<platform::PageRequest> take() override { return inner_->take(); }
  void respond(const platform::PageRequest& request, platform::PageResponse response) override {
    inner_->respond(request, response);
  }
  platform::InterruptVector& arrivals() override { return inner_->arrivals(); }

 private:
  std::unique_ptr<ProcessAddresses> inner_;
  std::shared_ptr<ObjectLedger> ledger_;
  LedgerEntry entry_;
};

}  // namespace npu::testkit
