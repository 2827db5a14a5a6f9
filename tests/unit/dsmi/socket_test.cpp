// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "apps/dsmi/client/protocol.hpp"
#include "apps/dsmi/client/socket_machine.hpp"
#include "dsmi/dsmi_common_interface.h"

namespace npu::dsmi {
namespace {

// Answers `answers` requests with `value`, then is gone.
class Server {
 public:
  Server(int answers, AnswerMessage message) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    ::unlink(path.c_str());
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    thread_ = std::thread([this, answers, message] { serve(answers, message); });
  }
  ~Server() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    ::unlink(path.c_str());
  }
  const std::string path = "/tmp/npusim-dsmi-test-" + std::to_string(::getpid());

 private:
  void serve(int answers, const AnswerMessage& message) const {
    const int client = ::accept(listener_, nullptr, nullptr);
    RequestMessage request;
    for (int i = 0; i < answers; ++i) {
      if (::recv(client, &request, sizeof request, MSG_WAITALL) != sizeof request) break;
      ::send(client, &message, sizeof message, MSG_NOSIGNAL);
    }
    ::close(client);
  }
  int listener_ = -1;
  std::thread thread_;
};

TEST(DsmiSocket, NobodyListensThere) {
  EXPECT_EQ(npu_dsmi_attach_socket("/tmp/npusim-no-such-socket"), DSMI_ERROR_NO_DEVICE);
  EXPECT_EQ(npu_dsmi_attach_socket(""), DSMI_ERROR_NO_DEVICE);
  EXPECT_EQ(npu_dsmi_attach_socket(std::string(500, 'x').c_str()), DSMI_ERROR_NO_DEVICE);
}

TEST(DsmiSocket, WhoHangsUpIsNoServer) {
  const Server server(0, {});
  EXPECT_EQ(npu_dsmi_attach_socket(server.path.c_str()), DSMI_ERROR_NO_DEVICE);
}

TEST(DsmiSocket, WhoRefusesTheVersionIsNoServer) {
  const Server server(1, {Answer::kRefused, 0, 0});
  EXPECT_EQ(npu_dsmi_attach_socket(server.path.c_str()), DSMI_ERROR_NO_DEVICE);
}

TEST(DsmiSocket, MoreCardsThanThereCanBeAreNone) {
  const Server server(1, {Answer::kDone, 0, 1'000'000});
  EXPECT_EQ(npu_dsmi_attach_socket(server.path.c_str()), DSMI_ERROR_NO_DEVICE);
}

TEST(DsmiSocket, ACardIsAnInvalidDeviceWhenItsServerHasGone) {
  const Server server(3, {Answer::kDone, 0, 1});  // one card, its address, its events
  ASSERT_EQ(npu_dsmi_attach_socket(server.path.c_str()), DSMI_OK);
  unsigned health = 0;
  EXPECT_EQ(dsmi_get_device_health(0, &health), DSMI_ERROR_INVALID_DEVICE);
  dsmi_hbm_info_stru memory{};
  EXPECT_EQ(dsmi_get_hbm_info(0, &memory), DSMI_ERROR_INVALID_DEVICE);
  npu_dsmi_detach();
}

}  // namespace
}  // namespace npu::dsmi
