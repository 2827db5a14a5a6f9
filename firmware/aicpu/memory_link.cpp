// SPDX-License-Identifier: Apache-2.0
// The memory handshake (requirements.md M6): one task at a time through the worker's line. The line
// is the core's while a task runs, because a core writes whole lines back.
#include "firmware/aicpu/core_link.hpp"

namespace npu::firmware {
namespace {

using abi::FastPathEnable;
using abi::Handshake;

class MemoryLink : public CoreLink {
 public:
  explicit MemoryLink(const RunView& run) : run_(run) {}

  void open(const Worker&) override {}
  bool answered(const Worker&) override { return true; }  // aicore_done has said so
  bool can_pend() const override { return false; }

  void ring(const Worker& worker) override {
    run_.port().store(run_.handshake(worker.index, offsetof(Handshake, task)), 8,
                      worker.newest().payload);
    run_.store32(run_.handshake(worker.index, offsetof(Handshake, task_sequence)),
                 worker.last_dispatch);
  }

  Seen look(const Worker& worker) override {
    const auto done = run_.load32(run_.handshake(worker.index, offsetof(Handshake, done_sequence)));
    return done == worker.last_dispatch ? Seen::kEnded : Seen::kNothing;
  }
  std::uint32_t result(const Worker& worker, const Assignment&) override {
    return run_.load32(run_.handshake(worker.index, offsetof(Handshake, task_result)));
  }

  void dismiss(const Worker& worker) override {
    run_.store32(run_.handshake(worker.index, offsetof(Handshake, control)), 1);
  }
  // A core that was at work has overwritten it when it wrote its line back.
  void urge(const Worker& worker) override {
    if (run_.load32(run_.handshake(worker.index, offsetof(Handshake, control))) == 0) {
      dismiss(worker);
    }
  }
  // A core says nothing of its leaving; one that has no task will see the word.
  bool left(const Worker& worker) override {
    if (!worker.busy()) return true;
    const auto done = run_.load32(run_.handshake(worker.index, offsetof(Handshake, done_sequence)));
    return done == worker.last_dispatch;
  }
  void close(const Worker& worker) override {
    if (worker.busy()) urge(worker);
  }

  // The windows are not open in this handshake.
  std::uint32_t exception(const Worker& worker) override {
    const std::uint32_t status = peek(worker, abi::CoreStatus::kOffset);
    return status == ~std::uint32_t{0}
               ? 0
               : abi::CoreStatus::from_raw(status).get<abi::CoreStatus::Exception>();
  }
  std::uint32_t cond(const Worker& worker) override { return peek(worker, abi::Cond::kOffset); }

 private:
  std::uint32_t peek(const Worker& worker, std::uint32_t offset) {
    auto& port = run_.port();
    port.store_register(worker.physical, FastPathEnable::kOffset, FastPathEnable::kOpen);
    const std::uint32_t value = port.load_register(worker.physical, offset);
    port.store_register(worker.physical, FastPathEnable::kOffset, FastPathEnable::kClosed);
    return value;
  }

  const RunView& run_;
};

}  // namespace

std::unique_ptr<CoreLink> make_memory_link(const RunView& run) {
  return std::make_unique<MemoryLink>(run);
}

}  // namespace npu::firmware
