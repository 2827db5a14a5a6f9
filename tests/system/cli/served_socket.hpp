// SPDX-License-Identifier: Apache-2.0
// `npusim serve` with one socket, in a process of its own that has to end well.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <csignal>
#include <cstring>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {

class ServedSocket : public Program {
 protected:
  // `option` says what the socket is for; `more` follows its path. No answer takes longer than
  // `seconds`.
  ServedSocket(const std::string& option, int seconds, const std::vector<std::string>& more = {})
      : seconds_(seconds) {
    std::vector<std::string> words{
        binary_dir() + "/bin/npusim", "--config", "910b2", "serve", option, path("m")};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    server_ = ::fork();
    if (server_ == 0) {
      std::freopen("/dev/null", "w", stdout);
      ::execv(arguments[0], arguments.data());
      std::_Exit(127);
    }
    for (int i = 0; i < 200 && !std::filesystem::exists(path("m")); ++i) ::usleep(50'000);
  }
  void TearDown() override {
    ::kill(server_, SIGTERM);
    int status = -1;
    ::waitpid(server_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the server has ended badly";
  }
  int connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path("m").c_str(), sizeof address.sun_path - 1);
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const timeval timeout{seconds_, 0};
    ::setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    return file;
  }

 private:
  const int seconds_;
  pid_t server_ = -1;
};

}  // namespace npu::cli
