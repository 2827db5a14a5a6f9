// SPDX-License-Identifier: Apache-2.0
// A core's port as its program has it: calls of ProgramCore, by the rules for programs whose block
// is over (core/program_run.hpp).
#pragma once

#include "npu/platform/aicore_port.hpp"

namespace npu::model {

class ProgramCore;
class ProgramRun;

class ProgramPort final : public platform::AicorePort {
 public:
  ProgramPort(ProgramCore& core, ProgramRun& run) : core_(core), run_(run) {}

  const platform::KernelCall& call() const override;
  unsigned physical_core() const override;
  abi::CoreType core_type() const override;
  Bytes buffer_size(platform::LocalBuffer buffer) const override;
  bool has_vector_functions() const override;
  bool has_transposing_copies() const override;
  void issue(const platform::CopyIn& instruction) override;
  void issue(const platform::CopyOut& instruction) override;
  void issue(const platform::LoadL0& instruction) override;
  void issue(const platform::Mmad& instruction) override;
  void issue(const platform::Fixpipe& instruction) override;
  void issue(const platform::Vector& instruction) override;
  void issue(const platform::VectorFunction& instruction) override;
  void set_store_reduction(const platform::StoreReduction& reduction) override;
  void set_flag(platform::Pipe from, platform::Pipe to, unsigned id) override;
  void wait_flag(platform::Pipe from, platform::Pipe to, unsigned id) override;
  void pipe_barrier(platform::Pipe pipe) override;
  void set_cross_flag(platform::Pipe pipe, platform::CrossScope scope, unsigned flag) override;
  void wait_cross_flag(platform::Pipe pipe, platform::CrossScope scope, unsigned flag) override;
  std::uint64_t load(std::uint64_t address, unsigned bytes) override;
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value) override;
  void clean_invalidate(std::uint64_t address) override;
  void clean_invalidate_all() override;
  void memory_barrier() override;
  std::uint32_t load_ub(std::uint32_t offset) override;
  void store_ub(std::uint32_t offset, std::uint32_t value) override;
  std::uint64_t data_main_base() override;
  void set_cond(std::uint32_t value) override;
  std::uint64_t system_counter() override;
  std::uint64_t counter_hz() const override;
  void scalar(unsigned cycles) override;
  void set_up(const platform::SetUp& set_up) override;
  bool poll_again(std::uint64_t deadline) override;
  int invoke(const platform::KernelCall& call) override;
  [[noreturn]] void trap(std::uint16_t code) override;

 private:
  template <class Call>
  void act(const void* from, Call&& call);
  template <class Call>
  auto ask(const void* from, Call&& call);

  ProgramCore& core_;
  ProgramRun& run_;
};

}  // namespace npu::model
