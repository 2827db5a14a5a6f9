// SPDX-License-Identifier: Apache-2.0
// A rank's part of a collective operation, as its calls begin it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {

// kInvalidHandle.
Value<std::shared_ptr<ProgramCommunicator>> communicator_of(Caller& caller, std::uint64_t handle);

struct Part {
  std::shared_ptr<ProgramCommunicator> member;
  std::shared_ptr<ProgramStream> stream;
  driver::CollectiveCall call;

  driver::Communicator& communicator() const { return *member->domain->communicator; }
  unsigned rank() const { return member->rank; }
  unsigned ranks() const { return communicator().ranks(); }
};

// Of HcclDataType. kInvalidParameter.
Value<driver::CollectiveType> type_of_elements(std::uint64_t type);
// kInvalidHandle, kInvalidParameter; kStreamContext: the stream is of another device than the rank;
// kSuspended; kFeature: the stream is captured.
Value<Part> part_of(Caller& caller, const wire::CollectiveWork& work);
// `count` elements from there on, if they are memory of the program on the rank's card; none: any
// address will do. kInvalidParameter, kRuntimeParameter; kFeature: managed memory.
Value<driver::DeviceAddress> memory_of(Caller& caller, const Part& part, std::uint64_t address,
                                       std::uint64_t count);
// A line of the program's for who reads along.
void tell_of(Caller& caller, const std::string& line);
// How the driver's answer is told.
Outcome told_of(Caller& caller, const Part& part, const Result<driver::StreamMark>& begun);

// An operation of all ranks: what they say alike is looked at, then begin(): the driver's.
template <class Begin>
Outcome begin_operation(Caller& caller, const Part& part, const CollectiveSignature& operation,
                        const Begin& begin, const CollectiveExchange& exchange = {}) {
  const auto domain = part.member->domain;
  if (auto same = domain->begin(part.rank(), operation, exchange); !same) {
    if (!std::exchange(part.member->warned, true)) tell_of(caller, same.error().text);
    return same;
  }
  auto done = told_of(caller, part, begin());
  if (!done) domain->take_back(part.rank());
  return done;
}

}  // namespace npu::exec::acl
