// SPDX-License-Identifier: Apache-2.0
// What counts as done, and what is left of what is not.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/test_folder.hpp"
#include "tests/unit/sweep/sample.hpp"
#include "tools/cli/sweep/folder_lock.hpp"
#include "tools/cli/sweep/point_folder.hpp"
#include "tools/cli/sweep/results_directory.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::sweep {
namespace {

namespace fs = std::filesystem;

class SweepFolder : public testing::Test {
 protected:
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  static std::string report_text(std::uint64_t seed = 1) {
    return reports::to_json(sample_report(sample_identity(seed), {{"a", hundredths(150)}}));
  }
  // A folder whose run has written its report and was accepted.
  PointFolder done() const {
    PointFolder folder(path_.path(), sample_identity());
    EXPECT_TRUE(folder.begin());
    write(folder.running(), report_text());
    EXPECT_TRUE(folder.accept());
    return folder;
  }
  const test::TestFolder path_;
};

TEST_F(SweepFolder, AnAcceptedReportIsThere) {
  const auto report = done().report();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->metrics().at(0).value.text(), "1.50");
}

TEST_F(SweepFolder, AReportThatIsNotWholeIsNotAccepted) {
  const PointFolder folder(path_.path(), sample_identity());
  ASSERT_TRUE(folder.begin());
  const std::string text = report_text();
  for (std::size_t length = 0; length + 2 < text.size(); length += 50) {
    write(folder.running(), text.substr(0, length));
    EXPECT_EQ(folder.accept().error().code, ErrorCode::kWrongData) << length;
  }
  write(folder.running(), report_text(2));
  EXPECT_EQ(folder.accept().error().code, ErrorCode::kWrongData);
  EXPECT_FALSE(folder.report());
}

TEST_F(SweepFolder, AReportOfAnotherBuildIsNotTaken) {
  const PointFolder before = done();
  RunIdentity rebuilt = sample_identity();
  rebuilt.build = "another";
  const PointFolder after(path_.path(), rebuilt);
  ASSERT_EQ(after.path(), before.path());
  EXPECT_FALSE(after.report());
  ASSERT_TRUE(after.begin());
  EXPECT_FALSE(before.report());
}

TEST_F(SweepFolder, ACutReportIsNotTaken) {
  const PointFolder folder = done();
  fs::resize_file(folder.path() + "/report.json", 100);
  EXPECT_FALSE(folder.report());
}

TEST_F(SweepFolder, AReportWithOneDigitChangedIsNotTaken) {
  const PointFolder folder = done();
  std::string text = report_text();
  const auto at = text.find("1.50");
  ASSERT_NE(at, std::string::npos);
  text[at] = '2';
  write(folder.path() + "/report.json", text);
  EXPECT_FALSE(folder.report());
}

TEST_F(SweepFolder, TheDigestIsThatOfSha256sum) {
  const PointFolder folder = done();
  EXPECT_EQ(std::system(
                ("cd '" + folder.path() + "' && sha256sum --check --status report.sha256").c_str()),
            0);
}

// A pipe has no reader's end; nobody waits for one.
TEST_F(SweepFolder, WhatIsNoFileIsNotRead) {
  for (const char* name : {"report.json", "report.sha256", "point.json"}) {
    const PointFolder folder = done();
    const std::string path = folder.path() + "/" + name;
    fs::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_FALSE(folder.report()) << name;
    fs::remove(path);
  }
}

TEST_F(SweepFolder, AFailureIsTheLogsLastLineAndGoneWithTheNextRun) {
  const PointFolder folder(path_.path(), sample_identity());
  ASSERT_TRUE(folder.begin());
  write(folder.log(), "12 %\nnpusim: broken \"thing\"\n");
  ASSERT_TRUE(folder.reject(2, ""));
  ASSERT_TRUE(folder.failure());
  EXPECT_EQ(folder.failure()->exit_code, 2);
  EXPECT_EQ(folder.failure()->line, "npusim: broken \"thing\"");
  ASSERT_TRUE(folder.begin());
  EXPECT_FALSE(folder.failure());
}

TEST_F(SweepFolder, NothingHalfWrittenStays) {
  const PointFolder folder(path_.path(), sample_identity());
  ASSERT_TRUE(folder.begin());
  write(folder.running(), "{");
  write(folder.path() + "/.npusim-12-0", "{");
  folder.abandon();
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, testing::ElementsAre("point.json"));
}

TEST_F(SweepFolder, ResultsAreKeptInAFolderOfTheirOwn) {
  write(path_.path("file"), "x");
  EXPECT_EQ(ResultsDirectory::open(path_.path("file")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      ResultsDirectory::open(path_.path()).error().context,
      path_.path() + ": is not empty and holds no results of a sweep; --output DIR takes another");
  ASSERT_TRUE(ResultsDirectory::open(path_.path("new/deeper")));
  EXPECT_TRUE(ResultsDirectory::open(path_.path("new/deeper")));
}

TEST_F(SweepFolder, ALockExcludesOthersUntilItsProcessEnds) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    const auto lock = FolderLock::take(path_.path(), FolderLock::Kind::kAlone);
    ::write(ready[1], lock ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  const auto refused = FolderLock::take(path_.path(), FolderLock::Kind::kShared);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context, path_.path() + ": another npusim is at work there");
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_TRUE(FolderLock::take(path_.path(), FolderLock::Kind::kAlone));
}

TEST_F(SweepFolder, ALockMayBeShared) {
  const auto mine = FolderLock::take(path_.path(), FolderLock::Kind::kShared);
  const auto yours = FolderLock::take(path_.path(), FolderLock::Kind::kShared);
  EXPECT_TRUE(mine);
  EXPECT_TRUE(yours);
  EXPECT_FALSE(FolderLock::take(path_.path(), FolderLock::Kind::kAlone));
}

}  // namespace
}  // namespace npu::sweep
