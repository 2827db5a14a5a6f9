// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/job_scripts.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace npu::sweep {
namespace {

using testing::HasSubstr;

const JobPaths kPaths{"/usr/bin/npusim", "/home/a b/s.yaml", "/home/100%/r", "/home/a b"};

TEST(JobScripts, WordsOfAShellAreQuotedWhereTheyHaveTo) {
  EXPECT_EQ(shell_word("/a/b-1.yaml"), "/a/b-1.yaml");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $1"), "'it'\\''s $1'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(JobScripts, ACommandPerPoint) {
  EXPECT_EQ(command_lines(kPaths, {3, 7}),
            "/usr/bin/npusim sweep '/home/a b/s.yaml' --output '/home/100%/r' --point 3\n"
            "/usr/bin/npusim sweep '/home/a b/s.yaml' --output '/home/100%/r' --point 7\n");
}

TEST(JobScripts, ATaskOfTheArrayPerPoint) {
  const std::string script = slurm_script(kPaths, "latency", {3, 7, 9});
  EXPECT_THAT(script, HasSubstr("#SBATCH --job-name=latency\n#SBATCH --array=0-2\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --output=\"/home/100%%/r/slurm-%a.log\"\n"));
  EXPECT_THAT(script, HasSubstr("cd '/home/a b' || exit 1\npoints=\"3 7 9\"\n"));
  EXPECT_THAT(script, HasSubstr("--point \"$point\" || failed=1"));
}

TEST(JobScripts, MorePointsThanAnArrayMayHaveShareItsTasks) {
  std::vector<std::size_t> points(2500);
  std::iota(points.begin(), points.end(), std::size_t{0});
  const std::string script = slurm_script(kPaths, "latency", points);
  EXPECT_THAT(script, HasSubstr("#SBATCH --array=0-999\n"));
  EXPECT_THAT(script, HasSubstr("if [ $((i % 1000)) -eq \"$SLURM_ARRAY_TASK_ID\" ]"));
}

}  // namespace
}  // namespace npu::sweep
