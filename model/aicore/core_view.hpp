// SPDX-License-Identifier: Apache-2.0
// A core as a debugger sees it.
#pragma once

#include <string>

#include "model/aicore/core_parts.hpp"
#include "model/aicore/local_memory.hpp"
#include "model/core/program_debugger.hpp"

namespace npu::model {

class CoreView final : public DebuggedCore {
 public:
  explicit CoreView(CoreParts& parts) : parts_(parts) {}
  // The core has it from now on.
  void has(LocalMemory& local) { local_ = &local; }

  std::string debug_name() const override {
    const auto& layout = parts_.services.layout;
    switch (layout.type(parts_.number)) {
      case abi::CoreType::kAic:
        return "aic " + std::to_string(parts_.number);
      case abi::CoreType::kAiv:
        return "aiv " + std::to_string(parts_.number - layout.clusters());
      default:
        return "core " + std::to_string(parts_.number);
    }
  }
  unsigned debug_number() const override { return parts_.number; }
  SpaceId debug_space() const override { return parts_.calls.space(); }
  DeviceMemoryPort& debug_memory() override { return parts_.services.memory.of_this_card(); }
  std::uint64_t debug_arguments() const override { return parts_.calls.call().arguments; }
  std::string debug_state() const override {
    const SimTime when = parts_.thread.resumes_at();
    if (when == UINT64_MAX) return "waits for a pipe, a flag or memory";
    return "goes on at " + std::to_string(when) + " ps";
  }
  unsigned char* debug_local(unsigned buffer, Bytes offset, Bytes length) override {
    if (local_ == nullptr || buffer >= parts_.sizes.size()) return nullptr;
    const Bytes size = parts_.sizes[buffer];
    if (offset > size || length > size - offset) return nullptr;
    return local_->settled(static_cast<platform::LocalBuffer>(buffer), offset, length);
  }

 private:
  CoreParts& parts_;
  LocalMemory* local_ = nullptr;
};

}  // namespace npu::model
