// SPDX-License-Identifier: Apache-2.0
// The launches of one run of an operator, on a program's stream.
#pragma once

#include <optional>
#include <vector>

#include "apps/exec/acl/process_card.hpp"
#include "kernels/operators/launcher/launcher.hpp"
#include "npu/operators/operator_stream.hpp"

namespace npu::exec::acl {

// Nothing of it is waited for: the workspace goes back when the last launch has ended.
class OperatorLaunches final : public operators::OperatorStream {
 public:
  // All must outlive it. `module`: the operator's kernel on the card.
  OperatorLaunches(ProcessCard& card, ProgramStream& stream, ProcessCard::Module module,
                   const operators::CardCores& cores);

  // Behind the host's entry: its first error. Gives the workspace back.
  Outcome end();

  std::uint32_t cores(operators::CoreKind kind) const override;
  operators::CoreLimits limits() const override { return cores_.limits; }
  void refuse(const char* reason) override;
  std::uint64_t workspace(std::uint64_t bytes) override;
  void launch(operators::CoreKind kind, std::uint32_t blocks, const std::uint64_t* words,
              std::uint32_t count) override;

 private:
  ProcessCard& card_;
  ProgramStream& stream_;
  const ProcessCard::Module module_;
  const operators::CardCores& cores_;
  const CoreLimits most_;  // that the stream's kernels may be on
  std::optional<Fault> error_;
  std::optional<driver::DeviceAddress> workspace_;
  std::vector<driver::StreamMark> marks_;  // the last launch's
};

}  // namespace npu::exec::acl
