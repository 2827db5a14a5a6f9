// SPDX-License-Identifier: Apache-2.0
// Cards for libnpudsmi: those of a running server, or of a machine made to be looked at.
#pragma once

#include <functional>

#include "tools/cli/options.hpp"

namespace npu::cli {

// Runs `body` with cards attached; `live`: they are a server's, so that there is something to wait
// for between two looks. `command` begins the text of a failure.
Outcome with_cards(const Options& options, const std::string& command,
                   const std::function<Outcome(bool live)>& body);
// The same with the cards of a configuration driven by libnpudrv, which virtual devices need.
Outcome with_driven_cards(const Options& options, const std::string& command,
                          const std::function<Outcome()>& body);

}  // namespace npu::cli
