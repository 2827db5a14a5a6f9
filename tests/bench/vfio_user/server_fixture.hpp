// SPDX-License-Identifier: Apache-2.0
// A server with one function behind one socket, and clients of it, all in one thread.
#pragma once

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "model/host/vfio_user/server.hpp"
#include "tests/bench/vfio_user/fake_device.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/vfio_user/client.hpp"

namespace npu::test::vfio_user {

using model::vfio_user::Server;
using testing::ElementsAre;
using testing::IsEmpty;

// A folder of its own for sockets; a socket's name must be short.
class SocketFolder {
 public:
  SocketFolder() { path_ = ::mkdtemp(path_.data()); }
  ~SocketFolder() { std::filesystem::remove_all(path_); }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = "/tmp/vfio_user.XXXXXX";
};

MATCHER(Succeeds, "is a reply without an error") {
  *result_listener << "with flags " << arg.flags << ", errno " << arg.error;
  return arg.ok() && arg.error == 0;
}

// An error reply is a bare header (specification, "Header").
MATCHER_P(FailsWithErrno, number, "is a bare error reply with errno " + std::to_string(number)) {
  *result_listener << "with flags " << arg.flags << ", errno " << arg.error << ", "
                   << arg.payload.size() << " bytes";
  return arg.flags == (kIsReply | kIsError) && static_cast<int>(arg.error) == number &&
         arg.payload.empty();
}

class ServerTest : public testing::Test {
 protected:
  ServerTest() { EXPECT_THAT(server.listen(path, device), IsOk()); }

  Client connect() {
    return *Client::connect(path, [this] { server.serve(0); });
  }
  Client session() {
    Client client = connect();
    EXPECT_TRUE(client.negotiate());
    device.calls.clear();
    return client;
  }
  // Handles everything that is there.
  void settle() {
    for (int i = 0; i < 1000 && server.serve(0); ++i) {
    }
  }

  SocketFolder folder;
  std::string path = folder / "npu";
  FakeDevice device;
  FakeDevice other;  // for a second socket
  Server server;
};

// ... with a client that has negotiated.
class SessionTest : public ServerTest {
 protected:
  Client client = session();
};

// A malformed request and its name.
struct BadRequest {
  const char* name;
  std::uint16_t command;
  Blob payload;
  int error = 22;  // EINVAL
};

inline std::string name_of(const testing::TestParamInfo<BadRequest>& info) {
  return info.param.name;
}

}  // namespace npu::test::vfio_user
