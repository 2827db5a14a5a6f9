// SPDX-License-Identifier: Apache-2.0
// Compute queues: a submission is a store, a doorbell and a poll, and a process reaches its own
// host memory only.
#include <gtest/gtest.h>

#include "tests/contract/contract_case.hpp"
#include "tests/support/raw_queues.hpp"

namespace npu::test {
namespace {

constexpr char kNoPasids[] = "this platform does not tell processes apart";

void a_submission_is_a_store_a_doorbell_and_a_poll(ContractEnvironment& environment) {
  RawQueues queues(environment.platform(), *environment.card());
  const auto memory = queues.process_memory(RawQueues::kShare);
  if (memory == nullptr) GTEST_SKIP() << kNoPasids;
  queues.add(3, *memory);
  for (std::uint64_t i = 0; i < 600; ++i) {  // more than two passes
    queues.push(*memory, i, RawQueues::nop(7));
    queues.ring(3, i + 1);
    ASSERT_EQ(queues.wait(*memory, i), std::uint16_t{0}) << i;
  }
  EXPECT_EQ(queues.page->read64(8 * 3), 0U) << "a doorbell is write only";
}

// Host memory that is not bound to the process' PASID.
void foreign_host_memory_is_out_of_a_process_reach(ContractEnvironment& environment) {
  RawQueues queues(environment.platform(), *environment.card());
  const auto memory = queues.process_memory(RawQueues::kShare);
  if (memory == nullptr) GTEST_SKIP() << kNoPasids;
  const auto foreign = queues.foreign_memory(4096);
  foreign->store<std::uint64_t>(0, 0x55);
  queues.add(0, *memory);
  auto entry = RawQueues::nop(1);
  entry.opcode = static_cast<std::uint8_t>(abi::QueueOpcode::kTimestamp);
  entry.flags = abi::kEntryCompletion | abi::kEntryHostAddress;
  entry.set(abi::TimestampPayload{foreign->bus().value});
  queues.push(*memory, 0, entry);
  queues.ring(0, 1);
  EXPECT_EQ(queues.wait(*memory, 0), static_cast<std::uint16_t>(abi::FaultCode::kHostAddress));
  EXPECT_EQ(foreign->load<std::uint64_t>(0), 0x55U);
  abi::QueueFaultRecord fault;
  std::memcpy(&fault, queues.log->cpu().data, sizeof fault);
  EXPECT_EQ(fault.pasid, RawQueues::kPasid);
  EXPECT_EQ(fault.address, foreign->bus().value);
}

}  // namespace

ContractCases queue_cases() {
  return {
      {"a_submission_is_a_store_a_doorbell_and_a_poll", true,
       a_submission_is_a_store_a_doorbell_and_a_poll},
      {"foreign_host_memory_is_out_of_a_process_reach", true,
       foreign_host_memory_is_out_of_a_process_reach},
  };
}

}  // namespace npu::test
