// SPDX-License-Identifier: Apache-2.0
// Runs of npusim as processes, as `sweep` and `validate` start them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "tools/cli/failure.hpp"
#include "tools/cli/sweep/planned_point.hpp"
#include "tools/cli/sweep/sweep_progress.hpp"

namespace npu::cli {

// A number that an option gives.
tl::expected<std::uint64_t, Failure> number_of(const std::string& option, const std::string& text,
                                               std::uint64_t least, std::uint64_t most);

// Runs at a time: what --jobs says, or one for each processor that this process may use.
tl::expected<unsigned, Failure> jobs_of(const std::string& option);

// Runs the points whose reports are not in `results`; what has been done before is in `state`. A
// run that fails is recorded there. The number of the signal that stopped them; 0: none.
tl::expected<int, Failure> run_points(const std::string& name,
                                      const std::vector<const sweep::PlannedPoint*>& points,
                                      const std::string& results, unsigned jobs,
                                      sweep::SweepState& state);

// Says so in a line, and ends this process as the signal would have.
[[noreturn]] void end_by(int signal, const std::string& name, const sweep::SweepState& state,
                         const std::string& hint);

// An error of a file or a process, as the end of a command.
tl::unexpected<Failure> give_up(const npu::Error& error);

}  // namespace npu::cli
