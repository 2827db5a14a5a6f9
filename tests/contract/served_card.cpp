// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/served_card.hpp"
#include "tests/support/folders.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace npu::test {
namespace {

// The server says when it listens; the end of its output means that it never will.
bool wait_for_line(int output) {
  std::array<char, 256> text{};
  return ::read(output, text.data(), text.size()) > 0;
}

}  // namespace

ServedCard::ServedCard(const std::vector<std::string>& options) {
  static unsigned number = 0;
  socket_ = testing::TempDir() + "npu" + std::to_string(::getpid()) + "." +
            std::to_string(number++) + ".sock";
  std::vector<std::string> words{binary_dir() + "/bin/npusim", "serve", "--socket", socket_};
  words.insert(words.end(), options.begin(), options.end());
  start(std::move(words));
}

ServedCard::ServedCard(const Window& window, const std::vector<std::string>& options)
    : socket_(window.socket) {
  std::vector<std::string> words{binary_dir() + "/bin/npusim", "serve", "--ecam", socket_};
  words.insert(words.end(), options.begin(), options.end());
  start(std::move(words));
}

void ServedCard::start(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> output{};
  if (::pipe2(output.data(), O_CLOEXEC) != 0) return;
  process_ = ::fork();
  if (process_ == 0) {
    // However the test ends, nobody waits for what its server still has open.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(output[1], 1);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(output[1]);
  EXPECT_TRUE(process_ > 0 && wait_for_line(output[0])) << "no server";
  output_ = output[0];
}

int ServedCard::stop() {
  if (process_ < 0) return -1;
  int status = 0;
  ::kill(process_, SIGTERM);
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

ServedCard::~ServedCard() {
  stop();
  ::close(output_);
}

}  // namespace npu::test
