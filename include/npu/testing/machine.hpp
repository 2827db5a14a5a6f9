// SPDX-License-Identifier: Apache-2.0
// A simulated machine for a driver's tests, without a test framework; machine_test.hpp has the
// GoogleTest fixture around it.
//
// From its construction to its destruction the caller is a host task of the machine, on the stack
// it has anyway: driver calls between the two take simulated time, and nothing else does.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/platform.hpp"
#include "npu/testing/access.hpp"
#include "npu/testing/export.hpp"
#include "npu/testing/fault.hpp"

namespace npu::testkit {

class NPU_TESTING_API Machine {
 public:
  // What is done when all host tasks, the caller among them, wait for something that can no longer
  // happen. The error says who waits for what. Must not return.
  using StuckHandler = std::function<void(const Error&)>;

  // `config` is a path or a name ("910b"), looked up like npusim's --config; `overrides` are
  // "key=value". One machine per process, and none before it: kAlreadyExists. kInvalidArgument: the
  // context is the line that npusim would print.
  static Result<std::unique_ptr<Machine>> create(const std::string& config,
                                                 const std::vector<std::string>& overrides,
                                                 StuckHandler stuck);
  // Ends the simulation. What uses the platform is destroyed before; tasks are joined.
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // What the driver is given.
  platform::Platform& platform();
  unsigned cards() const;
  // Where the function of a card is; kOutOfRange.
  Result<platform::Bdf> card(unsigned index) const;

  // The caller's simulated time since power-up.
  Instant now() const;
  // The caller does nothing until `time`, without any cost of its own. A time that has passed is
  // no error and takes none.
  void run_until(Instant time);

  // Runs `call`; what all tasks accessed meanwhile. A call inside another one's is counted in both.
  Accesses accesses(const std::function<void()>& call);

  // Where `cpu.order` is weak: a line each of the first eight times that a doorbell, or another
  // write on which the card looks at memory, overtook stores of the driver because no write barrier
  // was between them. Empty: that has not happened.
  std::vector<std::string> overtaken_stores() const;

  // kInvalidArgument: no such card, link or register name, a time that has passed, n of 0.
  Status inject(const Fault& fault, const When& when);
  // Faults that have been injected and not yet begun.
  std::size_t pending_faults() const;

 private:
  struct Impl;
  explicit Machine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::testkit
