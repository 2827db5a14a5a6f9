// SPDX-License-Identifier: Apache-2.0
// The socket on which threads of programs connect: an abstract one, so that no file stays of it
// when npusim has ended, however that came. Who is of another user is sent away.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/exec/host/channel.hpp"

namespace npu::exec {

// A thread that has said who it is and has got its channel.
struct Arrival {
  pid_t process = 0;
  pid_t thread = 0;
  std::uint64_t image = 0;    // compat::Hello
  std::uint32_t program = 0;  // the same
  std::unique_ptr<Channel> channel;
};

class Listener {
 public:
  // kIo.
  static Result<std::unique_ptr<Listener>> open();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const std::string& name() const { return name_; }
  int file() const { return socket_.get(); }
  // Those that came since the last look; who says nonsense is sent away. No waiting.
  std::vector<Arrival> accept();

 private:
  Listener() = default;
  struct Waiting {
    FileDescriptor socket;
    pid_t process;
  };
  // Nothing: it has not said anything yet; `*gone`: it will not be let in.
  static std::optional<Arrival> welcome(Waiting& waiting, bool* gone);

  std::string name_;
  FileDescriptor socket_;
  std::vector<Waiting> waiting_;  // have not said who they are
};

}  // namespace npu::exec
