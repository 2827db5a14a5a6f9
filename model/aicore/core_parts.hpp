// SPDX-License-Identifier: Apache-2.0
// The parts of a core that all its units use: its thread, the calls it is in, its port to memory,
// its flags, and its statistics.
#pragma once

#include <string>

#include "model/aicore/core_window.hpp"
#include "model/aicore/cross_flag_port.hpp"
#include "model/aicore/instruction_checks.hpp"
#include "model/aicore/poll_loop.hpp"
#include "model/aicore/request_port.hpp"

namespace npu::model {

struct CoreParts {
  class Owner : public RequestPort::Carrier,
                public CoreThread::Others,
                public CrossFlagPort::Listener {};

  // Trace events have the tracks `track` + pipe.
  CoreParts(ProgramServices& services, const std::string& track, unsigned number, Owner& owner);
  CoreParts(const CoreParts&) = delete;
  CoreParts& operator=(const CoreParts&) = delete;

  ProgramServices& services;
  const unsigned number;
  const BufferSizes sizes;
  const FixpipeWays ways;
  ProgramCoreStatistics statistics;
  CoreWindow window;
  CoreTracks tracks;
  CallStack calls;
  CoreThread thread;
  RequestPort requests;
  PollLoop polls;
  CrossFlagPort cross_flags;
};

}  // namespace npu::model
