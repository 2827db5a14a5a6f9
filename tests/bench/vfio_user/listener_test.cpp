// SPDX-License-Identifier: Apache-2.0
// The server's sockets in the file system.
#include <atomic>
#include <cerrno>
#include <fstream>
#include <thread>

#include "tests/bench/vfio_user/server_fixture.hpp"

namespace npu::test::vfio_user {
namespace {

TEST(Socket, IsRemovedWithTheServer) {
  const SocketFolder folder;
  FakeDevice device;
  {
    Server server;
    ASSERT_THAT(server.listen(folder / "npu", device), IsOk());
    EXPECT_TRUE(std::filesystem::is_socket(folder / "npu"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "npu"));
}

TEST(Socket, ThatCameInThePlaceOfOursIsLeftAlone) {
  const SocketFolder folder;
  FakeDevice device;
  {
    Server server;
    ASSERT_THAT(server.listen(folder / "npu", device), IsOk());
    std::filesystem::rename(folder / "npu", folder / "old");
    std::ofstream(folder / "npu") << "other";
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "npu"));
}

TEST(Socket, NobodyListensOnIsReplaced) {
  const SocketFolder folder;
  FakeDevice device;
  {
    Server server;
    ASSERT_THAT(server.listen(folder / "npu", device), IsOk());
    std::filesystem::rename(folder / "npu", folder / "stale");
  }
  Server server;
  ASSERT_THAT(server.listen(folder / "stale", device), IsOk());
  auto client = Client::connect(folder / "stale", [&] { server.serve(0); });
  EXPECT_TRUE(client && client->negotiate());
}

TEST(Socket, DoesNotReplaceAnotherKindOfFile) {
  const SocketFolder folder;
  FakeDevice device;
  Server server;
  std::ofstream(folder / "npu") << "precious";
  EXPECT_THAT(server.listen(folder / "npu", device), FailsWith(ErrorCode::kAlreadyExists));
  EXPECT_EQ(std::filesystem::file_size(folder / "npu"), 8U);
  std::filesystem::create_directory(folder / "folder");
  EXPECT_THAT(server.listen(folder / "folder", device), FailsWith(ErrorCode::kAlreadyExists));
}

TEST(Socket, NeedsANameThatFitsAndAFolderThatExists) {
  const SocketFolder folder;
  FakeDevice device;
  Server server;
  EXPECT_THAT(server.listen("", device), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(server.listen(folder / std::string(108, 'x'), device),
              FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(server.listen(folder / "absent/npu", device), FailsWith(ErrorCode::kIo, "absent"));
}

TEST(Socket, HasANameOfUpTo107CharactersAndLeavesNothingElse) {
  const SocketFolder folder;
  const std::string rest(107 - (folder / "").size(), 'x');
  FakeDevice device;
  Server server;
  ASSERT_THAT(server.listen(folder / rest, device), IsOk());
  auto client = Client::connect(folder / rest, [&] { server.serve(0); });
  EXPECT_TRUE(client && client->negotiate());
  const std::filesystem::directory_iterator files(folder / "");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

// However soon somebody tries: there is no socket yet, or one that is listened on.
TEST(Socket, CanBeConnectedToAsSoonAsItIsThere) {
  constexpr int kTimes = 500;
  const SocketFolder folder;
  std::atomic<bool> all_listen = false;
  int refused = 0;
  std::thread other([&] {
    for (int i = 0; i < kTimes; ++i) {
      const std::string path = folder / std::to_string(i);
      while (!Client::connect(path) && !all_listen) {
        if (errno != ENOENT) ++refused;
      }
    }
  });
  FakeDevice device;
  Server server;
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_THAT(server.listen(folder / std::to_string(i), device), IsOk());
  }
  all_listen = true;
  other.join();
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace npu::test::vfio_user
