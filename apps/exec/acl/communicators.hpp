// SPDX-License-Identifier: Apache-2.0
// Communicators of programs. Ranks come one by one, of one program or of several: those that give
// the same key meet. The driver makes the communicator when the last one has come.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/compat/protocol/calls.hpp"
#include "apps/exec/acl/outcome.hpp"
#include "npu/driver/collectives.hpp"
#include "npu/platform/platform.hpp"

namespace npu::exec::acl {

class Process;

struct CommunicatorMember {
  unsigned rank = 0;
  std::uint32_t device = 0;  // which the program has set
};

struct Joining {
  std::string key, name;
  unsigned ranks = 0;
  driver::CommunicatorOptions options;
  Instant deadline;  // for the last rank
  std::vector<CommunicatorMember> members;
};

// What all ranks say alike when they begin an operation.
struct CollectiveSignature {
  compat::Call call = compat::Call::kBarrier;
  std::uint64_t count = 0, type = 0, reduction = 0, root = 0;
  std::vector<std::uint64_t> counts = {};  // by rank, where each has its own

  bool operator==(const CollectiveSignature& other) const {
    return call == other.call && count == other.count && type == other.type &&
           reduction == other.reduction && root == other.root && counts == other.counts;
  }
};

// Elements for each rank and from each rank, where each pair has its own.
struct CollectiveExchange {
  std::vector<std::uint64_t> sends, receives;
};

// What ranks have in common.
struct Domain {
  enum class State : std::uint8_t { kGathering, kMaking, kReady, kFailed };
  struct Place {
    Process* process = nullptr;  // null: it has not come
    std::uint32_t device = 0;
    std::uint64_t begun = 0;  // operations
  };

  std::string name;
  driver::CommunicatorOptions options;
  std::vector<Place> places;  // by rank
  State state = State::kGathering;
  Fault why;  // of kFailed
  std::unique_ptr<driver::Communicator> communicator;

  bool parted = false;  // a rank has left whose operations had not failed

  unsigned come() const;
  // The rank begins its next operation. `exchange`: empty, or an item for each rank.
  // kInvalidParameter: it is not the one that others have begun.
  Outcome begin(unsigned rank, const CollectiveSignature& operation,
                const CollectiveExchange& exchange);
  // What it has begun was refused.
  void take_back(unsigned rank);

 private:
  struct Operation {
    CollectiveSignature signature;
    std::map<unsigned, CollectiveExchange> exchanges = {};  // of ranks that have begun it
  };

  std::deque<Operation> operations_;  // that not all ranks have begun
  std::uint64_t first_ = 0;           // the number of the first one
};

// A rank as its program knows it by a handle.
struct ProgramCommunicator {
  std::shared_ptr<Domain> domain;
  unsigned rank = 0;
  std::uint32_t device = 0;
  bool suspended = false;
  bool ended = false;            // with its device: it is only there to be destroyed
  bool told = false;             // its failure, to who reads along
  bool warned = false;           // the same of an operation that others do not begin
  bool failed = false;           // its own operations
  driver::StreamMark last = {};  // operation
};

class Communicators {
 public:
  explicit Communicators(platform::Tasks& tasks)
      : lock_(tasks.make_mutex()), changed_(tasks.make_condition()) {}

  // Number of a root info that nobody else has.
  std::uint64_t new_root() { return ++roots_; }
  // Waits until all ranks have come and the driver has made the communicator.
  // kInvalidParameter: another number of ranks than the others say, a rank that has come already or
  // is none; kInvalidDevice: it is not set; kWaitTimeout: not all at the deadline, or the program
  // has ended; also what the driver says.
  Value<std::shared_ptr<Domain>> join(Process& process, const Joining& joining);
  // Programs that have ended wait no more.
  void tell();

 private:
  using Gathering = std::map<std::string, std::shared_ptr<Domain>>;
  void wait(Process& process, const Domain& domain, Instant deadline);
  Fault late(const Domain& domain) const;
  void leave(const std::string& key, Domain& domain, const Joining& joining);

  std::unique_ptr<platform::Mutex> lock_;
  std::unique_ptr<platform::Condition> changed_;
  Gathering gathering_;  // by key
  std::uint64_t roots_ = 0;
};

// Why the rank's operations have failed; empty: they have not. Who reads along is told once.
std::string failure_of(Process& process, ProgramCommunicator& communicator);
// The same of all communicators on the device.
std::string failures_on(Process& process, std::uint32_t device);
// The program's communicators on the device end. `force`: work that has not ended is given up.
void end_communicators(Process& process, std::uint32_t device, bool force);
void end_communicator(Process& process, ProgramCommunicator& communicator, bool force);

}  // namespace npu::exec::acl
