// SPDX-License-Identifier: Apache-2.0
// main() for tests with a simulated machine (npu/testing/machine_test.hpp): GoogleTest's, but that
// every test runs in a process of its own, for a simulation begins only once in a process. A single
// test that is selected runs in this one, which is what a debugger wants.
//
// Of GoogleTest's options it has --gtest_filter, --gtest_list_tests, --gtest_repeat,
// --gtest_also_run_disabled_tests, --gtest_fail_fast, sharding, and --gtest_output=xml[:FILE].
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "child.hpp"
#include "junit.hpp"

namespace {

using npu::testkit::Outcome;
using Names = std::vector<std::pair<std::string, std::string>>;

// What GoogleTest's filter and sharding select: listing makes it decide that.
Names selected_tests() {
  std::fflush(stdout);
  const int out = dup(STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  testing::GTEST_FLAG(list_tests) = true;
  const std::string output = std::exchange(testing::GTEST_FLAG(output), std::string());
  const int listed = RUN_ALL_TESTS();
  testing::GTEST_FLAG(list_tests) = false;
  testing::GTEST_FLAG(output) = output;
  std::fflush(stdout);
  dup2(out, STDOUT_FILENO);
  close(nowhere);
  close(out);
  Names names;
  if (listed != 0) return names;
  const auto* unit_test = testing::UnitTest::GetInstance();
  for (int s = 0; s < unit_test->total_test_suite_count(); ++s) {
    const auto* suite = unit_test->GetTestSuite(s);
    for (int t = 0; t < suite->total_test_count(); ++t) {
      const auto* test = suite->GetTestInfo(t);
      if (test->should_run()) names.emplace_back(suite->name(), test->name());
    }
  }
  return names;
}

// The file of --gtest_output; empty: none.
std::string output_file(const char* program) {
  const std::string output = testing::GTEST_FLAG(output);
  if (output.empty()) return {};
  std::string file = output.size() > 4 ? output.substr(4) : "test_detail.xml";
  if (file.back() == '/') {
    const char* const slash = std::strrchr(program, '/');
    file += std::string(slash == nullptr ? program : slash + 1) + ".xml";
  }
  return file;
}

Outcome run(const std::pair<std::string, std::string>& test) {
  std::printf("[ RUN      ] %s.%s\n", test.first.c_str(), test.second.c_str());
  const Outcome outcome = npu::testkit::run_in_child(test.first, test.second);
  std::printf("%s %s.%s",
              outcome.failed    ? "[  FAILED  ]"
              : outcome.skipped ? "[  SKIPPED ]"
                                : "[       OK ]",
              test.first.c_str(), test.second.c_str());
  if (outcome.simulated > 0) {
    std::printf(" (%lld.%06lld us simulated)",
                static_cast<long long>(outcome.simulated / 1'000'000),
                static_cast<long long>(outcome.simulated % 1'000'000));
  }
  std::printf("\n");
  std::fflush(stdout);
  return outcome;
}

// True if none has failed.
bool summary(const std::vector<Outcome>& outcomes) {
  std::size_t skipped = 0;
  std::vector<std::string> failed;
  for (const auto& outcome : outcomes) {
    if (outcome.failed) failed.push_back(outcome.suite + "." + outcome.name);
    skipped += !outcome.failed && outcome.skipped ? 1 : 0;
  }
  std::printf("[==========] %zu tests ran.\n[  PASSED  ] %zu tests.\n", outcomes.size(),
              outcomes.size() - failed.size() - skipped);
  if (skipped > 0) std::printf("[  SKIPPED ] %zu tests.\n", skipped);
  if (!failed.empty()) std::printf("[  FAILED  ] %zu tests, listed below:\n", failed.size());
  for (const auto& name : failed) std::printf("[  FAILED  ] %s\n", name.c_str());
  return failed.empty();
}

// Folders are made, as GoogleTest makes them.
bool write_file(const std::string& path, const std::string& text) {
  std::error_code ignored;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return true;
  std::fprintf(stderr, "%s: cannot be written: %s\n", path.c_str(), std::strerror(errno));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  static std::string output = testing::GTEST_FLAG(output);
  if (!output.empty() && output != "xml" && output.rfind("xml:", 0) != 0) {
    std::fprintf(stderr, "--gtest_output=%s: xml[:FILE] is what there is\n", output.c_str());
    return 2;
  }
  // What lives while children run is static: see child.cpp.
  static std::string file = output_file(argv[0]);
  static Names tests = selected_tests();
  const int repeat = testing::GTEST_FLAG(repeat);
  if (tests.size() == 1 && file.empty() && repeat == 1) return RUN_ALL_TESTS();
  static std::vector<Outcome> outcomes;
  bool stopped = false;
  for (int round = 0; round != repeat && !stopped; ++round) {
    for (const auto& test : tests) {
      outcomes.push_back(run(test));
      stopped = outcomes.back().failed && testing::GTEST_FLAG(fail_fast);
      if (stopped) break;
    }
  }
  const bool passed = summary(outcomes);
  if (!file.empty() && !write_file(file, npu::testkit::junit(outcomes))) return 2;
  return passed ? 0 : 1;
}
