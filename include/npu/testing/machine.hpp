// SPDX-License-Identifier: Apache-2.0
// A simulated machine for tests of a driver, without a test framework. machine_test.hpp is a
// GoogleTest fixture around it.
//
// From create() to the destructor the caller is a host task of the machine, on its own stack. Only
// driver calls take simulated time.
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
#include "npu/testing/races.hpp"

namespace npu::testkit {

class NPU_TESTING_API Machine {
 public:
  // Called when all host tasks, including the caller, wait for events that can no longer happen.
  // The error names them. Must not return.
  using StuckHandler = std::function<void(const Error&)>;

  // `config` is a path or a name ("910b"), as with npusim's --config; `overrides` are "key=value".
  // kAlreadyExists: the process has or had a machine or simulator.
  // kInvalidArgument: the configuration is wrong. The context is the line that npusim would print.
  // kIo: the simulation did not begin.
  static Result<std::unique_ptr<Machine>> create(const std::string& config,
                                                 const std::vector<std::string>& overrides,
                                                 StuckHandler stuck);
  // Ends the simulation. Users of the platform must be destroyed, and tasks joined.
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // The platform for the driver.
  platform::Platform& platform();
  unsigned cards() const;
  // The physical function of a card.
  // kOutOfRange: no such card.
  Result<platform::Bdf> card(unsigned index) const;

  // The caller's simulated time since power-up.
  Instant now() const;
  // Advances the caller to `time`, without other cost. A past time changes nothing.
  void run_until(Instant time);

  // Runs `call` and returns the accesses of all tasks meanwhile. Nested calls are counted in both.
  Accesses accesses(const std::function<void()>& call);

  // With a weak `cpu.order`: a line for each of the first eight doorbells (or other writes that
  // make the card read memory) that overtook stores of the driver for lack of a write barrier.
  std::vector<std::string> overtaken_stores() const;

  // Looks for races from now on (races.hpp, docs/races.md). Call it before the driver has memory.
  // It takes no simulated time.
  void watch_races();
  // The caller is about to load or store these bytes of DMA memory. Platform::copy() says so
  // itself; plain loads and stores nobody sees. Without watch_races() they do nothing.
  void host_reads(ConstByteSpan bytes);
  void host_writes(ConstByteSpan bytes);
  // The caller has looked at what the card writes of its work, without a call of the platform.
  void host_looks();
  // What was found so far. Empty without watch_races().
  std::vector<Race> races() const;

  // Injects a fault (fault.hpp).
  // kInvalidArgument: no such card, function, vector, link or register name; a past time; `nth` 0
  // or kInterrupt.
  Status inject(const Fault& fault, const When& when);
  // Number of injected faults that have not begun, or whose interrupt has not come.
  std::size_t pending_faults() const;

  // Objects not freed until now. Call it after the end of the driver.
  std::vector<Leak> leaks() const;

  // Adds a figure of the test: value * 10^-decimals (0 .. 9), with a unit of `npusim compare`
  // ("ns", "us", "GB/s", "%", ""; docs/reports.md defines worse).
  // kInvalidArgument: an empty name, or one with other characters than letters, digits and . _ - /;
  // a unit with blanks or of more than 16 characters; more than 9 decimals.
  // kAlreadyExists: the name is in use or begins with "test.".
  Status add_metric(const std::string& name, std::int64_t value, unsigned decimals,
                    const std::string& unit);
  // The report since power-up, as of `npusim run --report` (docs/reports.md), with the metrics.
  // `name` of the test is in place of the workload's. `outcome`: "complete", or another text.
  std::string report(const std::string& name, const std::string& outcome = "complete") const;

 private:
  struct Impl;
  explicit Machine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::testkit
