// SPDX-License-Identifier: Apache-2.0
// `npusim run --until --save` and `--resume`.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Resume : public Program {
 protected:
  using Words = std::vector<std::string>;
  static Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Words run(const Words& more) const {
    return with({"--config", "910b2", "--seed", "3", "run", "dma_latency", "--set", "sizes=64,4KiB",
                 "--set", "iterations=3"},
                more);
  }
  // Copies are made within the last tenth of a millisecond. How long the driver takes before them
  // hangs on the build: one with sanitizers counts no instructions of the driver.
  std::string before_end(unsigned us) const {
    good(npusim(run({"--report", "end.json"})));
    const auto end =
        nlohmann::json::parse(text("end.json")).at("simulated_ps").get<std::uint64_t>();
    return std::to_string(end / 1'000'000 - us) + "us";
  }
  std::string save(const std::string& until) const {
    return good(npusim(run({"--until", until, "--save", "point.json"}))).out;
  }
  void replace(const std::string& what, const std::string& with) const {
    auto file = text("point.json");
    const auto at = file.find(what);
    ASSERT_NE(at, std::string::npos) << file;
    write("point.json", file.replace(at, what.size(), with));
  }
};

TEST_F(Resume, TheReportIsThatOfARunThatWasNeverSaved) {
  const auto whole = good(npusim(run({"--report", "whole.json", "--trace", "whole.trace"})));
  for (const auto& until : {std::string("1us"), before_end(60)}) {
    EXPECT_THAT(save(until), HasSubstr("dma_latency: saved at "));
    const auto on = good(
        npusim({"run", "--resume", "point.json", "--report", "on.json", "--trace", "on.trace"}));
    EXPECT_EQ(on.out, whole.out) << until;
    EXPECT_EQ(text("on.json"), text("whole.json")) << until;
    EXPECT_EQ(text("on.trace"), text("whole.trace")) << until;
  }
}

TEST_F(Resume, ASecondSaveIsTheSameFile) {
  const auto until = before_end(60);
  save(until);
  const auto first = text("point.json");
  save(until);
  EXPECT_EQ(text("point.json"), first);
}

TEST_F(Resume, ALaterFaultIsThatOfARunThatHadItFromTheBeginning) {
  const Words fault{"--fault", "bad_tlp,at=" + before_end(50)};
  good(npusim(run(with(fault, {"--report", "whole.json"}))));
  save(before_end(60));
  good(npusim(with({"run", "--resume", "point.json", "--report", "on.json"}, fault)));
  EXPECT_EQ(text("on.json"), text("whole.json"));
}

TEST_F(Resume, AParameterThatIsReadLaterMayChange) {
  const Words transformer{"--config", "910b2",        "run",   "transformer",
                          "--set",    "positions=64", "--set", "tokens=16"};
  good(npusim(with(transformer, {"--set", "steps=2", "--report", "whole.json"})));
  good(npusim(with(transformer, {"--set", "steps=1", "--until", "4ms", "--save", "point.json"})));
  good(npusim({"run", "--resume", "point.json", "--set", "steps=2", "--report", "on.json"}));
  EXPECT_EQ(text("on.json"), text("whole.json"));
}

TEST_F(Resume, AnotherRunIsToldBeforeItBegins) {
  save(before_end(60));
  const auto point = text("point.json");
  replace("\"build\": \"", "\"build\": \"0");
  const auto other = npusim({"run", "--resume", "point.json"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("--resume: point.json: was saved by another build of npusim"));
  write("point.json", point);
  replace("\"config\": \"910b2\"", "\"config\": \"910b\"");
  expect_refused({"run", "--resume", "point.json"},
                 "--resume: point.json: the configuration has changed since: 910b");
}

TEST_F(Resume, AnotherStateAtTheInstantIsAFailure) {
  save(before_end(60));
  replace("\"events\": ", "\"events\": 1");
  const auto on = npusim({"run", "--resume", "point.json", "--report", "on.json"});
  EXPECT_EQ(on.exit_code, 1);
  EXPECT_THAT(on.err, HasSubstr("npusim: --resume: point.json: the run has come to another state"));
}

TEST_F(Resume, BadInputIsALine) {
  expect_refused(run({"--until", "1us"}), "--until: give a file to save (--save)");
  expect_refused(run({"--save", "p"}), "--save: give a time (--until)");
  expect_refused(run({"--save", "p", "--until", "soon"}),
                 "--until: found 'soon'; allowed: a time, such as 2.5ms");
  expect_refused(run({"--save", "p", "--until", "1us", "--watch"}),
                 "--save: there is no --watch or --profile");
  const auto late = npusim(run({"--save", "p", "--until", "1s"}));
  EXPECT_EQ(late.exit_code, 2);
  EXPECT_THAT(late.err, HasSubstr("npusim: --until 1s: the run ends at "));
  write("point.json", "{}");
  expect_refused({"run", "--resume", "point.json"},
                 "--resume: point.json: schema: found nothing; allowed: a text");
  expect_refused({"run", "dma_latency", "--resume", "point.json"},
                 "--resume: the file names the workload");
  expect_refused({"--config", "910b2", "run", "--resume", "point.json"},
                 "--resume: the file says --config and --seed");
}

TEST_F(Resume, WhatCannotChangeAnyMoreIsRefused) {
  save(before_end(60));
  const auto early = npusim({"run", "--resume", "point.json", "--set", "iterations=4"});
  EXPECT_EQ(early.exit_code, 2);
  EXPECT_EQ(early.out, "");
  EXPECT_THAT(early.err, StartsWith("npusim: --set iterations: the run reads it before 1"));
  const auto past = npusim({"run", "--resume", "point.json", "--fault", "bad_tlp,at=1ms"});
  EXPECT_EQ(past.exit_code, 2);
  EXPECT_THAT(past.err, StartsWith("npusim: --fault bad_tlp,at=1ms: the run goes on from 1"));
  expect_refused(
      {"run", "--resume", "point.json", "--set", "link.lanes=8"},
      "--set link.lanes=8: no parameter of dma_latency; the configuration is that of the "
      "beginning");
}

}  // namespace
}  // namespace npu::cli
