// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace npu::testkit {
namespace {

constexpr unsigned kHangSeconds = 900;  // against tests that hang, nothing else

// What a child leaves for its parent in a file, when its test has ended.
struct Head {
  bool failed = false;
  bool skipped = false;
  std::int64_t simulated = 0;
  std::size_t details = 0;  // bytes that follow
};

void put(int file, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(file, bytes, size);
    if (written <= 0) std::_Exit(1);
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

bool get(int file, void* data, std::size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t count = read(file, bytes, size);
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

void hand_over(const ::testing::TestInfo& test, int file) {
  const Outcome outcome = outcome_of(test);
  const Head head{outcome.failed, outcome.skipped, outcome.simulated, outcome.details.size()};
  put(file, &head, sizeof head);
  put(file, outcome.details.data(), outcome.details.size());
}

// Prints failures as GoogleTest does, and nothing else; hands the outcome over.
class Reporter : public ::testing::EmptyTestEventListener {
 public:
  explicit Reporter(int file) : file_(file) {}
  void OnTestPartResult(const ::testing::TestPartResult& part) override {
    if (part.type() == ::testing::TestPartResult::kSuccess) return;
    if (part.file_name() != nullptr) std::printf("%s:%d: ", part.file_name(), part.line_number());
    std::printf("%s\n%s\n", part.skipped() ? "Skipped" : "Failure", part.message());
    std::fflush(stdout);
  }
  void OnTestEnd(const ::testing::TestInfo& test) override { hand_over(test, file_); }

 private:
  int file_;
};

int outcome_file = -1;

// A test that waits for ever ends its process without an end of its own.
void hand_over_unfinished() {
  const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test != nullptr) hand_over(*test, outcome_file);
}

[[noreturn]] void run_here(const std::string& test, int file) {
  unsetenv("GTEST_TOTAL_SHARDS");
  unsetenv("GTEST_SHARD_INDEX");
  unsetenv("GTEST_SHARD_STATUS_FILE");
  testing::GTEST_FLAG(filter) = test;
  testing::GTEST_FLAG(repeat) = 1;
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  delete listeners.Release(listeners.default_xml_generator());
  listeners.Append(new Reporter(file));
  outcome_file = file;
  std::at_quick_exit(&hand_over_unfinished);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for a test whose main() is gone
  alarm(kHangSeconds);
  std::exit(RUN_ALL_TESTS());
}

std::string how_it_ended(int status, bool test_ended) {
  if (WIFEXITED(status)) {
    return "the process ended with " + std::to_string(WEXITSTATUS(status)) +
           (test_ended ? " after its test" : " before the test did");
  }
  const int signal = WTERMSIG(status);
  if (signal == SIGALRM) {
    return "the test has not ended after " + std::to_string(kHangSeconds) + " s";
  }
  return "the process was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) +
         ")";
}

}  // namespace

Outcome run_in_child(const std::string& suite, const std::string& name) {
  // Static: a child's leak check does not look at the stack that a simulation has begun from.
  static std::string test;
  static Outcome outcome;
  test = suite + "." + name;
  outcome = Outcome();
  outcome.suite = suite;
  outcome.name = name;
  std::fflush(nullptr);
  const int file = memfd_create("outcome", MFD_CLOEXEC);
  const pid_t child = file < 0 ? -1 : fork();
  if (child == 0) run_here(test, file);
  int status = 0;
  Head head;
  const bool ended = child > 0 && waitpid(child, &status, 0) == child &&
                     lseek(file, 0, SEEK_SET) == 0 && get(file, &head, sizeof head);
  if (ended) {
    outcome.failed = head.failed;
    outcome.skipped = head.skipped;
    outcome.simulated = head.simulated;
    outcome.details.resize(head.details);
    get(file, outcome.details.data(), head.details);
  }
  // A process may also fail behind its test: in what it had for all tests, or by a sanitizer.
  const bool clean = ended && WIFEXITED(status) && (WEXITSTATUS(status) == 0 || outcome.failed);
  if (!clean) {
    const std::string why = child > 0 ? how_it_ended(status, ended) : std::strerror(errno);
    std::printf("%s\n", why.c_str());
    outcome.failed = true;
    outcome.details += failure_element(why);
  }
  if (file >= 0) close(file);
  return outcome;
}

}  // namespace npu::testkit
