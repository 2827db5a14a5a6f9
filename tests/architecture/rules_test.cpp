// SPDX-License-Identifier: Apache-2.0
// The rules find what they are for.
#include "tests/architecture/rules.hpp"

#include <gmock/gmock.h>

namespace npu::architecture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kSpdx = "// SPDX-License-Identifier: Apache-2.0\n";

const Tree& sample_tree() {
  static const Tree kTree{"include/npu/base/units.hpp",    "include/npu/abi/dma.hpp",
                          "include/npu/platform/time.hpp", "include/npu/driver/device.hpp",
                          "include/npu/sim/simulator.hpp", "driver/dma/ring.hpp",
                          "driver/vfio/platform.hpp",      "model/dma/engine.hpp",
                          "model/config/chip_config.hpp",  "tests/support/fake.hpp"};
  return kTree;
}

// The rules broken by one include line in a file at `path`.
std::vector<std::string> broken_by(const std::string& path, const std::string& line) {
  std::vector<std::string> rules;
  for (const auto& violation : check_includes({path, line + "\n"}, sample_tree())) {
    rules.push_back(violation.rule);
  }
  return rules;
}

struct Direction {
  const char* path;
  const char* line;
};

TEST(Directions, AllowWhatTheTableSays) {
  const Direction allowed[] = {{"include/npu/abi/a.hpp", "#include \"npu/base/units.hpp\""},
                               {"include/npu/abi/a.hpp", "#include <cstdint>"},
                               {"include/npu/platform/a.hpp", "#include \"npu/abi/dma.hpp\""},
                               {"driver/dma/ring.cpp", "#include \"driver/dma/ring.hpp\""},
                               {"driver/dma/ring.cpp", "#include \"npu/driver/device.hpp\""},
                               {"driver/dma/ring.cpp", "#include \"ring.hpp\""},
                               {"driver/vfio/a.cpp", "#include \"npu/platform/time.hpp\""},
                               {"model/dma/a.cpp", "#include <tlm>"},
                               {"model/dma/a.cpp", "#include \"model/config/chip_config.hpp\""},
                               {"tests/driver/a.cpp", "#include \"tests/support/fake.hpp\""},
                               {"tests/bench/dma/a.cpp", "#include <systemc>"}};
  for (const auto& d : allowed)
    EXPECT_THAT(broken_by(d.path, d.line), IsEmpty()) << d.path << d.line;
}

TEST(Directions, ForbidTheRest) {
  const Direction forbidden[] = {
      {"include/npu/base/a.hpp", "#include \"npu/abi/dma.hpp\""},
      {"include/npu/abi/a.hpp", "#include \"npu/platform/time.hpp\""},
      {"include/npu/platform/a.hpp", "#include \"npu/driver/device.hpp\""},
      {"include/npu/sim/a.hpp", "#include <systemc>"},
      {"driver/dma/ring.cpp", "#include <systemc>"},
      {"driver/dma/ring.cpp", "  #  include <tlm_utils/simple_target_socket.h>"},
      {"driver/dma/ring.cpp", "#include \"driver/vfio/platform.hpp\""},
      {"driver/dma/ring.cpp", "#include \"../model/nothing.hpp\""},
      {"driver/vfio/a.cpp", "#include \"driver/dma/ring.hpp\""},
      {"firmware/aicpu/a.cpp", "#include \"npu/driver/device.hpp\""},
      {"model/config/a.cpp", "#include \"model/dma/engine.hpp\""},
      {"model/config/a.cpp", "#include <sysc/kernel/sc_time.h>"},
      {"tests/support/fake.cpp", "#include \"driver/dma/ring.hpp\""},
      {"tests/driver/a.cpp", "#include \"model/config/chip_config.hpp\""},
      {"elsewhere/a.cpp", "#include <cstdint>"}};
  for (const auto& d : forbidden) {
    EXPECT_THAT(broken_by(d.path, d.line), SizeIs(1)) << d.path << d.line;
  }
}

TEST(Directions, DriverAndModelSeeNothingOfEachOther) {
  EXPECT_THAT(broken_by("driver/dma/ring.cpp", "#include \"model/dma/engine.hpp\""),
              ElementsAre("driver may not include model", "driver may not join driver and model"));
  EXPECT_THAT(broken_by("model/dma/a.cpp", "#include \"driver/dma/ring.hpp\""),
              ElementsAre("model may not include driver", "model may not join driver and model"));
}

TEST(Directions, OnlyTheTopPartsJoinDriverAndModel) {
  const std::string both = "#include \"npu/driver/device.hpp\"\n#include \"model/dma/engine.hpp\"";
  EXPECT_THAT(broken_by("workloads/a.cpp", both),
              testing::Contains("workloads may not include model"));
  EXPECT_THAT(broken_by("tools/cli/a.cpp", both), IsEmpty());
  EXPECT_THAT(broken_by("tests/performance/a.cpp", both), IsEmpty());
  EXPECT_THAT(broken_by("tests/system/a.cpp", both), IsEmpty());
  EXPECT_THAT(broken_by("tests/unit/a.cpp", both),
              ElementsAre("tests may not join driver and model"));
}

