// SPDX-License-Identifier: Apache-2.0
// c = a op b on the card, as one task of many blocks: operands from host memory to device memory,
// the run, the result back; timed from end to end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workloads/framework/figures.hpp"
#include "workloads/framework/launch_limits.hpp"
#include "workloads/programs/support/run_breakdown.hpp"
#include "workloads/programs/support/runtime_session.hpp"

namespace npu::workloads {

class BinaryOperation {
 public:
  struct Operand {
    driver::DeviceAddress address;
    Bytes size = 0;
    std::uint64_t seed = 0;  // of a and b: of their contents
  };

  BinaryOperation(Context& context, RuntimeSession& session)
      : context_(context), session_(session), options_(run_options(context.parameters)) {}

  // Memory for the operands of so many bytes; with `copies` a and b get numbers of `type` whose
  // sums and products are exact (elements.hpp). They are made as they are copied: the host keeps no
  // tensor but the result.
  Status prepare(platform::DataType type, Bytes a, Bytes b, Bytes c, bool copies);
  // Clusters of cores that a run has.
  unsigned clusters() const;
  // What a or b holds, once more; `count` elements from `first` on.
  std::vector<std::byte> contents(const Operand& operand) const;
  std::vector<std::byte> contents(const Operand& operand, std::uint64_t first,
                                  std::uint64_t count) const;
  // c, behind run() with copies; else null.
  const std::byte* result() const { return result_.get(); }
  // Copies in, launch(), copies out.
  Status run(const std::function<Status()>& launch);
  // One task of kernel 0 with these words.
  Status launch(driver::TaskShape shape, const std::vector<std::uint64_t>& words,
                std::uint32_t blocks);

  const Operand& a() const { return a_; }
  const Operand& b() const { return b_; }
  const Operand& c() const { return c_; }
  const RunBreakdown& breakdown() const { return breakdown_; }
  // How long the cores took; the rate; how long it took from host memory to host memory; bytes read
  // and written in the card's memory while the task ran; blocks.
  void report(const std::string& prefix, const Figure<Number> (&rate)[1], const Number& value,
              std::uint32_t blocks) const;
  // What PREFIXhost_to_host_us consists of, as PREFIXhost.: copies, building the graph, the run
  // (RunBreakdown); and a table.
  void report_host_parts(const std::string& prefix) const;
  // What bounded the cores, and what they used; once. `operations`: multiplications and additions.
  void report_limits(const std::string& subject, std::optional<std::uint64_t> operations = {});

 private:
  Status copy_in(const Operand& operand);

  Context& context_;
  RuntimeSession& session_;
  const driver::RunOptions options_;
  platform::DataType type_ = platform::DataType::kFp16;
  bool copies_ = false;
  Bytes hbm_bytes_ = 0;
  Operand a_, b_, c_;
  std::unique_ptr<std::byte[]> result_;
  RunBreakdown breakdown_;
  std::optional<LaunchLimits> limits_;
  MeasuredSpan host_to_host_{};
  Instant copied_in_;
};

}  // namespace npu::workloads
