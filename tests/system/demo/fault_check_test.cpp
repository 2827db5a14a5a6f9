// SPDX-License-Identifier: Apache-2.0
// The check behind the fault steps: what is not the fault expected does not pass.
#include <gmock/gmock.h>

#include "apps/demo/faults.hpp"
#include "apps/demo/memory.hpp"
#include "tests/support/matchers.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using abi::FaultCode;
using driver::DmaCommand;
using testing::HasSubstr;

// `body` gets a session on a card, a command that the card refuses, and one that it executes.
template <class Body>
void with_commands(Body body) {
  Machine().run([&](platform::Platform& host) {
    demo::Session session(host, {});
    const Status opened = session.open();
    ASSERT_TRUE(opened) << opened.error().message();
    const auto memory = must(session.device().allocate(4_KiB));
    const auto buffer = must(session.device().allocate_host(4_KiB));
    const auto bad = DmaCommand::device_to_host(memory.address, {0x1000}, 64);
    const auto good = DmaCommand::device_to_host(memory.address, buffer->bus(), 64);
    body(session, bad, good);
  });
}

TEST(FaultCheck, TheFaultExpectedPasses) {
  with_commands([](demo::Session& session, const DmaCommand& bad, const DmaCommand&) {
    EXPECT_THAT(demo::expect_fault(session, bad, {FaultCode::kHostAddress, 0x1000}), IsOk());
  });
}

TEST(FaultCheck, ACommandThatIsExecutedDoesNot) {
  with_commands([](demo::Session& session, const DmaCommand&, const DmaCommand& good) {
    EXPECT_THAT(demo::expect_fault(session, good, {FaultCode::kHostAddress, 0x1000}),
                FailsWith(ErrorCode::kBadDevice, "not refused"));
  });
}

TEST(FaultCheck, AnotherCodeDoesNot) {
  with_commands([](demo::Session& session, const DmaCommand& bad, const DmaCommand&) {
    EXPECT_THAT(demo::expect_fault(session, bad, {FaultCode::kHostPermission, 0x1000}),
                FailsWith(ErrorCode::kBadDevice, "not host address not mapped for this direction"));
  });
}

TEST(FaultCheck, AnotherAddressDoesNot) {
  with_commands([](demo::Session& session, const DmaCommand& bad, const DmaCommand&) {
    EXPECT_THAT(demo::expect_fault(session, bad, {FaultCode::kHostAddress, 0x1040}),
                FailsWith(ErrorCode::kBadDevice, "not address 0x1040"));
  });
}

TEST(FaultCheck, AnEarlierFaultIsNotTakenForIt) {
  with_commands([](demo::Session& session, const DmaCommand& bad, const DmaCommand&) {
    const auto earlier = DmaCommand::device_to_host({bad.source()}, {0x2000}, 64);
    EXPECT_FALSE(session.copy(earlier));
    EXPECT_THAT(demo::expect_fault(session, bad, {FaultCode::kHostAddress, 0x1000}),
                FailsWith(ErrorCode::kBadDevice, "not address 0x1000"));
  });
}

TEST(FaultCheck, MemoryThatIsGivenIsNotRefused) {
  with_commands([](demo::Session& session, const DmaCommand&, const DmaCommand&) {
    demo::HeldMemory held(session.device());
    EXPECT_THAT(demo::expect_refused(held, 1), FailsWith(ErrorCode::kBadDevice, "were given"));
  });
}

}  // namespace
}  // namespace npu::test