TEST(Directions, AViolationNamesItsLine) {
  const SourceFile file{"driver/a.cpp", kSpdx + "\n#include <systemc>\n"};
  const auto violations = check_includes(file, sample_tree());
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].message(), "driver/a.cpp:3: driver may not see SystemC");
}

TEST(Storeys, AnIncludeGoesDownAndNeverUp) {
  const auto climbs = [](const std::string& path, const std::string& name) {
    return check_storeys({path, "#include \"" + name + "\"\n"}).size();
  };
  EXPECT_EQ(climbs("driver/queue/queue.cpp", "driver/device/device_impl.hpp"), 0U);
  EXPECT_EQ(climbs("driver/device/device.cpp", "driver/queue/queue_manager.hpp"), 1U);
  EXPECT_EQ(climbs("model/chip.cpp", "model/hbm/hbm.hpp"), 0U);
  EXPECT_EQ(climbs("model/hbm/hbm.cpp", "model/chip.hpp"), 1U);
  EXPECT_EQ(climbs("driver/new/file.cpp", "driver/link/card_link.hpp"), 1U) << "no storey";
  EXPECT_EQ(climbs("tests/driver/file.cpp", "driver/queue/queue_manager.hpp"), 0U);
}

TEST(Parts, TheWholeDeviceIsNamedInItsFolderAlone) {
  for (const auto* line :
       {"void f(Device::Impl& card);", "#include \"driver/device/device_impl.hpp\""}) {
    EXPECT_THAT(check_parts({"driver/queue/a.cpp", line}), SizeIs(1)) << line;
    EXPECT_THAT(check_parts({"tests/driver/a.cpp", line}), SizeIs(1)) << line;
    EXPECT_THAT(check_parts({"driver/device/a.cpp", line}), IsEmpty()) << line;
  }
}

TEST(Parts, AFolderAsksForThoseThatItHasARowFor) {
  const auto* const asked = "auto& memory = DeviceParts::memory(device);";
  EXPECT_THAT(check_parts({"driver/virtual/a.cpp", asked}), IsEmpty());
  EXPECT_THAT(check_parts({"driver/runtime/a.cpp", asked}), SizeIs(1));
  EXPECT_THAT(check_parts({"workloads/a.cpp", asked}), SizeIs(1));
}

TEST(WallClock, IsFoundInSimulatedCode) {
  for (const auto* line :
       {"std::chrono::steady_clock::now();", "usleep(5);", "time(NULL);", "x = time( nullptr );",
        "clock_gettime(CLOCK_MONOTONIC, &t);", "std::this_thread::sleep_for(1ms);", "::sleep(1);",
        "#include <chrono>"}) {
    EXPECT_THAT(check_wall_clock({"model/dma/a.cpp", line}), SizeIs(1)) << line;
    EXPECT_THAT(check_wall_clock({"driver/a.cpp", line}), SizeIs(1)) << line;
    EXPECT_THAT(check_wall_clock({"driver/vfio/a.cpp", line}), IsEmpty()) << line;
    EXPECT_THAT(check_wall_clock({"include/npu/jit/a.hpp", line}), IsEmpty()) << line;
    EXPECT_THAT(check_wall_clock({"tools/cli/a.cpp", line}), IsEmpty()) << line;
  }
}

TEST(WallClock, IsNotSeenInCommentsStringsAndLongerNames) {
  for (const auto* line :
       {"// no usleep(5) here", "log(\"steady_clock\");", "simulated_time(0);",
        "clock.sleep_until(t);", "waiter.sleep(t);", "Status Waiter::sleep(int);",
        "/* gettimeofday\n */ int x;", "auto c = '\"'; // usleep"}) {
    EXPECT_THAT(check_wall_clock({"model/a.cpp", line}), IsEmpty()) << line;
  }
}

TEST(SimulatorConditionals, AreFoundInDriverAndFirmware) {
  EXPECT_THAT(check_simulator_conditionals({"driver/a.cpp", "#ifdef SIM\n"}), SizeIs(1));
  EXPECT_THAT(check_simulator_conditionals({"firmware/a.cpp", "# if defined(NPU_SIM)\n"}),
              SizeIs(1));
  EXPECT_THAT(check_simulator_conditionals({"driver/a.cpp", "#ifdef __linux__\n"}), IsEmpty());
}

TEST(Functions, AreNeverPickedByAModelNorSeenByAnEngine) {
  const auto broken = [](const char* path, const char* text) {
    return check_functions({path, text}).size();
  };
  EXPECT_EQ(broken("model/pcie/endpoint.cpp", "a;\nif (functions_[0].bus_master()) b;\n"), 1U);
  EXPECT_EQ(broken("model/pcie/endpoint.cpp", "functions_[info.function].bus_master();\n"), 0U);
  EXPECT_EQ(broken("tools/cli/a.cpp", "functions_[0];\n"), 0U);
  const char* const registers = "#include \"model/registers/card_registers.hpp\"\n";
  EXPECT_EQ(broken("model/dma/engine.cpp", registers), 1U);
  EXPECT_EQ(broken("model/dma/ring_front_end.cpp", registers), 0U);
  EXPECT_EQ(broken("model/dma/page_copies.cpp", registers), 0U);
}

