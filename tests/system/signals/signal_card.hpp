// SPDX-License-Identifier: Apache-2.0
// A card of a shipped configuration whose AICPUs and AI Cores run functions of the test: the real
// models of both, of the MMU, the L2 and the HBM between them, and nothing of driver and firmware.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "tests/bench/core/program_file.hpp"
#include "tests/support/folders.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {

using model::SimTime;
using platform::AicorePort;
using platform::AicpuPort;

inline constexpr SimTime kNs = 1000;
inline constexpr std::uint64_t kDataAt = 0x40'0000;
inline constexpr std::uint64_t kNoDeadline = ~std::uint64_t{0};

class SignalCard : private model::KernelPort::Listener {
 public:
  static constexpr std::uint64_t kAicpuImage = 0x10'0000, kCoreImage = 0x20'0000;

  explicit SignalCard(const std::string& config)
      : machine({}, config), chip(machine.system.card(0)) {
    auto& listener = static_cast<model::KernelPort::Listener&>(*this);
    static_cast<model::KernelPort&>(chip.aicpu_programs()).connect(listener);
    static_cast<model::KernelPort&>(chip.aicore_programs()).connect(listener);
    upload(binary_dir() + "/tests/bench/aicpu/aicpu_call.npu", abi::ImageKind::kAicpu, kAicpuImage);
    upload(binary_dir() + "/programs/aicore_test_program.npu", abi::ImageKind::kAiCore, kCoreImage);
  }

  void upload(const std::string& name, abi::ImageKind kind, std::uint64_t address) {
    const auto image = image_of(name, kind);
    chip.mmu().memory().write(model::Writer::kDma, 0, address, image.data(), image.size());
  }
  // From `when` on, launch and all.
  void aicpu(SimTime when, unsigned core, std::function<int(AicpuPort&)> program) {
    aicpu_programs_.push_back(std::move(program));
    launch(when, chip.aicpu_programs(), core, kAicpuImage,
           reinterpret_cast<std::uint64_t>(&aicpu_programs_.back()));
  }
  void core(SimTime when, unsigned core, std::function<int(AicorePort&)> program) {
    core_image(when, core, kCoreImage, keep(std::move(program)));
  }
  void core_image(SimTime when, unsigned core, std::uint64_t image, std::uint64_t arguments) {
    launch(when, chip.aicore_programs(), core, image, arguments);
  }
  // `program` in the arguments of a call of kCoreImage.
  std::uint64_t keep(std::function<int(AicorePort&)> program) {
    core_programs_.push_back(std::move(program));
    return reinterpret_cast<std::uint64_t>(&core_programs_.back());
  }
  void run() { sc_core::sc_start(); }
  template <class T>
  void put(std::uint64_t address, T value) {
    chip.mmu().memory().write(model::Writer::kDma, 0, address, &value, sizeof value);
  }

  Machine machine;
  model::Chip& chip;
  unsigned ended = 0;

 private:
  struct Launch {
    model::KernelPort* port;
    unsigned core;
    model::KernelBlock block;
  };
  void launch(SimTime when, model::KernelPort& port, unsigned core, std::uint64_t image,
              std::uint64_t arguments) {
    model::KernelBlock block;
    block.image = image;
    block.arguments = arguments;
    block.blocks = 1;
    block.context = launches_.size() + 1;
    launches_.push_back({&port, core, block});
    machine.system.simulation().agenda.at<&SignalCard::begin>(when, *this, launches_.size() - 1);
  }
  void begin(std::uint64_t index) {
    const Launch& launch = launches_[index];
    launch.port->start(launch.core, launch.block);
  }
  void block_done(unsigned, const model::KernelBlock&, const model::CommandFault& fault) override {
    EXPECT_EQ(fault.code, abi::FaultCode::kNone);
    ++ended;
  }

  std::list<std::function<int(AicpuPort&)>> aicpu_programs_;
  std::list<std::function<int(AicorePort&)>> core_programs_;
  std::vector<Launch> launches_;
};

}  // namespace npu::test
