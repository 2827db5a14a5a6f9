// SPDX-License-Identifier: Apache-2.0
#include "tests/system/operators/operator_bench.hpp"

#include <dlfcn.h>

#include "npu/base/checked.hpp"
#include "tests/bench/aicore/core_config.hpp"
#include "tests/support/folders.hpp"

namespace npu::test {

namespace {

constexpr std::uint64_t kArgumentsAt = 0x30'0000;

model::ChipConfig chip(model::ProgramCoreKind kind) {
  auto config = aicore_config(kind);
  config.core.type = kind;
  return config;
}

model::ChipConfig chip(BenchCores cores) {
  auto config = chip(cores == BenchCores::kCoupled ? model::ProgramCoreKind::kCoupled
                                                   : model::ProgramCoreKind::kSplit);
  if (cores == BenchCores::kInRegisters) give_functions(config.core);
  return config;
}

}  // namespace

OperatorBench::OperatorBench(model::ProgramCoreKind kind) : OperatorBench(chip(kind)) {}
OperatorBench::OperatorBench(BenchCores cores) : OperatorBench(chip(cores)) {}

OperatorBench::OperatorBench(const model::ChipConfig& chip) : AicoreBench(chip) {
  limits_.l1 = config.core.l1;
  limits_.l0a = config.core.l0a;
  limits_.l0b = config.core.l0b;
  limits_.l0c = config.core.l0c;
  limits_.ub = config.core.ub;
  limits_.l2 = 192_MiB;
  limits_.fixpipe_bf16 = config.core.fixpipe_bf16;
  limits_.vector_functions = config.core.vector.function.ports != 0;
}

std::uint64_t OperatorBench::allocate(Bytes bytes) {
  const std::uint64_t at = next_;
  next_ += model::round_up(bytes + 512, 512);
  return at;
}

std::uint64_t OperatorBench::place(const std::vector<unsigned char>& bytes) {
  const std::uint64_t at = allocate(bytes.size());
  memory.put(at, bytes.data(), bytes.size());
  return at;
}

std::vector<unsigned char> OperatorBench::fetch(std::uint64_t address, Bytes bytes) {
  std::vector<unsigned char> result(bytes);
  memory.read(0, address, result.data(), bytes);
  return result;
}

bool OperatorBench::run_object(const std::string& name, const void* params,
                               std::uint32_t block_num) {
  if (loaded_ != name) upload(name, kOtherImage);
  loaded_ = name;
  const std::string file = binary_dir() + "/programs/" + name + ".npu";
  void* const object = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(object, nullptr) << dlerror();
  if (object == nullptr) return false;
  const auto run = reinterpret_cast<operators::RunEntry>(dlsym(object, operators::kRunEntryName));
  EXPECT_NE(run, nullptr);
  refusal_.clear();
  launches_ = 0;
  workspace_bytes_ = 0;
  workspace_failed_ = false;
  if (run != nullptr) run(block_num, static_cast<operators::OperatorStream*>(this), params);
  dlclose(object);
  EXPECT_TRUE(refusal_.empty() || launches_ == 0) << "refused after a launch";
  return refusal_.empty();
}

std::uint32_t OperatorBench::cores(operators::CoreKind kind) const {
  const bool pairs =
      config.core.type == model::ProgramCoreKind::kSplit && kind == operators::CoreKind::kVector;
  return static_cast<std::uint32_t>(config.ai_cores) * (pairs ? 2 : 1);
}

void OperatorBench::refuse(const char* reason) {
  refusal_ = reason;
}

std::uint64_t OperatorBench::workspace(std::uint64_t bytes) {
  EXPECT_EQ(workspace_bytes_, 0U) << "asked for twice";
  workspace_bytes_ = bytes;
  workspace_failed_ = bytes > workspace_limit_;
  if (workspace_failed_) return 0;
  // Its bytes are anything: here they are no numbers.
  const std::vector<unsigned char> anything(bytes, 0xFF);
  memory.put(kWorkspace, anything.data(), anything.size());
  return kWorkspace;
}

void OperatorBench::launch(operators::CoreKind kind, std::uint32_t blocks,
                           const std::uint64_t* words, std::uint32_t count) {
  ++launches_;
  EXPECT_FALSE(workspace_failed_) << "launched without its workspace";
  ASSERT_TRUE(blocks >= 1 && blocks <= cores(kind)) << blocks;
  memory.put(kArgumentsAt, words, Bytes{count} * 8);
  const bool split = config.core.type == model::ProgramCoreKind::kSplit;
  const bool mixed = kind == operators::CoreKind::kMixed;
  const bool second = split && kind == operators::CoreKind::kVector;
  const auto clusters = static_cast<unsigned>(config.ai_cores);
  const unsigned first = second ? clusters : 0, lanes = split && mixed ? 3 : 1;
  const auto core_of = [=](unsigned block, unsigned role) {
    return role == 0 ? first + block : clusters + 2 * block + role - 1;
  };
  ++context_;
  at(model::sim_now(), [=] {
    for (unsigned i = 0; i < blocks; ++i) {
      for (unsigned role = 0; role < lanes; ++role) {
        if (mixed) {
          launch_lane(core_of(i, role), kOtherImage, kArgumentsAt, role, lanes, context_, i,
                      blocks);
        } else {
          launch_image(core_of(i, role), kOtherImage, kArgumentsAt, context_, i, blocks);
        }
      }
    }
  });
  run();
  for (unsigned i = 0; i < blocks; ++i) {
    for (unsigned role = 0; role < lanes; ++role) {
      const unsigned core = core_of(i, role);
      ASSERT_TRUE(has_ended(core));
      EXPECT_EQ(ended(core).fault, expected_) << "instruction " << ended(core).instruction;
    }
  }
}

}  // namespace npu::test
