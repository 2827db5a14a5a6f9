// SPDX-License-Identifier: Apache-2.0
// Operators' objects on modelled AI Cores alone: their host entries are called as a launcher would,
// and what they launch runs at once.
#pragma once

#include <string>
#include <vector>

#include "npu/operators/operator_stream.hpp"
#include "npu/operators/params.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {

enum class BenchCores : std::uint8_t {
  kCoupled,
  kSplit,
  kInRegisters,  // split, with vector functions
};

inline const char* name_of(BenchCores cores) {
  constexpr const char* kNames[] = {"Coupled", "Split", "InRegisters"};
  return kNames[static_cast<unsigned>(cores)];
}

// For tests on coupled and on split cores.
inline auto every_kind() {
  return testing::Values(model::ProgramCoreKind::kCoupled, model::ProgramCoreKind::kSplit);
}
inline std::string kind_name(const testing::TestParamInfo<model::ProgramCoreKind>& instance) {
  return instance.param == model::ProgramCoreKind::kSplit ? "Split" : "Coupled";
}

class OperatorBench : public AicoreBench, private operators::OperatorStream {
 public:
  explicit OperatorBench(model::ProgramCoreKind kind = model::ProgramCoreKind::kCoupled);
  explicit OperatorBench(BenchCores cores);

  // Runs programs/name.npu. False: refused, and refusal() says why.
  template <class Params>
  bool run_operator(const std::string& name, const Params& params, std::uint32_t block_num = 0) {
    return run_object(name, &params, block_num);
  }
  const std::string& refusal() const { return refusal_; }
  unsigned launches() const { return launches_; }  // of the last run
  Bytes workspace_bytes() const { return workspace_bytes_; }
  void workspace_limit(Bytes bytes) { workspace_limit_ = bytes; }
  void limits(const operators::CoreLimits& limits) { limits_ = limits; }
  // A launch may end with this fault, which is then the run's.
  void expect_fault(FaultCode fault) { expected_ = fault; }

  // Memory for one run, `bytes` of it and a guard behind; what was there is forgotten.
  std::uint64_t allocate(Bytes bytes);
  std::uint64_t place(const std::vector<unsigned char>& bytes);
  std::vector<unsigned char> fetch(std::uint64_t address, Bytes bytes);
  void forget() { next_ = kHeap; }

 private:
  static constexpr std::uint64_t kHeap = 0x400'0000, kWorkspace = 0x2000'0000;
  explicit OperatorBench(const model::ChipConfig& config);
  bool run_object(const std::string& name, const void* params, std::uint32_t block_num);

  std::uint32_t cores(operators::CoreKind kind) const override;
  operators::CoreLimits limits() const override { return limits_; }
  void refuse(const char* reason) override;
  std::uint64_t workspace(std::uint64_t bytes) override;
  void launch(operators::CoreKind kind, std::uint32_t blocks, const std::uint64_t* words,
              std::uint32_t count) override;

  operators::CoreLimits limits_;
  std::string loaded_, refusal_;
  FaultCode expected_ = FaultCode::kNone;
  std::uint64_t next_ = kHeap, context_ = 0;
  unsigned launches_ = 0;
  Bytes workspace_bytes_ = 0, workspace_limit_ = 256_MiB;
  bool workspace_failed_ = false;
};

}  // namespace npu::test
