// SPDX-License-Identifier: Apache-2.0
// A simulated machine for a driver's tests, without a test framework; machine_test.hpp has the
// GoogleTest fixture around it.
//
// From its construction to its destruction the caller is a host task of the machine, on the stack
// it has anyway: driver calls between the two take simulated time, and nothing else does.
#pragma once

#include <cstddef>
#include <cstdint>
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
#include "npu/testing/leaks.hpp"

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
  // Faults that have been injected and not yet begun; one of an interrupt until a message met it.
  std::size_t pending_faults() const;

  // What is not given back by now: call it when the driver is gone.
  std::vector<Leak> leaks() const;

  // A figure of the test's own: value * 10^-decimals (0..9), with a unit as `npusim compare` knows
  // them ("ns", "us", "GB/s", "%", ""; docs/reports.md says what is worse). kInvalidArgument: a
  // name that is not of letters, digits and . _ - / or is empty, a unit longer than 16;
  // kAlreadyExists.
  Status add_metric(const std::string& name, std::int64_t value, unsigned decimals,
                    const std::string& unit);
  // What the machine has done since power-up, as `npusim run --report` writes it (docs/reports.md),
  // with the metrics; `name`: of the test, in place of a workload's. `outcome`: "complete", or how
  // it has ended instead.
  std::string report(const std::string& name, const std::string& outcome = "complete") const;

 private:
  struct Impl;
  explicit Machine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::testkit