TEST(DeviceFaults, AreNoWorkloadsToReport) {
  const std::string split = "if (x) {\n  return fail(\n    ErrorCode::kDeviceFault, y);\n}\n";
  EXPECT_THAT(check_device_faults({"workloads/a.cpp", split}), SizeIs(1));
  EXPECT_THAT(check_device_faults({"driver/a.cpp", split}), IsEmpty());
  const std::string compared = "if (code == ErrorCode::kDeviceFault) return {};\n";
  EXPECT_THAT(check_device_faults({"workloads/a.cpp", compared}), IsEmpty());
}

TEST(Composition, IsOfTheMachinesFolder) {
  const std::string text =
      "model::SystemConfig config;\nmodel::System& other = of(system);\nmodel::System "
      "system(config);\n";
  EXPECT_THAT(check_composition({"tools/cli/serve.cpp", text}), SizeIs(1));
  EXPECT_THAT(check_composition({"tests/system/support/machine.hpp", text}), SizeIs(1));
  EXPECT_THAT(check_composition({"machine/composed_machine.hpp", text}), IsEmpty());
  EXPECT_THAT(check_composition({"tests/bench/functions/two.hpp", text}), IsEmpty());
}

TEST(OneDefinition, IsOfAClassOfANamespace) {
  const auto file = [](const std::string& path, const std::string& space, const std::string& line) {
    return SourceFile{path, "namespace " + space + " {\n" + line + "\n}  // namespace " + space};
  };
  const std::string base = "class Reader : public Base {\n};";
  EXPECT_THAT(check_one_definition({file("a.hpp", "npu", base), file("b.hpp", "npu", base)}),
              SizeIs(1));
  EXPECT_THAT(check_one_definition({file("a.hpp", "npu", base), file("b.hpp", "x", base)}),
              IsEmpty());
  EXPECT_THAT(check_one_definition({file("a.cpp", "", base), file("b.cpp", "", base)}), IsEmpty());
  EXPECT_THAT(
      check_one_definition({file("a.hpp", "npu", base), file("b.hpp", "npu", "class Reader;")}),
      IsEmpty());
}

TEST(FiguresOfWorkloads, AreReportedByTheirRows) {
  const std::string text = "report.add_metric(name, value, unit);\n  mark(tracer, name, span);\n";
  EXPECT_THAT(check_figures({"workloads/programs/a.cpp", text}), SizeIs(2));
  EXPECT_THAT(check_figures({"workloads/framework/figures.cpp", text}), IsEmpty());
}

TEST(Form, FourHundredLinesAreTheLimit) {
  std::string text = kSpdx;
  for (int i = 1; i < 400; ++i) text += "\n";
  EXPECT_THAT(check_form({"model/a.cpp", text}), IsEmpty());
  EXPECT_THAT(check_form({"model/a.cpp", text + "\n"}), SizeIs(1));
}

TEST(Form, TheLicenceComesFirstOrAfterTheInterpreter) {
  EXPECT_THAT(check_form({"a.cpp", "#pragma once\n" + kSpdx}), SizeIs(1));
  EXPECT_THAT(check_form({"a.cpp", ""}), SizeIs(1));
  EXPECT_THAT(check_form({"run", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"}), IsEmpty());
  EXPECT_THAT(check_form({"run", "#!/bin/sh\necho\n"}), SizeIs(1));
}

TEST(Readmes, AreMissedAndMeasured) {
  const Tree tree{"model/a.cpp", "driver/b.cpp", "README.md", "model/README.md"};
  const std::string forty_one(41, '\n');
  const auto violations =
      check_readmes(tree, {{"README.md", forty_one}, {"model/README.md", forty_one}});
  ASSERT_THAT(violations, SizeIs(2));
  EXPECT_EQ(violations[0].message(), "driver/README.md:0: is missing");
  EXPECT_EQ(violations[1].message(), "model/README.md:41: over 40 lines");
}

TEST(Symbols, OfSystemCAndTheModelAreFound) {
  const std::string mangled =
      "                 U _ZN7sc_core7sc_timeC1Ev\n"
      "                 U _ZN3npu5model6EngineC1Ev\n"
      "                 U _ZN3tlm19tlm_generic_payload5resetEv\n"
      "                 U _ZNSt6vectorIiED1Ev\n"
      "                 U _ZN3npu6driver5model_Ev\n";
  EXPECT_THAT(foreign_symbols(mangled), SizeIs(3));
  EXPECT_THAT(foreign_symbols("U sc_core::wait()\nU npu::model::Engine::Engine()\nU memcpy\n"),
              SizeIs(2));
}

}  // namespace
}  // namespace npu::architecture
