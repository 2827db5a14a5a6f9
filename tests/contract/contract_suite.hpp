// SPDX-License-Identifier: Apache-2.0
// What every platform must do, as one suite. An implementer supplies a factory and calls
//   static const bool registered = register_contract_suite("Simulator", make_environment);
// in a test source; each case then makes an environment of its own and runs inside it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "npu/platform/platform.hpp"

namespace npu::test {

class ContractEnvironment {
 public:
  virtual ~ContractEnvironment() = default;
  virtual platform::Platform& platform() = 0;
  // A card to work on, with its BARs assigned; nullopt: none here, and the cases that need one are
  // skipped.
  virtual std::optional<platform::Bdf> card() = 0;
  // A function that does not exist.
  virtual platform::Bdf absent() = 0;
  // Runs `body` as a host task and returns when it has returned. Platform calls are made there
  // only.
  virtual void run(const std::function<void()>& body) = 0;
  // Time is virtual: waits end when they should and not merely after.
  virtual bool is_exact() const { return true; }
};

using ContractFactory = std::function<std::unique_ptr<ContractEnvironment>()>;

// Registers all cases as tests "Platform/<name>.<case>". Returns true, for static initialisers.
bool register_contract_suite(const std::string& name, const ContractFactory& factory);

}  // namespace npu::test
