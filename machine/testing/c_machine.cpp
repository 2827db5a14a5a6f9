// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "machine/testing/c_platform.hpp"
#include "npu/testing/machine.hpp"
#include "npu/testing/npu_machine.h"

using npu::Instant;
using npu::Picoseconds;
using npu::testkit::AccessKind;
using npu::testkit::CPlatform;
using npu::testkit::FaultKind;
using npu::testkit::Machine;
using npu::testkit::When;

// NOLINTBEGIN(readability-identifier-naming): names of the C interface
struct npu_machine {
  explicit npu_machine(std::unique_ptr<Machine> built)
      : machine(std::move(built)), platform(machine->platform()) {}

  int failed(const npu::Error& error) {
    message = error.message();
    return CPlatform::status_of(error.code);
  }
  template <class Outcome>
  int status(const Outcome& outcome) {
    return outcome ? static_cast<int>(NPU_OK) : failed(outcome.error());
  }

  std::unique_ptr<Machine> machine;
  CPlatform platform;
  std::string message, leaks, races;
};

struct npu_accesses {
  npu::testkit::Accesses made;
  std::string text;
};
// NOLINTEND(readability-identifier-naming)

namespace {

static_assert(NPU_INTERRUPT == static_cast<int>(AccessKind::kInterrupt));
static_assert(NPU_HUNG_CORE == static_cast<int>(FaultKind::kHungCore));
static_assert(NPU_SLOW_CHANNEL == static_cast<int>(FaultKind::kSlowChannel));
static_assert(NPU_MISDIRECTED_INTERRUPT == static_cast<int>(FaultKind::kMisdirectedInterrupt));
static_assert(NPU_LOST_COMMAND == static_cast<int>(FaultKind::kLostCommand));
static_assert(NPU_HUNG_AICPU == static_cast<int>(FaultKind::kHungAicpu));
static_assert(NPU_HUNG_CONTROL_PROCESSOR == static_cast<int>(FaultKind::kHungControlProcessor));
static_assert(NPU_PEER_LINK_DOWN == static_cast<int>(FaultKind::kPeerLinkDown));
static_assert(NPU_AT_ACCESS == static_cast<int>(When::Kind::kAccess));
static_assert(NPU_ANY == npu::testkit::kAnyVector && NPU_ANY == npu::testkit::kNoVirtualFunction);

[[noreturn]] void stuck(const npu::Error& error) {
  std::fprintf(stderr, "the test waits for ever: %s\n", error.message().c_str());
  std::fflush(nullptr);
  std::quick_exit(1);
}

// False: the kind has no such detail.
bool set_detail(npu::testkit::Fault& fault, unsigned detail) {
  using npu::testkit::CompletionStatus, npu::testkit::LinkErrorType, npu::testkit::TlpError;
  switch (fault.kind) {
    case FaultKind::kRefusedCompletion:
      fault.status = static_cast<CompletionStatus>(detail);
      return detail <= static_cast<unsigned>(CompletionStatus::kCompleterAbort);
    case FaultKind::kDroppedTlp:
      fault.error = static_cast<TlpError>(detail);
      return detail <= static_cast<unsigned>(TlpError::kReceiverOverflow);
    case FaultKind::kLinkError:
      fault.type = static_cast<LinkErrorType>(detail);
      return detail <= static_cast<unsigned>(LinkErrorType::kTimeout);
    case FaultKind::kThermalThrottling:
      fault.clock_percent = detail;
      return true;
    case FaultKind::kSlowChannel:
      fault.refreshes = detail;
      return true;
    case FaultKind::kMisdirectedInterrupt:
      fault.to = detail;
      return true;
    default:
      return detail == 0;
  }
}

npu::testkit::Fault fault_of(const npu_fault& given) {
  npu::testkit::Fault fault;
  fault.kind = static_cast<FaultKind>(given.kind);
  fault.duration = Picoseconds(given.duration);
  fault.requester =
      given.of_host != 0 ? npu::testkit::Requester::kHost : npu::testkit::Requester::kCard;
  fault.card = given.card;
  fault.peer = given.peer;
  fault.vector = given.vector;
  fault.virtual_function = given.virtual_function;
  fault.address = given.address;
  fault.bits = given.bits;
  fault.generation = given.generation;
  fault.lanes = given.lanes;
  fault.unit = given.unit;
  return fault;
}

When when_of(const npu_when* given) {
  if (given == nullptr) return npu::testkit::at_once();
  When when;
  when.kind = static_cast<When::Kind>(given->kind);
  when.instant = Instant(Picoseconds(given->time));
  when.delay = Picoseconds(given->time);
  when.nth = given->nth;
  when.access = static_cast<AccessKind>(given->access);
  if (given->name != nullptr) when.name = given->name;
  return when;
}

}  // namespace

