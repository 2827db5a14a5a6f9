// SPDX-License-Identifier: Apache-2.0
// The check behind the fault steps: what is not the fault expected does not pass.
#include <gmock/gmock.h>

#include "tests/support/matchers.hpp"
#include "tests/system/support/machine.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/expected_fault.hpp"

namespace npu::test {
namespace {

using abi::FaultCode;
using driver::DmaCommand;
using testing::HasSubstr;

using workloads::TriedCard;

// `body` gets a card, a command that it refuses, and one that it executes.
template <class Body>
void with_commands(Body body) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    const workloads::ParameterSet parameters(workloads::address_faults().parameters);
    workloads::Report report;
    workloads::Context context{host, parameters, 1, report, machine.view, machine.view, {}};
    auto card = must(TriedCard::open(context));
    const auto memory = must(card.device->allocate(4_KiB));
    const auto buffer = must(card.device->allocate_host(4_KiB));
    const auto bad = DmaCommand::device_to_host(memory.address, {0x1000}, 64);
    const auto good = DmaCommand::device_to_host(memory.address, buffer->bus(), 64);
    body(card, bad, good);
  });
}

TEST(FaultCheck, TheFaultExpectedPasses) {
  with_commands([](TriedCard& card, const DmaCommand& bad, const DmaCommand&) {
    EXPECT_THAT(expect_fault(card, {bad, FaultCode::kHostAddress, 0x1000}), IsOk());
  });
}

TEST(FaultCheck, ACommandThatIsExecutedDoesNot) {
  with_commands([](TriedCard& card, const DmaCommand&, const DmaCommand& good) {
    EXPECT_THAT(expect_fault(card, {good, FaultCode::kHostAddress, 0x1000}),
                FailsWith(ErrorCode::kBadDevice, "not refused"));
  });
}

TEST(FaultCheck, AnotherCodeDoesNot) {
  with_commands([](TriedCard& card, const DmaCommand& bad, const DmaCommand&) {
    EXPECT_THAT(expect_fault(card, {bad, FaultCode::kHostPermission, 0x1000}),
                FailsWith(ErrorCode::kBadDevice, "not host address not mapped for this direction"));
  });
}

TEST(FaultCheck, AnotherAddressDoesNot) {
  with_commands([](TriedCard& card, const DmaCommand& bad, const DmaCommand&) {
    EXPECT_THAT(expect_fault(card, {bad, FaultCode::kHostAddress, 0x1040}),
                FailsWith(ErrorCode::kBadDevice, "not address 0x1040"));
  });
}

TEST(FaultCheck, AnEarlierFaultIsNotTakenForIt) {
  with_commands([](TriedCard& card, const DmaCommand& bad, const DmaCommand&) {
    const auto earlier = DmaCommand::device_to_host({bad.source()}, {0x2000}, 64);
    EXPECT_FALSE(card.copy(earlier));
    EXPECT_THAT(expect_fault(card, {bad, FaultCode::kHostAddress, 0x1000}),
                FailsWith(ErrorCode::kBadDevice, "not address 0x1000"));
  });
}

}  // namespace
}  // namespace npu::test
