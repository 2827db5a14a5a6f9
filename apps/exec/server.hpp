// SPDX-License-Identifier: Apache-2.0
// Programs on the modelled host, served by the driver: what `npusim exec` runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/exec/acl/client_sharing.hpp"
#include "apps/exec/acl/driver_settings.hpp"
#include "apps/exec/acl/leftovers.hpp"
#include "apps/exec/functions.hpp"
#include "apps/exec/kernels/built_in.hpp"
#include "apps/exec/races/detector.hpp"
#include "apps/exec/snapshot.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/platform.hpp"

namespace npu::exec {

struct CardDescription {
  std::string soc_name;  // "Ascend910B2"
};

// Calls of one function by one program, in simulated time.
struct CallStatistics {
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;  // with an error
  Picoseconds total;
  Picoseconds longest;
};

struct ProgramResult {
  std::string name;   // "p0"
  std::string title;  // the program's words
  int exit_code = 0;
  unsigned threads = 0;     // that have called
  Picoseconds work;         // between calls, if that takes time
  unsigned stalls = 0;      // times that it was stopped or silent for too long
  Instant first_call, end;  // of the first call's beginning; when all was given back
  std::map<std::string, CallStatistics> calls;  // by function
  std::uint64_t fault_warnings = 0;             // page faults that nobody could serve: too many
  bool shares = false;                          // `use` says something
  acl::ClientUse use;
  acl::Leftovers left;  // that it never gave back itself
};

struct ServerResult {
  std::vector<ProgramResult> programs;
  Bytes memory_left = 0;  // of the cards', that programs had and that was not given back
};

struct ServerOptions {
  std::vector<std::vector<std::string>> programs;  // words of each
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<CardDescription> cards;  // by device index
  // `on_fault_errors` is not looked at.
  acl::DriverSettings driver;
  // A line for whoever reads along, as it happens. May be empty.
  std::function<void(const std::string&)> tell;
  // Virtual functions of the first card, and which of them a program has, by its number; programs
  // that are not in the list have what the last one has. Nothing: the cards.
  std::vector<CardFunction> functions;
  std::vector<std::optional<std::size_t>> function_of;
  BuiltInImages images;
  // Looks for races; null: nobody does. Its card's side is told by whoever knows the cards.
  races::Detector* races = nullptr;
  // What a card, by its index, offers operators that are compiled on demand.
  acl::ProgramOperators::Cores operator_cores;
  // How programs share cards: the first ones each its own, all others as the last; may be empty.
  std::vector<acl::ClientSharing> sharing;
  // Wall time after which others do not wait any more for a program that neither calls nor sleeps.
  std::chrono::milliseconds timeout{60'000};
  // What a program has done between two calls (compat::WorkMeter) takes time of the current task:
  // charges it and returns it. Empty: it takes none.
  std::function<Picoseconds(std::uint64_t)> charge_work;
  // Told how to look at the server, as long as it is there; then with nothing.
  std::function<void(std::function<ServerSnapshot()>)> watched;
  // Told how to give up, as long as the server is there; then with nothing. For who has stopped the
  // simulation, or found that it goes no further: ends all programs, and says what they have done.
  std::function<void(std::function<ServerResult()>)> abandonable;
  // Asked while wall time passes: true, and no program is waited for any more. Simulated time goes
  // on with nothing happening, until somebody stops the simulation.
  std::function<bool()> interrupted;
  // Called while wall time passes and simulated time stands still.
  std::function<void()> idle;
};

// To be called by the first host task; returns when all programs have ended, children and orphans
// of theirs included, and what they had was given back. kNotFound: a program cannot be started,
// none runs any more; kInvalidArgument: the card cannot be divided like that, and none was started;
// kIo.
Result<ServerResult> serve_programs(platform::Platform& platform, const ServerOptions& options);

}  // namespace npu::exec
