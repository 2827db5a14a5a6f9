// SPDX-License-Identifier: Apache-2.0
// What cannot be written is said with the system's words and an exit code; nothing half is left.
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

const std::string kNpusim = binary_dir() + "/bin/npusim ";
const std::string kRun = kNpusim + "--config 910b run enumerate ";

class Output : public Program {
 protected:
  // Names in the test's folder, but for what the harness writes.
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(path(""))) {
      const auto name = file.path().filename().string();
      if (name != "out.txt" && name != "err.txt") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void expect_failed(const Result& result, int exit_code, const std::string& line) const {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.err, "npusim: " + line + "\n");
  }
};

const std::vector<std::string> kPrinting{"--help",
                                         "run --help",
                                         "--version",
                                         "list",
                                         "config keys",
                                         "registers",
                                         "config show 910b",
                                         "config check 910b",
                                         "--config 910b lspci",
                                         "--config 910b run enumerate",
                                         "--config 910b serve --socket s"};

TEST_F(Output, AFullStandardOutputIsAFailureOfEveryCommand) {
  for (const auto& command : kPrinting) {
    const auto result = shell("{ " + kNpusim + command + " >/dev/full; }");
    expect_failed(result, 1, "standard output: cannot be written: No space left on device");
  }
}

TEST_F(Output, AClosedStandardOutputIsAFailureOfEveryCommand) {
  for (const auto& command : kPrinting) {
    const auto result = shell("{ " + kNpusim + command + " >&-; }");
    expect_failed(result, 1, "standard output: cannot be written: Bad file descriptor");
  }
}

TEST_F(Output, TheReportIsWrittenAlthoughStandardOutputIsClosed) {
  const auto result = shell("{ " + kRun + "--report r.json <&- >&-; }");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(text("r.json"))["workload"], "enumerate");
  EXPECT_EQ(result.out, "") << "and nothing else has become standard output";
}

TEST_F(Output, AReaderThatLeavesDoesNotCostTheReport) {
  shell("{ " + kRun + "--report r.json | true; }");
  EXPECT_TRUE(nlohmann::json::accept(text("r.json")));
}

TEST_F(Output, AReportOnAFullDeviceIsAFailure) {
  expect_failed(shell(kRun + "--report /dev/full"), 1,
                "--report /dev/full: cannot be written: No space left on device");
}

TEST_F(Output, APathThatCannotBeWrittenCostsNoRun) {
  shell("mkdir folder; echo x >file");
  for (const auto* option : {"--report", "--html", "--config-out"}) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"no/such.json", "No such file or directory"},
        {"folder", "Is a directory"},
        {"file/r.json", "Not a directory"},
        {"/sys/r.json", "Permission denied"},
        {"/dev/fd/77", "Bad file descriptor"},
        {std::string(300, 'r'), "File name too long"}};
    for (const auto& [file, text] : wrong) {
      const auto result = npusim({"--config", "910b", "run", "enumerate", option, file});
      EXPECT_EQ(result.exit_code, 2) << file;
      EXPECT_EQ(result.out, "") << file;
      EXPECT_NE(result.err.find("cannot be written: " + text + "\n"), std::string::npos)
          << result.err;
    }
  }
  EXPECT_EQ(left(), (std::vector<std::string>{"file", "folder"}));
}

TEST_F(Output, AFolderThatMayNotBeWrittenIsRefused) {
  shell("mkdir folder; chmod 555 folder");
  const std::string as_nobody =
      ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  const auto result = shell(as_nobody + kRun + "--report folder/r.json");
  expect_failed(result, 2, "--report folder/r.json: cannot be written: Permission denied");
  shell("chmod 755 folder");
}

TEST_F(Output, AReportThatMayNotGrowLeavesWhatWasThere) {
  write("r.json", "before\n");
  const auto result = shell("{ ulimit -f 1; " + kNpusim +
                            "--config 910b run dma_latency --report r.json >/dev/null; }");
  expect_failed(result, 1, "--report r.json: cannot be written: File too large");
  EXPECT_EQ(text("r.json"), "before\n");
  EXPECT_EQ(left(), std::vector<std::string>{"r.json"});
}

TEST_F(Output, ARunThatFailsLeavesTheReportOfTheRunBefore) {
  write("r.json", "before\n");
  EXPECT_EQ(shell(kNpusim + "--config 910b run p2p_bandwidth --report r.json").exit_code, 2);
  EXPECT_EQ(text("r.json"), "before\n");
}

