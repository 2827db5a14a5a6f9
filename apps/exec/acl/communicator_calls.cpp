// SPDX-License-Identifier: Apache-2.0
// Communicators: made when all their ranks have come, asked, suspended, ended.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "apps/exec/acl/collectives.hpp"
#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

// Instants end: what waits for longer waits for ever.
constexpr std::uint64_t kLongestWait = 4'000'000;
constexpr unsigned kAlgorithmBits = 4;

Picoseconds wait_of(std::uint64_t seconds) {
  const auto most = seconds == 0 ? kLongestWait : std::min(seconds, kLongestWait);
  return 1'000_ms * static_cast<std::int64_t>(most);
}

// Operations by vector cores, as the program or the kind of the card asks for them.
Outcome put_vector_cores(Caller& caller, wire::Expansion expansion, std::uint32_t device,
                         driver::VectorCollectives* vector) {
  if (expansion > wire::Expansion::kVectorCores) return fault(kInvalidParameter, "no such mode");
  auto& machine = caller.process().machine();
  const bool a3 = machine.cards.soc_name(device) == "Ascend910C";
  const bool asked = expansion == wire::Expansion::kVectorCores;
  if (expansion == wire::Expansion::kEngines || (!asked && !a3)) return {};
  const auto kernel = machine.images("vector_collective");
  if (!kernel) return fault(kernel.error());
  vector->kernel = *kernel;
  vector->largest = a3 ? driver::vector_sizes_of_a3() : driver::every_vector_size();
  return {};
}

Value<driver::CommunicatorOptions> options_of(Caller& caller, const wire::CommunicatorJoin& join,
                                              std::uint32_t device) {
  driver::CommunicatorOptions options;
  if (auto put = put_vector_cores(caller, join.expansion, device, &options.vector); !put) {
    return forward_fault(put);
  }
  options.buffer = join.buffer_bytes;
  options.timeout = wait_of(join.exec_seconds);
  using Operation = driver::CollectiveOperation;
  constexpr Operation kOperations[] = {Operation::kAllReduce,     Operation::kAllGather,
                                       Operation::kReduceScatter, Operation::kBroadcast,
                                       Operation::kReduce,        Operation::kAllToAll,
                                       Operation::kScatter,       Operation::kExchange};
  for (std::size_t i = 0; i < std::size(kOperations); ++i) {
    const auto number = join.algorithms >> (i * kAlgorithmBits) & ((1U << kAlgorithmBits) - 1);
    const auto algorithm = static_cast<driver::CollectiveAlgorithm>(number);
    // Programs ask for vector cores by the expansion.
    if (number >= driver::kCollectiveAlgorithms || algorithm == driver::CollectiveAlgorithm::kAiv) {
      return fault(kInvalidParameter, "no such algorithm");
    }
    // A choice for all operations is one for those that can be done so.
    if (driver::has_algorithm(kOperations[i], algorithm)) {
      options.algorithms[static_cast<std::size_t>(kOperations[i])] = algorithm;
    }
  }
  return options;
}

Value<Joining> joining_of(Caller& caller, const CallOf<Call::kCommunicatorJoin>& call) {
  if (call.members == 0 || call.members > call.ranks || call.ranks > wire::kMostRanks ||
      call.key_bytes > wire::kLongestDomain || call.name_bytes > wire::kLongestCommunicator) {
    return fault(kInvalidParameter, "no ranks, more than there are, or a name that is too long");
  }
  const Bytes members = call.members * sizeof(wire::JoiningRank);
  const auto given = call.first(members + call.key_bytes + call.name_bytes);
  if (!given) return forward_fault(given);
  Joining joining;
  const auto* const text = reinterpret_cast<const char*>(given->data) + members;
  joining.key.assign(text, call.key_bytes);
  joining.name.assign(text + call.key_bytes, call.name_bytes);
  joining.ranks = static_cast<unsigned>(call.ranks);
  joining.deadline = caller.clock().now() + wait_of(call.connect_seconds);
  for (Bytes i = 0; i < call.members; ++i) {
    wire::JoiningRank one;
    std::memcpy(&one, given->data + i * sizeof one, sizeof one);
    if (one.rank >= call.ranks) return fault(kInvalidParameter, "no such rank");
    if (one.device < 0 || one.device >= caller.process().machine().cards.count()) {
      return fault(kInvalidDevice, "no such device");
    }
    joining.members.push_back(
        {static_cast<unsigned>(one.rank), static_cast<std::uint32_t>(one.device)});
  }
  const auto options = options_of(caller, call, joining.members.front().device);
  if (!options) return forward_fault(options);
  joining.options = *options;
  return joining;
}

}  // namespace

