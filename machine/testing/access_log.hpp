// SPDX-License-Identifier: Apache-2.0
// What listens to the accesses of a machine: calls that are recorded, and faults that wait for an
// access.
#pragma once

#include <functional>
#include <vector>

#include "machine/testing/access_observer.hpp"
#include "npu/platform/trace.hpp"
#include "npu/testing/fault.hpp"

namespace npu::testkit {

class AccessLog : public AccessObserver, public platform::TraceSink {
 public:
  // `begin` makes a fault happen at the time of the access before which it is due.
  explicit AccessLog(std::function<void(const Fault&)> begin) : begin_(std::move(begin)) {}

  // `record` hears of everything until it is taken back, the innermost first.
  void start(Accesses& record) { records_.push_back(&record); }
  void stop() { records_.pop_back(); }
  bool is_recording() const { return !records_.empty(); }

  // Somebody who hears of everything the machine's observer does; null: nobody.
  void also_tell(AccessObserver* other) { other_ = other; }

  void arm(const Fault& fault, const When& when) { armed_.push_back({fault, when, 0}); }
  std::size_t armed() const { return armed_.size(); }

  // AccessObserver
  bool is_listening() const override {
    return !records_.empty() || !armed_.empty() || other_ != nullptr;
  }
  void before(Access& access) override;
  void after(const Access& access) override;
  void memory_made(platform::Bdf bdf, ByteSpan cpu, platform::BusAddress bus) override {
    if (other_ != nullptr) other_->memory_made(bdf, cpu, bus);
  }
  void memory_gone(ByteSpan cpu) override {
    if (other_ != nullptr) other_->memory_gone(cpu);
  }
  void host_accesses(ConstByteSpan bytes, bool write) override {
    if (other_ != nullptr) other_->host_accesses(bytes, write);
  }
  void host_looks() override {
    if (other_ != nullptr) other_->host_looks();
  }
  // TraceSink: interrupts that arrive.
  void on_event(const platform::TraceEvent& event) override;

 private:
  struct Armed {
    Fault fault;
    When when;
    std::uint64_t seen;
  };

  std::function<void(const Fault&)> begin_;
  std::vector<Accesses*> records_;
  std::vector<Armed> armed_;
  AccessObserver* other_ = nullptr;
};

}  // namespace npu::testkit