npu_machine* npu_machine_create(const char* config, const char* const* overrides, size_t count,
                                char* error, size_t size) {
  std::vector<std::string> keys;
  if (count > 0) keys.assign(overrides, overrides + count);
  auto built = Machine::create(config, keys, stuck);
  if (built) return new npu_machine(std::move(*built));
  if (error != nullptr && size > 0) {
    const auto& text = built.error().context;
    const size_t length = std::min(text.size(), size - 1);
    std::memcpy(error, text.data(), length);
    error[length] = 0;
  }
  return nullptr;
}

void npu_machine_destroy(npu_machine* machine) {
  delete machine;
}

npu_platform* npu_machine_platform(npu_machine* machine) {
  return &machine->platform;
}

unsigned npu_machine_cards(const npu_machine* machine) {
  return machine->machine->cards();
}

int npu_machine_card(npu_machine* machine, unsigned index, uint16_t* bdf) {
  const auto found = machine->machine->card(index);
  if (found && found->segment() != 0) {
    return machine->failed(
        {npu::ErrorCode::kUnsupported, to_string(*found) + " is not in PCI segment 0"});
  }
  if (found) *bdf = static_cast<std::uint16_t>(found->packed());
  return machine->status(found);
}

const char* npu_machine_error(const npu_machine* machine) {
  return machine->message.c_str();
}

int64_t npu_machine_now(const npu_machine* machine) {
  return machine->machine->now().since_power_up().count();
}

void npu_machine_run_until(npu_machine* machine, int64_t time) {
  machine->machine->run_until(Instant(Picoseconds(time)));
}

npu_accesses* npu_machine_accesses(npu_machine* machine, void (*call)(void* user), void* user) {
  auto* const accesses = new npu_accesses;
  accesses->made = machine->machine->accesses([&] { call(user); });
  accesses->text = accesses->made.text(npu::testkit::all_access_kinds());
  return accesses;
}

uint64_t npu_accesses_count(const npu_accesses* accesses, npu_access_kind kind, const char* name) {
  if (kind < NPU_MMIO_READ || kind > NPU_INTERRUPT) return 0;
  const auto which = static_cast<AccessKind>(kind);
  return name == nullptr ? accesses->made.count(which) : accesses->made.count(which, name);
}

int64_t npu_accesses_elapsed(const npu_accesses* accesses) {
  return accesses->made.elapsed().count();
}

const char* npu_accesses_text(const npu_accesses* accesses) {
  return accesses->text.c_str();
}

void npu_accesses_free(npu_accesses* accesses) {
  delete accesses;
}

int npu_machine_inject(npu_machine* machine, const npu_fault* fault, const npu_when* when) {
  auto meant = fault_of(*fault);
  const bool known =
      fault->kind >= NPU_LINK_DOWN && fault->kind <= NPU_HUNG_CONTROL_PROCESSOR &&
      set_detail(meant, fault->detail) &&
      (when == nullptr || (when->kind >= NPU_AT_ONCE && when->kind <= NPU_AT_ACCESS));
  if (!known) return machine->failed({npu::ErrorCode::kInvalidArgument, "no such fault or time"});
  return machine->status(machine->machine->inject(meant, when_of(when)));
}

size_t npu_machine_pending_faults(const npu_machine* machine) {
  return machine->machine->pending_faults();
}

void npu_machine_watch_races(npu_machine* machine) {
  machine->machine->watch_races();
}

void npu_machine_host_accesses(npu_machine* machine, const void* bytes, size_t size, int write) {
  const npu::ConstByteSpan span{static_cast<const std::byte*>(bytes), size};
  write != 0 ? machine->machine->host_writes(span) : machine->machine->host_reads(span);
}

void npu_machine_host_looks(npu_machine* machine) {
  machine->machine->host_looks();
}

const char* npu_machine_races(npu_machine* machine) {
  machine->races.clear();
  for (const auto& race : machine->machine->races()) {
    machine->races += npu::testkit::describe(race) + "\n";
  }
  return machine->races.c_str();
}

int npu_machine_metric(npu_machine* machine, const char* name, int64_t value, unsigned decimals,
                       const char* unit) {
  return machine->status(machine->machine->add_metric(name, value, decimals, unit));
}

const char* npu_machine_leaks(npu_machine* machine) {
  machine->leaks = npu::testkit::describe(machine->machine->leaks());
  return machine->leaks.c_str();
}

int npu_machine_write_report(npu_machine* machine, const char* name, const char* outcome,
                             const char* path) {
  std::ofstream file(path, std::ios::binary);
  file << machine->machine->report(name, outcome == nullptr ? "complete" : outcome);
  file.close();
  if (file) return NPU_OK;
  return machine->failed(
      {npu::ErrorCode::kIo, std::string(path) + ": cannot be written: " + std::strerror(errno)});
}
