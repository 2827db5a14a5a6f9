// SPDX-License-Identifier: Apache-2.0
// main() of the tests that elaborate SystemC modules. A SystemC kernel elaborates once per
// process, so every selected test runs in a forked child of its own; what a child prints is shown
// if it fails. A single selected test runs in this process, which is what a debugger wants.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr unsigned kHangSeconds = 900;  // against tests that hang, nothing else
constexpr int kSkipped = 77;

// Static, as the list of failures: SystemC's processes have stacks of their own, after which a
// child's leak check does not find what only main()'s stack points to.
std::vector<std::string> selected;
std::vector<std::string> failed;

// Sets `selected` to what gtest's filter and sharding select. Listing makes gtest decide that.
void select_tests() {
  std::fflush(stdout);
  const int out = dup(STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  testing::GTEST_FLAG(list_tests) = true;
  const int listed = RUN_ALL_TESTS();
  testing::GTEST_FLAG(list_tests) = false;
  std::fflush(stdout);
  dup2(out, STDOUT_FILENO);
  close(nowhere);
  close(out);
  if (listed != 0) return;
  const auto* unit_test = testing::UnitTest::GetInstance();
  for (int s = 0; s < unit_test->total_test_suite_count(); ++s) {
    const auto* suite = unit_test->GetTestSuite(s);
    for (int t = 0; t < suite->total_test_count(); ++t) {
      const auto* test = suite->GetTestInfo(t);
      if (!test->should_run()) continue;
      selected.push_back(std::string(suite->name()) + "." + test->name());
    }
  }
}

int run_here(const std::string& test) {
  unsetenv("GTEST_TOTAL_SHARDS");
  unsetenv("GTEST_SHARD_INDEX");
  testing::GTEST_FLAG(filter) = test;
  const int result = RUN_ALL_TESTS();
  const bool skipped = testing::UnitTest::GetInstance()->skipped_test_count() > 0;
  return result == 0 && skipped ? kSkipped : result;
}

void show(int file) {
  char buffer[4096];
  lseek(file, 0, SEEK_SET);
  for (ssize_t n = 0; (n = read(file, buffer, sizeof buffer)) > 0;) {
    std::fwrite(buffer, 1, static_cast<std::size_t>(n), stdout);
  }
}

// The wait status of a child that runs the test. In the child this does not return.
int run_in_child(const std::string& test) {
  std::fflush(stdout);
  const int output = memfd_create("test", MFD_CLOEXEC);
  const pid_t child = fork();
  if (child == 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    alarm(kHangSeconds);
    std::exit(run_here(test));
  }
  int status = 0;
  waitpid(child, &status, 0);
  const bool fine =
      WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kSkipped);
  if (!fine) {
    show(output);
    if (WIFSIGNALED(status)) {
      std::printf("%s: ended by signal %d%s\n", test.c_str(), WTERMSIG(status),
                  WTERMSIG(status) == SIGALRM ? " (it hung)" : "");
    }
  }
  close(output);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  select_tests();
  if (selected.size() == 1) return run_here(selected.front()) == 1 ? 1 : 0;
  std::size_t skipped = 0;
  for (const auto& name : selected) {
    const int status = run_in_child(name);
    const bool skip = WIFEXITED(status) && WEXITSTATUS(status) == kSkipped;
    if (skip) ++skipped;
    if (!skip && status != 0) failed.push_back(name);
    std::printf("[ %s ] %s\n",
                skip          ? " SKIPPED"
                : status == 0 ? "      OK"
                              : " FAILED ",
                name.c_str());
  }
  std::printf("[  PASSED  ] %zu tests.\n", selected.size() - failed.size() - skipped);
  if (skipped > 0) std::printf("[  SKIPPED ] %zu tests.\n", skipped);
  if (!failed.empty()) std::printf("[  FAILED  ] %zu tests, listed below:\n", failed.size());
  for (const auto& name : failed) std::printf("[  FAILED  ] %s\n", name.c_str());
  return failed.empty() ? 0 : 1;
}
