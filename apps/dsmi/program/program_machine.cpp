// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <cstring>

#include "apps/dsmi/machine_elsewhere.hpp"
#include "apps/dsmi/program/program_calls.hpp"
#include "apps/dsmi/program/program_devices.hpp"
#include "apps/dsmi/program/program_host.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/pci.hpp"

namespace npu::dsmi {
namespace {

using compat::Call;

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

// Of the answer, or all ones, as a card that is gone reads.
std::uint64_t value_of(const Result<compat::wire::Number>& asked) {
  return asked ? asked->number : kAllOnes;
}

template <class Answer>
Status status_of(const Result<Answer>& asked) {
  if (!asked) return forward_error(asked);
  return {};
}

class ProgramRegisters : public platform::MmioRegion {
 public:
  explicit ProgramRegisters(std::int64_t card) : card_(card) {}
  Bytes size() const override { return abi::kBar0Size; }
  std::uint32_t read32(Bytes offset) override {
    return static_cast<std::uint32_t>(value_of(ask_npusim<Call::kManageRead>({card_, offset, 4})));
  }
  std::uint64_t read64(Bytes offset) override {
    return value_of(ask_npusim<Call::kManageRead>({card_, offset, 8}));
  }
  void write32(Bytes offset, std::uint32_t value) override {
    static_cast<void>(ask_npusim<Call::kManageWrite>({card_, offset, 4, value}));
  }
  void write64(Bytes offset, std::uint64_t value) override {
    static_cast<void>(ask_npusim<Call::kManageWrite>({card_, offset, 8, value}));
  }

 private:
  const std::int64_t card_;
};

class ProgramCard : public driver::ManagementAccess {
 public:
  ProgramCard(std::int64_t card, platform::Bdf bdf) : card_(card), bdf_(bdf), registers_(card) {}

  platform::Bdf bdf() const override { return bdf_; }
  platform::MmioRegion& registers() override { return registers_; }
  std::uint32_t read_config(std::uint32_t offset) override {
    return static_cast<std::uint32_t>(value_of(ask_npusim<Call::kManageConfig>({card_, offset})));
  }
  Result<driver::MemoryUse> memory_use() override {
    const auto use = ask_npusim<Call::kManageMemory>({card_});
    if (!use) return forward_error(use);
    return driver::MemoryUse{use->total, use->used};
  }
  Result<std::vector<driver::CardProcess>> processes() override {
    const auto count = ask_npusim<Call::kManageProcesses>({card_});
    if (!count) return forward_error(count);
    std::vector<compat::ManagedProcess> told(count->number);
    read_window(told.data(), told.size() * sizeof(compat::ManagedProcess));
    std::vector<driver::CardProcess> all;
    all.reserve(told.size());
    for (const auto& one : told) {
      all.push_back({{one.process}, static_cast<std::uint32_t>(one.pasid), one.memory});
    }
    return all;
  }
  Result<driver::QuotaUse> quota() override {
    const auto asked = ask_npusim<Call::kManageQuota>({card_});
    if (!asked) return forward_error(asked);
    driver::QuotaUse use;
    use.limit = asked->limit;
    use.allocated = asked->allocated;
    use.managed = asked->managed;
    use.most = asked->most;
    use.refused = asked->refused;
    return use;
  }
  Result<unsigned> token() override {
    const auto token = ask_npusim<Call::kManageToken>({card_, 0});
    if (!token) return forward_error(token);
    return static_cast<unsigned>(token->number);
  }
  Status set_token(unsigned token) override {
    return status_of(ask_npusim<Call::kManageToken>({card_, 1, token}));
  }
  Result<driver::ComputeGroup> create_group(const driver::ComputeGroupOptions& options) override {
    auto* const channel = compat::channel_of_this_thread();
    if (channel == nullptr) return fail(ErrorCode::kDeviceLost, "npusim is gone");
    std::memcpy(channel->window(), &options.cluster_mask, sizeof options.cluster_mask);
    const std::uint64_t id = options.id ? std::uint64_t{*options.id} + 1 : 0;
    auto asked = ask_npusim<Call::kManageGroups>(
        {card_, compat::GroupRequest::kCreate, id, options.clusters}, sizeof options.cluster_mask);
    if (!asked) return forward_error(asked);
    driver::ComputeGroup made;
    read_window(&made, sizeof made);
    return made;
  }
  Status remove_group(std::uint32_t id) override {
    return status_of(ask_npusim<Call::kManageGroups>({card_, compat::GroupRequest::kRemove, id}));
  }
  Result<std::vector<driver::ComputeGroup>> groups() override {
    auto asked = ask_npusim<Call::kManageGroups>({card_, compat::GroupRequest::kList});
    if (!asked) return forward_error(asked);
    std::vector<driver::ComputeGroup> all(asked->number);
    read_window(all.data(), all.size() * sizeof(driver::ComputeGroup));
    return all;
  }

 private:
  static void read_window(void* to, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, compat::channel_of_this_thread()->window(), bytes);
  }

  const std::int64_t card_;
  const platform::Bdf bdf_;
  ProgramRegisters registers_;
};

Result<Machine> program_machine() {
  std::uint32_t count = 0;
  if (compat::ask_for<Call::kGetDeviceCount>(&count) != 0) {
    return fail(ErrorCode::kNotFound, "npusim has not started this program");
  }
  Machine machine;
  for (std::uint32_t i = 0; i < count && i < MAX_DEVICE_COUNT; ++i) {
    const auto asked = ask_npusim<Call::kManageCard>({i});
    if (!asked) return forward_error(asked);
    const auto bdf = platform::Bdf::unpack(static_cast<std::uint32_t>(asked->number));
    machine.cards.push_back(std::make_unique<ProgramCard>(i, bdf));
  }
  machine.virtual_devices = std::make_shared<ProgramDevices>();
  machine.clock = &program_clock();
  machine.tasks = &program_tasks();
  static const int kForks = ::pthread_atfork(hold_session, release_session, forget_session);
  static_cast<void>(kForks);
  return machine;
}

[[maybe_unused]] const bool kKnown = [] {
  program_machine_maker() = program_machine;
  return true;
}();

}  // namespace
}  // namespace npu::dsmi
