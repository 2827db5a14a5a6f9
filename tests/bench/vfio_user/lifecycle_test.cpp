// SPDX-License-Identifier: Apache-2.0
// Clients that come and go, and several of them.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "tests/bench/vfio_user/server_fixture.hpp"

namespace npu::test::vfio_user {
namespace {

TEST_F(SessionTest, TakesEverythingBackFromAClientThatGoes) {
  const SharedMemory memory(4 * kPage);
  const EventFd event;
  client.map(2 * kPage, kPage, memory.fd());
  client.map(0, kPage, memory.fd());
  client.map(8 * kPage, kPage, -1);
  client.set_irqs(kEventfd | kTrigger, kMsix, 3, 1, {event.fd()});
  device.take_calls();
  client.close();
  settle();
  EXPECT_THAT(device.take_calls(),
              ElementsAre("unmap 0 1000", "unmap 2000 1000", "no trigger 2 3", "client gone"));
  EXPECT_FALSE(server.has_client());
}

TEST_F(SessionTest, TheNextClientFindsTheStateOfTheDevice) {
  client.write32(kBar0, 0, 77);
  client.close();
  Client next = session();
  EXPECT_EQ(next.read32(kBar0, 0), 77U);
  EXPECT_EQ(server.statistics().clients, 2U);
}

TEST_F(SessionTest, HandlesWhatWasSentBeforeTheClientWent) {
  for (std::uint32_t i = 0; i < 200; ++i) {
    client.send(kRegionWrite, access_payload(kBar0, 0, 4, Fields().u32(i)), {},
                i % 2 == 0 ? kWantsNoReply : 0);
  }
  client.close();
  Client next = connect();  // comes while the server is still at it
  EXPECT_TRUE(next.negotiate());
  EXPECT_EQ(next.read32(kBar0, 0), 199U);
}

TEST_F(ServerTest, AClientMayGoAtAnyByteOfAConversation) {
  const SharedMemory memory(kPage);
  const EventFd event;
  const Blob talk =
      Fields()
          .blob(header(1, kVersion, 20).u16(0).u16(0))
          .blob(header(2, kDmaMap, 48).blob(map_payload(0, kPage, 0)))
          .blob(header(3, kRegionWrite, 36).blob(access_payload(kBar0, 0, 4, Fields().u32(1))));
  const std::size_t before = open_descriptors();
  for (std::size_t cut = 0; cut <= talk.size(); ++cut) {
    Client client = connect();
    client.send_raw(Blob(talk.begin(), talk.begin() + static_cast<std::ptrdiff_t>(cut)),
                    {memory.fd(), event.fd()});
    settle();
    client.close();
    settle();
    EXPECT_FALSE(server.has_client());
    EXPECT_TRUE(device.mappings.empty());
    EXPECT_EQ(open_descriptors(), before);
  }
}

TEST_F(ServerTest, WhoNeverNegotiatedIsNobody) {
  Client client = connect();
  settle();
  EXPECT_FALSE(server.has_client());
  client.close();
  settle();
  EXPECT_THAT(device.take_calls(), IsEmpty());
  EXPECT_EQ(server.statistics().clients, 0U);
}

TEST_F(SessionTest, ASecondClientIsTurnedAway) {
  Client second = connect();
  EXPECT_TRUE(second.is_closed());
  EXPECT_EQ(server.statistics().refused, 1U);
  EXPECT_THAT(client.read(kBar0, 0, 4), Succeeds());
  client.close();
  Client third = session();
  EXPECT_THAT(third.read(kBar0, 0, 4), Succeeds());
}

TEST_F(SessionTest, FunctionsAreServedSideBySide) {
  ASSERT_THAT(server.listen(folder / "other", other), IsOk());
  auto second = Client::connect(folder / "other", [this] { server.serve(0); });
  ASSERT_TRUE(second && second->negotiate());
  client.write32(kBar0, 0, 1);
  second->write32(kBar0, 0, 2);
  EXPECT_EQ(client.read32(kBar0, 0), 1U);
  EXPECT_EQ(second->read32(kBar0, 0), 2U);
  second->close();
  settle();
  EXPECT_THAT(client.read(kBar0, 0, 4), Succeeds());
  EXPECT_EQ(other.take_calls().back(), "client gone");
}

class SlowReader : public SessionTest {
 protected:
  // Asks for `count` replies of 1 MiB and reads none of them.
  void ask(int count) {
    for (int i = 0; i < count; ++i) client.send(kRegionRead, access_payload(kBar2, 0, 1 << 20));
    settle();
  }
};

TEST_F(SlowReader, CostsOneReplyAndGetsAllInTheEnd) {
  ask(100);
  // One is on its way; the others have not been asked of the device, let alone kept.
  EXPECT_THAT(device.take_calls(), ElementsAre("read 2 0 100000"));
  EXPECT_FALSE(server.serve(0));  // waits for the client: does not spin
  for (int i = 0; i < 100; ++i) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply && reply->ok()) << i;
    ASSERT_EQ(reply->payload.size(), (1U << 20) + 16) << i;
  }
}

