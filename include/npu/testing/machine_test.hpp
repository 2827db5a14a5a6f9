// SPDX-License-Identifier: Apache-2.0
// A GoogleTest fixture with a simulated machine, for tests of a driver. Link npusim::testing_main.
// Its main() runs each test in its own process, since a process can have only one simulation:
//
//   class Submission : public npu::testkit::MachineTest {
//    protected:
//     Submission() : MachineTest("910b") {}
//     void SetUp() override { device_ = open_my_card(platform()); }
//     ...
//   };
//   TEST_F(Submission, ReadsNoRegister) {
//     EXPECT_THAT(accesses([&] { device_->submit(...); }), MmioReads(0));
//   }
//
// Constructors of derived fixtures, SetUp(), the test, TearDown() and destructors of members run as
// a host task of the machine. A test takes the same simulated time on any computer.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "npu/testing/machine.hpp"
#include "npu/testing/matchers.hpp"
#include "npu/testing/report_file.hpp"

namespace npu::testkit {

class MachineTest : public ::testing::Test {
 public:
  // Members of derived fixtures have been destroyed.
  ~MachineTest() override {
    if (!machine_) return;
    if (!asked_for_overtaken_) {
      for (const auto& line : machine_->overtaken_stores()) ADD_FAILURE() << line;
    }
    if (!asked_for_races_) {
      for (const auto& race : machine_->races()) ADD_FAILURE() << describe(race);
    }
    RecordProperty("simulated_ps", std::to_string(now().since_power_up().count()));
    tell_leaks();
    write_report();
  }

 protected:
  // Calls Machine::create(). An error of the configuration fails the test with its line.
  explicit MachineTest(const std::string& config = "910b",
                       const std::vector<std::string>& overrides = {}) {
    auto machine = Machine::create(config, overrides, &MachineTest::stuck);
    if (!machine && machine.error().code == ErrorCode::kAlreadyExists) {
      throw std::logic_error(
          "a process has one simulation: link npusim::testing_main, or run every "
          "test in a process of its own (gtest_discover_tests)");
    }
    if (!machine) throw std::runtime_error(machine.error().context);
    machine_ = std::move(*machine);
    const char* const races = std::getenv("NPUSIM_RACES");
    if (races != nullptr && *races != 0) watch_races();
  }
  // --- The machine
  platform::Platform& platform() { return machine_->platform(); }
  Machine& machine() { return *machine_; }
  platform::Bdf card(unsigned index = 0) {
    const auto bdf = machine_->card(index);
    if (!bdf) throw std::out_of_range(bdf.error().context);
    return *bdf;
  }

  // --- Simulated time, exact
  Instant now() const { return machine_->now(); }
  void run_until(Instant time) { machine_->run_until(time); }
  void run_for(Picoseconds time) { machine_->run_until(now() + time); }
  // A deadline for calls, `from_now` in the future.
  Instant deadline(Picoseconds from_now = Picoseconds(1'000'000'000'000)) const {
    return now() + from_now;
  }
  // The duration of a call.
  template <class Call>
  Picoseconds elapsed(Call&& call) {
    const Instant begin = now();
    std::forward<Call>(call)();
    return now() - begin;
  }

  // --- Accesses of a call (matchers.hpp)
  Accesses accesses(const std::function<void()>& call) { return machine_->accesses(call); }

  // --- Faults (fault.hpp). A fault that cannot be injected fails the test.
  void inject(const Fault& fault, const When& when = at_once()) {
    const auto done = machine_->inject(fault, when);
    if (!done) ADD_FAILURE() << "inject: " << done.error().message();
  }
  std::size_t pending_faults() const { return machine_->pending_faults(); }

  // --- Objects that remain when all members are destroyed (leaks.hpp) are printed and reported.
  // After this call they also fail the test.
  void leaks_are_errors() { leaks_are_errors_ = true; }

  // --- Figures of the test, for its report. With NPUSIM_REPORTS=FOLDER in the environment each
  // test writes FOLDER/SUITE.TEST.json, for `npusim compare BASE NEW`. A name has letters, digits
  // and . _ - /. Name and unit define whether more or less is worse (docs/reports.md). This one is
  // a time, in ns.
  void metric(const std::string& name, Picoseconds time) {
    add_metric(name, time.count(), 3, "ns");
  }
  // A number; three decimals if it is no integer.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  void metric(const std::string& name, Number value, const std::string& unit = "") {
    if constexpr (std::is_integral_v<Number>) {
      add_metric(name, static_cast<std::int64_t>(value), 0, unit);
    } else {
      add_metric(name, std::llround(static_cast<double>(value) * 1000), 3, unit);
    }
  }
  // Figures of a call: NAME.time_ns, and NAME.accesses.mmio_reads and so on for each kind. More is
  // worse.
  void metric(const std::string& name, const Accesses& accesses) {
    metric(name + ".time_ns", accesses.elapsed());
    for (const auto kind : all_access_kinds()) {
      metric(name + ".accesses." + metric_name(kind), accesses.count(kind));
    }
  }

  // --- Missing write barriers with a weak `cpu.order` (Machine::overtaken_stores()). If the test
  // does not call this, the fixture fails it for each of them.
  std::vector<std::string> overtaken_stores() {
    asked_for_overtaken_ = true;
    return machine_->overtaken_stores();
  }

  // --- Races (races.hpp). From this call on; best in the constructor. With NPUSIM_RACES=1 in the
  // environment every test of a fixture does so. If the test does not call races(), the fixture
  // fails it for each of them.
  void watch_races() { machine_->watch_races(); }
  std::vector<Race> races() {
    asked_for_races_ = true;
    return machine_->races();
  }
  // Plain loads and stores of the test in DMA memory (Machine::host_reads()).
  void host_reads(ConstByteSpan bytes) { machine_->host_reads(bytes); }
  void host_writes(ConstByteSpan bytes) { machine_->host_writes(bytes); }
  void host_looks() { machine_->host_looks(); }

 private:
  void add_metric(const std::string& name, std::int64_t value, unsigned decimals,
                  const std::string& unit) {
    const auto added = machine_->add_metric(name, value, decimals, unit);
    if (!added) ADD_FAILURE() << added.error().message();
  }

  void tell_leaks() {
    const auto text = describe(machine_->leaks());
    if (text.empty()) return;
    RecordProperty("never_freed", text);
    if (leaks_are_errors_) {
      ADD_FAILURE() << text;
    } else {
      std::printf("[  LEAKS   ] %s\n", text.c_str());
    }
  }

  void write_report() {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    const char* const folder = std::getenv("NPUSIM_REPORTS");
    if (folder == nullptr || *folder == 0 || test == nullptr) return;
    const std::string name = std::string(test->test_suite_name()) + "." + test->name();
    const auto report = machine_->report(name, HasFailure() ? "failed: the test" : "complete");
    const auto written = write_report_file(folder, name, report);
    if (!written) ADD_FAILURE() << written.error().message();
  }

  [[noreturn]] static void stuck(const Error& error) {
    ADD_FAILURE() << "the test waits for ever: " << error.message();
    std::fflush(nullptr);
    std::quick_exit(1);
  }

  std::unique_ptr<Machine> machine_;
  bool leaks_are_errors_ = false;
  bool asked_for_overtaken_ = false;
  bool asked_for_races_ = false;
};

}  // namespace npu::testkit
