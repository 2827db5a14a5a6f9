// SPDX-License-Identifier: Apache-2.0
// An AICPU's port as its program has it: calls of AicpuCore, by the rules for programs whose block
// is over (core/program_run.hpp).
#pragma once

#include "npu/platform/aicpu_port.hpp"

namespace npu::model {

class AicpuCore;
class ProgramRun;

class AicpuProgramPort final : public platform::AicpuPort {
 public:
  AicpuProgramPort(AicpuCore& core, ProgramRun& run) : core_(core), run_(run) {}

  unsigned thread() const override;
  unsigned threads() const override;
  std::uint64_t arguments() const override;
  std::uint64_t load(std::uint64_t address, unsigned bytes) override;
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value) override;
  std::uint64_t fetch_add(std::uint64_t address, unsigned bytes, std::uint64_t value) override;
  std::uint64_t compare_exchange(std::uint64_t address, unsigned bytes, std::uint64_t expected,
                                 std::uint64_t desired) override;
  void read(std::uint64_t address, void* data, Bytes length) override;
  void write(std::uint64_t address, const void* data, Bytes length) override;
  void invalidate(std::uint64_t address, Bytes length) override;
  void barrier() override;
  unsigned core_windows() const override;
  std::uint32_t load_register(unsigned core, std::uint32_t offset) override;
  void store_register(unsigned core, std::uint32_t offset, std::uint32_t value) override;
  std::uint64_t system_counter() override;
  std::uint64_t counter_hz() const override;
  void compute(unsigned instructions) override;
  bool poll_again(std::uint64_t deadline) override;
  void phase(platform::AicpuPhase phase, std::uint32_t task) override;

 private:
  template <class Call>
  void act(Call&& call);
  template <class Call>
  auto ask(Call&& call);

  AicpuCore& core_;
  ProgramRun& run_;
};

}  // namespace npu::model
