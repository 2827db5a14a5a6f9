// SPDX-License-Identifier: Apache-2.0
// The management socket with clients that misbehave: the server goes on, and answers the next one.
#include <random>

#include "apps/dsmi/client/protocol.hpp"
#include "dsmi/dsmi_error_code.h"
#include "npu/abi/registers.hpp"
#include "tests/system/cli/served_socket.hpp"

namespace npu::cli {
namespace {

using dsmi::Answer;
using dsmi::AnswerMessage;
using dsmi::Request;
using dsmi::RequestMessage;

class ManagementSocket : public ServedSocket {
 protected:
  ManagementSocket() : ServedSocket("--management", 10) {}
  static AnswerMessage ask(int file, const RequestMessage& request) {
    AnswerMessage answer{Answer::kRefused, 0, 0xBAD};
    EXPECT_EQ(::send(file, &request, sizeof request, MSG_NOSIGNAL), ssize_t{sizeof request});
    EXPECT_EQ(::recv(file, &answer, sizeof answer, MSG_WAITALL), ssize_t{sizeof answer});
    return answer;
  }
  void expect_alive() const {
    const int file = connect();
    EXPECT_EQ(ask(file, {Request::kHello, 0, 0, dsmi::kProtocolVersion}).value, 1U);
    ::close(file);
  }
};

TEST_F(ManagementSocket, AnswersWithRegistersOfTheCard) {
  const int file = connect();
  const auto answer = ask(file, {Request::kRead4, 0, abi::ChipId::kOffset, 0});
  EXPECT_EQ(answer.answer, Answer::kDone);
  EXPECT_EQ(answer.value, 0xD802'19E5U);
  ::close(file);
}

TEST_F(ManagementSocket, RefusesWhatIsBeyondOrNotAClientsToChange) {
  const int file = connect();
  const std::vector<RequestMessage> requests{
      {Request::kHello, 0, 0, 99},
      {Request::kRead4, 1, 0, 0},
      {Request::kRead4, 0, 2, 0},
      {Request::kRead8, 0, 0x6000 - 4, 0},
      {Request::kRead8, 0, ~std::uint64_t{0} - 7, 0},
      {Request::kWrite4, 0, abi::DmaDoorbell::kOffset, 1},
      {Request::kWrite8, 0, abi::MmuContextBase::kOffset, 1},
      {Request::kReadConfig, 0, 4096, 0},
      {Request::kReadMemory, 0, ~std::uint64_t{0} - 7, 0},
      {Request::kReadPartition, 0, 12, 0},
      {Request::kReadPartition, 0, dsmi::kTotals, 99},
      {Request::kReadPartition, 0, 0, static_cast<std::uint64_t>(dsmi::PartitionField::kFields)},
      {static_cast<Request>(77), 0, 0, 0},
  };
  for (const auto& request : requests) {
    EXPECT_EQ(ask(file, request).answer, Answer::kRefused)
        << static_cast<int>(request.request) << " " << request.offset;
  }
  ::close(file);
}

TEST_F(ManagementSocket, MakesNothingOfWhatIsNoTemplateOrFunction) {
  const int file = connect();
  const std::vector<std::pair<RequestMessage, unsigned>> requests{
      {{Request::kCreate, 0, 0, 0}, DSMI_ERROR_PARAMETER},  // no kTemplate came before
      {{Request::kDestroy, 0, 0, 0}, DSMI_ERROR_NOT_EXIST},
      {{Request::kDestroy, 0, 0, 1000}, DSMI_ERROR_NOT_EXIST},
      {{Request::kTemplate, 0, ~std::uint64_t{0}, ~std::uint64_t{0}}, 0},
      {{Request::kCreate, 0, 0, 1000}, DSMI_ERROR_PARAMETER},
      {{Request::kCreate, 0, 0, dsmi::kAnyFunction}, DSMI_ERROR_NOT_EXIST},
  };
  for (const auto& [request, code] : requests) {
    const auto answer = ask(file, request);
    EXPECT_EQ(answer.answer, Answer::kDone);
    EXPECT_EQ(answer.value & 0xFFFF'FFFF, code) << static_cast<int>(request.request);
  }
  ::close(file);
  expect_alive();
}

TEST_F(ManagementSocket, OutlivesClientsThatLeaveInTheMiddle) {
  for (std::size_t some = 1; some <= 20; ++some) {
    const int file = connect();
    const RequestMessage request{Request::kRead4, 0, 0, 0};
    ::send(file, &request, some, MSG_NOSIGNAL);
    ::close(file);
  }
  expect_alive();
}

TEST_F(ManagementSocket, OutlivesBytesAtRandomAndAnswersThatNobodyTakes) {
  std::mt19937 random(7);
  for (int i = 0; i < 8; ++i) {
    const int file = connect();
    std::vector<unsigned char> bytes(24 * 400);
    for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
    ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (i % 2 == 0) ::close(file);  // the others keep their end open and read nothing
  }
  expect_alive();
}

TEST_F(ManagementSocket, ServesTenAtOnce) {
  std::vector<int> files(10);
  for (int& file : files) file = connect();
  for (int round = 0; round < 50; ++round) {
    for (const int file : files) {
      EXPECT_EQ(ask(file, {Request::kRead8, 0, abi::HbmSize::kOffset, 0}).value,
                64'225'280ULL << 10);
    }
  }
  for (const int file : files) ::close(file);
}

}  // namespace
}  // namespace npu::cli
