// SPDX-License-Identifier: Apache-2.0
// `npusim serve` in a process of its own, for as long as the object lives.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace npu::test {

class ServedCard {
 public:
  // `options` besides --socket.
  explicit ServedCard(const std::vector<std::string>& options);
  // The whole hierarchy on the window's socket instead of a card.
  struct Window {
    std::string socket;
  };
  ServedCard(const Window& window, const std::vector<std::string>& options);
  ~ServedCard();  // ends it
  ServedCard(const ServedCard&) = delete;
  ServedCard& operator=(const ServedCard&) = delete;

  const std::string& socket() const { return socket_; }  // there is somebody listening on it
  // SIGTERM, and the exit status; -1: it was killed.
  int stop();

 private:
  void start(std::vector<std::string> words);

  std::string socket_;
  pid_t process_ = -1;
  int output_ = -1;  // kept open: it prints a report in the end
};

}  // namespace npu::test