Value<std::shared_ptr<ProgramCommunicator>> communicator_of(Caller& caller, std::uint64_t handle) {
  const auto found = caller.process().communicators.find(handle);
  if (found == nullptr || found->ended) return fault(kInvalidHandle, "it is no communicator");
  return found;
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kCommunicatorRoot>&) {
  return wire::Number{caller.process().machine().meeting().new_root()};
}

Outcome serve(Caller& caller, const CallOf<Call::kCommunicatorJoin>& call) {
  const auto joining = joining_of(caller, call);
  if (!joining) return forward_fault(joining);
  auto& process = caller.process();
  const auto domain = process.machine().meeting().join(process, *joining);
  if (!domain) return forward_fault(domain);
  std::vector<std::uint64_t> handles;
  for (const auto& member : joining->members) {
    handles.push_back(process.communicators.add(std::make_shared<ProgramCommunicator>(
        ProgramCommunicator{*domain, member.rank, member.device})));
  }
  call.give(handles.data(), handles.size() * sizeof(std::uint64_t));
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kCommunicatorEnd>& call) {
  const auto found = caller.process().communicators.find(call.handle);
  if (found == nullptr) return fault(kInvalidHandle, "it is no communicator");
  caller.process().communicators.remove(call.handle);
  end_communicator(caller.process(), *found, false);
  return {};
}

Value<wire::CommunicatorInfo> serve(Caller& caller, const CallOf<Call::kCommunicatorInfo>& call) {
  const auto found = communicator_of(caller, call.handle);
  if (!found) return forward_fault(found);
  const auto& domain = *(*found)->domain;
  call.give(domain.name.data(), domain.name.size());
  return wire::CommunicatorInfo{(*found)->rank, domain.places.size(), (*found)->suspended ? 1U : 0U,
                                domain.name.size()};
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kCommunicatorFind>& call) {
  const auto name = call.first(std::min(call.bytes, wire::kLongestCommunicator));
  if (!name) return forward_fault(name);
  const std::string wanted(reinterpret_cast<const char*>(name->data), name->size);
  const auto card = caller.card();
  for (const auto& [handle, communicator] : caller.process().communicators.all()) {
    // A program with several ranks means the one of the thread's device.
    const bool here = !card || (*card)->index() == communicator->device;
    if (here && !communicator->ended && communicator->domain->name == wanted)
      return wire::Handle{handle};
  }
  return fault(kRuntimeParameter, "no communicator has the name " + wanted);
}

Outcome serve(Caller& caller, const CallOf<Call::kCommunicatorSwitch>& call) {
  const auto found = communicator_of(caller, call.communicator);
  if (!found) return forward_fault(found);
  if (call.suspended == 0 && !failure_of(caller.process(), **found).empty()) {
    return fault(kFeature, "a communicator whose operations have failed is made anew");
  }
  (*found)->suspended = call.suspended != 0;
  return {};
}

Value<wire::CommunicatorFailure> serve(Caller& caller,
                                       const CallOf<Call::kCommunicatorFailure>& call) {
  const auto found = communicator_of(caller, call.handle);
  if (!found) return forward_fault(found);
  const auto text = failure_of(caller.process(), **found);
  const auto size = std::min<Bytes>(text.size(), 4096);
  call.give(text.data(), size);
  return wire::CommunicatorFailure{size};
}

}  // namespace npu::exec::acl
