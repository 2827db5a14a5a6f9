// SPDX-License-Identifier: Apache-2.0
// What npusim is to a program, without a machine: it answers every call at once, each connection by
// a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/compat/protocol/calls.hpp"
#include "apps/compat/protocol/wire.hpp"

namespace npu::test {

class FakeServer {
 public:
  // Programs find it by their environment from now on.
  FakeServer();
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  // What Call::kMemExport is answered with.
  static std::uint64_t answer_to(std::uint64_t handle) { return handle * 3 + 1; }

  unsigned connections() const { return connections_.load(); }
  unsigned ends() const { return ends_.load(); }
  // Of all calls: has_children of the slot.
  unsigned most_children() const { return most_children_.load(); }

 private:
  void accept_all();
  void serve(int socket);
  void answer(int socket, compat::Slot& slot);

  const std::string name_;
  const int listener_;
  std::atomic<bool> stopping_{false};
  std::atomic<unsigned> connections_{0}, ends_{0}, most_children_{0};
  std::atomic<std::uint64_t> memories_{0};
  std::vector<std::thread> servers_;  // of the accepting thread
  std::thread acceptor_;              // last: it uses the others
};

}  // namespace npu::test
