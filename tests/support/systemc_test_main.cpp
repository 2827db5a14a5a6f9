// SPDX-License-Identifier: Apache-2.0
// main() of the tests that elaborate SystemC modules. A SystemC kernel elaborates once per
// process, so every selected test runs in a child of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

bool run_in_child(const std::string& program, const std::string& test) {
  std::string filter = "--gtest_filter=" + test;
  std::string name = program;
  std::vector<char*> arguments{name.data(), filter.data(), nullptr};
  const pid_t child = fork();
  if (child == 0) {
    execv(name.c_str(), arguments.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool wants_list(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]).rfind("--gtest_list_tests", 0) == 0) return true;
  }
  return false;
}

// The tests that gtest's own filter selects.
std::vector<std::string> selected_tests() {
  std::vector<std::string> names;
  const auto& filter = testing::GTEST_FLAG(filter);
  const auto* unit_test = testing::UnitTest::GetInstance();
  for (int s = 0; s < unit_test->total_test_suite_count(); ++s) {
    const auto* suite = unit_test->GetTestSuite(s);
    for (int t = 0; t < suite->total_test_count(); ++t) {
      const std::string name = std::string(suite->name()) + "." + suite->GetTestInfo(t)->name();
      if (filter == "*" || filter == name) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  const bool list = wants_list(argc, argv);
  testing::InitGoogleMock(&argc, argv);
  const auto names = selected_tests();
  if (list || names.size() <= 1) return RUN_ALL_TESTS();
  int failed = 0;
  for (const auto& name : names) failed += run_in_child(argv[0], name) ? 0 : 1;
  std::printf("%zu passed, %d failed\n", names.size() - static_cast<std::size_t>(failed), failed);
  return failed == 0 ? 0 : 1;
}
