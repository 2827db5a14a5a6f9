// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/process_commands.hpp"

#include <fmt/format.h>

#include <utility>

namespace npu::driver {
namespace {

constexpr std::string_view to_string(abi::ManagementStatus status) {
  switch (status) {
    case abi::ManagementStatus::kSuccess:
      return "success";
    case abi::ManagementStatus::kInvalidCommand:
      return "invalid command";
    case abi::ManagementStatus::kInvalidProcess:
      return "invalid process";
    case abi::ManagementStatus::kInvalidPage:
      return "invalid doorbell page";
    case abi::ManagementStatus::kInvalidQueue:
      return "invalid queue";
    case abi::ManagementStatus::kInvalidDescriptor:
      return "invalid descriptor";
    case abi::ManagementStatus::kDoorbellInUse:
      return "doorbell in use";
    case abi::ManagementStatus::kProcessBusy:
      return "the process has queues";
    case abi::ManagementStatus::kNotDrained:
      return "what runs has not ended";
  }
  return "unknown status";
}

// Executed twice they do what they do once.
bool is_repeatable(std::uint8_t opcode) {
  const auto code = static_cast<abi::ManagementOpcode>(opcode);
  return code == abi::ManagementOpcode::kSuspend || code == abi::ManagementOpcode::kResume ||
         code == abi::ManagementOpcode::kQueryQueue;
}

}  // namespace

abi::ManagementCommand ProcessCommands::on_queue(abi::ManagementOpcode opcode,
                                                 const QueueRecord& record,
                                                 abi::PreemptMode mode) const {
  abi::ManagementCommand command;
  command.opcode = static_cast<std::uint8_t>(opcode);
  command.queue = record.id.value();
  command.pasid = pasid_.value();
  command.mode = static_cast<std::uint8_t>(mode);
  command.scope = static_cast<std::uint8_t>(abi::ManagementScope::kQueue);
  return command;
}

Result<ManagementAnswer> ProcessCommands::accepted(Result<ManagementAnswer> answer,
                                                   std::uint8_t opcode) {
  if (!answer || answer->status == abi::ManagementStatus::kSuccess) return answer;
  const bool late = answer->status == abi::ManagementStatus::kNotDrained;
  return fail(late ? ErrorCode::kTimeout : ErrorCode::kBadDevice,
              fmt::format("the card has refused to {}: {}",
                          abi::to_string(static_cast<abi::ManagementOpcode>(opcode)),
                          to_string(answer->status)));
}

Result<ManagementAnswer> ProcessCommands::execute(const abi::ManagementCommand& command,
                                                  Instant deadline, DeadlineOf whose) {
  return std::move(execute(std::vector<abi::ManagementCommand>{command}, deadline, whose).front());
}

// Ids are the card's: it may be one of another process.
tl::unexpected<Error> ProcessCommands::no_queue(QueueId id) const {
  return fail(ErrorCode::kNotFound, fmt::format("queue {} is no queue of the process with PASID {}",
                                                id.value, pasid_.value()));
}

tl::unexpected<Error> ProcessCommands::others_too_long() const {
  return fail(ErrorCode::kTimeout,
              fmt::format("waited for other calls of the process with PASID {}", pasid_.value()));
}

std::vector<Result<ManagementAnswer>> ProcessCommands::execute(
    const std::vector<abi::ManagementCommand>& commands, Instant deadline, DeadlineOf whose) {
  auto answers = ring_.execute(commands, deadline, whose);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    auto& answer = answers[i];
    if (!answer && answer.error().code == ErrorCode::kAborted &&
        is_repeatable(commands[i].opcode)) {
      answer = ring_.execute(commands[i], deadline, whose);
    }
    // Others' commands have had their turn; what runs may have ended.
    while (answer && answer->status == abi::ManagementStatus::kNotDrained &&
           clock_.now() < deadline) {
      answer = ring_.execute(commands[i], deadline, whose);
    }
    answer = accepted(std::move(answer), commands[i].opcode);
  }
  return answers;
}

}  // namespace npu::driver