// By another path, behind a link, by a hard link.
TEST_F(Output, OneFileDoesNotHoldTwoThings) {
  write("old.json", "old");
  shell("mkdir folder; ln -s old.json link.json; ln old.json hard.json; ln -s folder here");
  shell("ln -s folder/later.json later.json; ln -s later.json latest.json");
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"new.json", "./new.json"},     {"folder/new.json", "here/../folder/new.json"},
      {"folder/new", "here/new"},     {"old.json", "folder/../old.json"},
      {"old.json", "link.json"},      {"old.json", "hard.json"},
      {path("new.json"), "new.json"}, {"latest.json", "folder/later.json"},
      {"later.json", "latest.json"}};
  for (const auto& [report, trace] : pairs) {
    const auto result =
        npusim({"--config", "910b", "run", "enumerate", "--report", report, "--trace", trace});
    expect_failed(result, 2, "--report and --trace name the same file");
  }
  EXPECT_EQ(text("old.json"), "old");
  good(npusim({"--config", "910b", "run", "enumerate", "--report", "old.json", "--trace",
               "folder/old.json"}));
}

TEST_F(Output, WhatIsReadIsNotWritten) {
  shell(kNpusim + "config show 910b >my.yaml; ln -s my.yaml link.yaml");
  const std::string before = text("my.yaml");
  for (const std::string option : {"--report", "--html", "--config-out", "--trace", "--vcd"}) {
    for (const std::string config : {"my.yaml", "my", "link.yaml"}) {
      const auto result = npusim({"--config", config, "run", "enumerate", option, "./my.yaml"});
      expect_failed(result, 2, option + " ./my.yaml: that is a file to be read");
    }
  }
  const auto served = npusim({"--config", "my", "serve", "--socket", "s", "--report", "my.yaml"});
  expect_failed(served, 2, "--report my.yaml: that is a file to be read");
  EXPECT_EQ(text("my.yaml"), before);
  shell("cp " + source_dir() + "/workloads/graphs/vector_diamond.yaml g.yaml");
  expect_failed(
      npusim({"--config", "910b", "run", "graph", "--set", "graph=g.yaml", "--html", "./g.yaml"}),
      2, "--html ./g.yaml: that is a file to be read");
  expect_failed(
      npusim({"--config", "910b", "run", "graph", "--set", "dump_tensors=d", "--trace", "./d"}), 2,
      "--trace ./d: --set dump_tensors names the same file");
}

TEST_F(Output, TheReportGoesToWhatIsOpenAlready) {
  const auto result = good(shell("{ " + kRun + "--report /dev/stdout; }"));
  EXPECT_EQ(result.out.rfind("{\n  \"schema\"", 0), 0U) << result.out;
  EXPECT_NE(result.out.find("\n}\nenumerate on 910b"), std::string::npos) << "one behind the other";
  ASSERT_EQ(shell("{ " + kRun + "--report /dev/fd/3 3>r.json; }").exit_code, 0);
  EXPECT_TRUE(nlohmann::json::accept(text("r.json")));
}

TEST_F(Output, AFileCalledDashIsStandardOutput) {
  for (const std::string name : {"--report ", "--report="}) {
    const auto result = good(shell("{ " + kRun + name + "-; }"));
    EXPECT_EQ(result.out.rfind("{\n  \"schema\"", 0), 0U) << result.out;
    EXPECT_FALSE(std::filesystem::exists(path("-")));
  }
  expect_failed(shell("{ " + kRun + "--report - --trace -; }"), 2,
                "--report and --trace name the same file");
}

TEST_F(Output, TheReportGoesThroughAFifoAndBehindALink) {
  shell("mkfifo f; ln -s behind.json link");
  EXPECT_EQ(shell("{ cat f >read.json & " + kRun + "--report f; wait; }").exit_code, 0);
  EXPECT_TRUE(nlohmann::json::accept(text("read.json")));
  EXPECT_EQ(shell(kRun + "--report link").exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_TRUE(nlohmann::json::accept(text("behind.json")));
}

TEST_F(Output, AFileThatIsReplacedKeepsItsMode) {
  shell("echo before >r.json; chmod 604 r.json");
  ASSERT_EQ(shell(kRun + "--report r.json").exit_code, 0);
  EXPECT_EQ(static_cast<int>(std::filesystem::status(path("r.json")).permissions()), 0604);
}

// With the exit code of a shell for a program that a signal has ended.
TEST_F(Output, ARunThatIsKilledLeavesNoReport) {
  const auto result =
      shell("{ " + kNpusim +
            "--config 910b run alloc_churn --set steps=10000000 --report r.json --html r.html "
            "--trace t.json --config-out c.yaml & run=$!; "
            "until [ -s c.yaml ]; do sleep 0.05; done; kill -KILL $run; wait $run; }");
  EXPECT_EQ(result.exit_code, 137) << result.err;
  EXPECT_EQ(left(), std::vector<std::string>{"c.yaml"});
}

TEST_F(Output, ATensorDumpOnAFullDeviceIsAFailure) {
  shell("ln -s /dev/full t.json.bin");
  const auto result = npusim({"--config", "910b2", "run", "graph", "--set", "dump_tensors=t.json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("t.json.bin: cannot be written: No space left on device"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(left(), std::vector<std::string>{"t.json.bin"});
}

}  // namespace
}  // namespace npu::cli