TEST_F(SlowReader, HoldsNobodyUp) {
  ASSERT_THAT(server.listen(folder / "other", other), IsOk());
  ask(10);
  auto second = Client::connect(folder / "other", [this] { server.serve(0); });
  ASSERT_TRUE(second && second->negotiate());
  for (int i = 0; i < 100; ++i) ASSERT_THAT(second->read(kBar0, 0, 4), Succeeds());
}

TEST_F(SlowReader, MayGoBeforeTheReplyHasLeft) {
  ask(10);
  client.close();
  Client next = session();
  EXPECT_THAT(next.read(kBar0, 0, 4), Succeeds());
}

TEST_F(SlowReader, ThatReadsNoMoreAtAllIsStillHeard) {
  ASSERT_EQ(::shutdown(client.socket(), SHUT_RD), 0);
  ask(3);
  client.send(kRegionWrite, access_payload(kBar0, 0, 4, Fields().u32(5)));
  settle();
  EXPECT_EQ(device.take_calls().back(), "write 0 0 4");
}

TEST_F(SessionTest, AHalfMessageHoldsNobodyUp) {
  ASSERT_THAT(server.listen(folder / "other", other), IsOk());
  client.send_raw(Blob(5));
  auto second = Client::connect(folder / "other", [this] { server.serve(0); });
  ASSERT_TRUE(second && second->negotiate());
  EXPECT_THAT(second->read(kBar0, 0, 4), Succeeds());
  EXPECT_FALSE(server.serve(0));
}

TEST_F(SessionTest, ABusyClientLeavesOthersTheirTurn) {
  ASSERT_THAT(server.listen(folder / "other", other), IsOk());
  auto second = Client::connect(folder / "other", [this] { server.serve(0); });
  ASSERT_TRUE(second && second->negotiate());
  for (int i = 0; i < 200; ++i) client.send(kReset, {}, {}, kWantsNoReply);
  second->send(kReset);
  server.serve(0);
  EXPECT_EQ(other.take_calls().back(), "reset");
  EXPECT_LT(device.calls.size(), 200U);
}

TEST_F(ServerTest, ASocketSomebodyListensOnIsNotTaken) {
  FakeDevice device2;
  Server second;
  EXPECT_THAT(second.listen(path, device2), FailsWith(ErrorCode::kBusy, path));
  EXPECT_THAT(server.listen(path, device2), FailsWith(ErrorCode::kBusy, path));
  settle();
  Client client = connect();
  EXPECT_TRUE(client.negotiate());
}

TEST_F(ServerTest, ADescriptorOfTheProgramEndsTheWaiting) {
  EventFd wake;
  server.wake_on(wake.fd());
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(wake.fd(), &one, sizeof one), 8);
  EXPECT_FALSE(server.serve(-1));
  EXPECT_EQ(wake.take(), 1U);  // left for the program
  EXPECT_FALSE(server.serve(0));
}

TEST_F(ServerTest, WaitsForAClientThatIsThereAlready) {
  auto client = Client::connect(path);
  ASSERT_TRUE(client);
  EXPECT_TRUE(server.serve(-1));
  client->send(kVersion, version_payload(0, 0, ""));
  EXPECT_TRUE(server.serve(-1));
  EXPECT_TRUE(server.has_client());
}

class ServerEnd : public testing::Test {
 protected:
  Client session() {
    EXPECT_THAT(server->listen(folder / "npu", device), IsOk());
    auto client = Client::connect(folder / "npu", [this] {
      if (server != nullptr) server->serve(0);
    });
    EXPECT_TRUE(client && client->negotiate());
    device.take_calls();
    return std::move(*client);
  }

  SocketFolder folder;
  FakeDevice device;
  std::unique_ptr<Server> server = std::make_unique<Server>();
};

TEST_F(ServerEnd, TakesEverythingBackFromItsClients) {
  const SharedMemory memory(kPage);
  Client client = session();
  client.map(0, kPage, memory.fd());
  device.take_calls();
  server.reset();
  EXPECT_THAT(device.take_calls(), ElementsAre("unmap 0 1000", "client gone"));
}

TEST_F(ServerEnd, AnswersWhatItWasAskedAndThenCloses) {
  Client client = session();
  for (int i = 0; i < 100; ++i) client.send(kRegionRead, access_payload(kBar0, 0, 4));
  server.reset();
  for (int i = 0; i < 100; ++i) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply && reply->ok()) << i;
  }
  EXPECT_FALSE(client.receive());
  EXPECT_FALSE(client.send_raw(header(1, kReset, 16)));
}

TEST_F(ServerEnd, DoesNotWaitForAClientThatDoesNotRead) {
  Client client = session();
  for (int i = 0; i < 10; ++i) client.send(kRegionRead, access_payload(kBar2, 0, 1 << 20));
  server.reset();
  EXPECT_THAT(device.take_calls(), ElementsAre("read 2 0 100000", "client gone"));
}

TEST_F(ServerEnd, DoesNotWaitForTheRestOfAMessage) {
  Client client = session();
  client.send_raw(Blob(5));
  server.reset();
  EXPECT_THAT(device.take_calls(), ElementsAre("client gone"));
}

}  // namespace
}  // namespace npu::test::vfio_user
