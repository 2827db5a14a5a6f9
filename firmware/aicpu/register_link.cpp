// SPDX-License-Identifier: Apache-2.0
// The register handshake: dispatch ids through DATA_MAIN_BASE, ACK and FIN through COND.
#include "firmware/aicpu/core_link.hpp"

namespace npu::firmware {
namespace {

using abi::Cond;
using abi::CoreStatus;
using abi::DataMainBase;
using abi::FastPathEnable;

class RegisterLink : public CoreLink {
 public:
  explicit RegisterLink(const RunView& run)
      : run_(run), dual_issue_(!run.has(abi::kRunSingleIssue)) {}

  void open(const Worker& worker) override {
    run_.port().store_register(worker.physical, FastPathEnable::kOffset, FastPathEnable::kOpen);
    run_.port().store_register(worker.physical, DataMainBase::kOffset, DataMainBase::kIdle);
  }
  // The launch has cleared COND; the core says kIdle when it has seen DATA_MAIN_BASE change.
  bool answered(const Worker& worker) override { return cond(worker) == Cond::kIdle; }

  bool can_pend() const override { return dual_issue_; }

  void ring(const Worker& worker) override {
    run_.port().store_register(worker.physical, DataMainBase::kOffset, worker.last_dispatch);
  }

  // COND may skip a state, so an answer to what was sent says that what ran before has ended.
  Seen look(const Worker& worker) override {
    const std::uint32_t value = cond(worker);
    const std::uint32_t id = value & ~Cond::kFinished;
    const bool finished = (value & Cond::kFinished) != 0,
               two = worker.work == Work::kRunningAndSent;
    if (id == worker.last_dispatch) {
      if (finished) return two ? Seen::kBothEnded : Seen::kEnded;
      if (two) return Seen::kOldestEndedNewestBegun;
      return worker.work == Work::kSent ? Seen::kBegun : Seen::kNothing;
    }
    return finished && two && id == worker.oldest().dispatch ? Seen::kOldestEnded : Seen::kNothing;
  }
  std::uint32_t result(const Worker&, const Assignment& what) override {
    // COND may be ahead of the snoop that drops the line this scheduler wrote itself.
    run_.port().invalidate(what.payload, sizeof(abi::DispatchPayload));
    return run_.load32(what.payload + offsetof(abi::DispatchPayload, result));
  }

  void dismiss(const Worker& worker) override {
    run_.port().store_register(worker.physical, DataMainBase::kOffset, DataMainBase::kExit);
  }
  void urge(const Worker&) override {}
  bool left(const Worker& worker) override { return cond(worker) == Cond::kExited; }
  void close(const Worker& worker) override {
    run_.port().store_register(worker.physical, FastPathEnable::kOffset, FastPathEnable::kClosed);
  }

  std::uint32_t exception(const Worker& worker) override {
    const std::uint32_t status = run_.port().load_register(worker.physical, CoreStatus::kOffset);
    return status == ~std::uint32_t{0} ? 0
                                       : CoreStatus::from_raw(status).get<CoreStatus::Exception>();
  }
  std::uint32_t cond(const Worker& worker) override {
    return run_.port().load_register(worker.physical, Cond::kOffset);
  }

 private:
  const RunView& run_;
  const bool dual_issue_;
};

}  // namespace

std::unique_ptr<CoreLink> make_register_link(const RunView& run) {
  return std::make_unique<RegisterLink>(run);
}

std::unique_ptr<CoreLink> make_core_link(const RunView& run) {
  const auto memory = static_cast<std::uint32_t>(abi::HandshakeKind::kMemory);
  return run.header().handshake == memory ? make_memory_link(run) : make_register_link(run);
}

}  // namespace npu::firmware
