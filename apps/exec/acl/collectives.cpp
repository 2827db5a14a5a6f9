// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/collectives.hpp"

#include <fmt/format.h>

#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {

Value<driver::CollectiveType> type_of_elements(std::uint64_t type) {
  using Type = driver::CollectiveType;
  constexpr Type kTypes[] = {Type::kInt8,   Type::kInt16,  Type::kInt32,  Type::kFp16,
                             Type::kFp32,   Type::kInt64,  Type::kUint64, Type::kUint8,
                             Type::kUint16, Type::kUint32, Type::kFp64,   Type::kBf16};
  if (type >= std::size(kTypes)) return fault(kInvalidParameter, "no such type of elements");
  return kTypes[type];
}

Value<Part> part_of(Caller& caller, const wire::CollectiveWork& work) {
  const auto member = communicator_of(caller, work.communicator);
  if (!member) return forward_fault(member);
  if ((*member)->suspended) return fault(kSuspended, "the communicator is suspended");
  const auto stream = caller.stream(work.stream);
  if (!stream) return forward_fault(stream);
  if ((*stream)->device != (*member)->device) {
    return fault(kStreamContext, "the stream is of another device than the rank");
  }
  if (auto plain = may_not_be_captured(**stream, "collectives"); !plain) {
    return forward_fault(plain);
  }
  const auto type = type_of_elements(work.type);
  if (!type) return forward_fault(type);
  if (work.count > wire::kMostElements) return fault(kInvalidParameter, "too many elements");
  Part part{*member, *stream, {}};
  part.call.stream = (*stream)->stream.get();
  part.call.type = *type;
  return part;
}

Value<driver::DeviceAddress> memory_of(Caller& caller, const Part& part, std::uint64_t address,
                                       std::uint64_t count) {
  const driver::DeviceAddress at{address};
  if (count == 0) return at;
  if (count > wire::kMostElements * wire::kMostRanks) {
    return fault(kInvalidParameter, "too many elements");
  }
  const Bytes size = count * abi::element_size(part.call.type);
  if (caller.process().managed().has(at, size)) {
    return fault(kFeature, "collectives of managed memory are not supported");
  }
  const auto card = caller.card_of(at, size);
  if (!card) return forward_fault(card);
  if ((*card)->index() == part.member->device) return at;
  return fault(kRuntimeParameter,
               fmt::format("{:#x} is memory of another device than the rank's", address));
}

void tell_of(Caller& caller, const std::string& line) {
  auto& process = caller.process();
  const auto& tell = process.machine().cards.settings().tell;
  if (tell) tell(fmt::format("p{}: {}", process.number() - 1, line));
}

Outcome told_of(Caller& caller, const Part& part, const Result<driver::StreamMark>& begun) {
  if (begun) {
    part.member->last = *begun;
    return {};
  }
  const auto& error = begun.error();
  switch (error.code) {
    case ErrorCode::kDeviceFault: {
      part.member->failed = true;
      const auto why = failure_of(caller.process(), *part.member);
      return fault(kRemote, why.empty() ? error.message() : why);
    }
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kMisaligned:
      return fault(kInvalidParameter, error.message());
    default:
      return submission_fault(error);
  }
}

}  // namespace npu::exec::acl
