// SPDX-License-Identifier: Apache-2.0
// How a command ends.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace npu::cli {

inline constexpr int kExitFailure = 1;   // the command was understood and could not be done
inline constexpr int kExitBadInput = 2;  // the command line or a file it names is wrong
inline constexpr int kExitLook = 3;      // compare: no regression, but a change to look at

struct Failure {
  int exit_code;
  std::string text;  // printed behind "npusim: ", one line
  // A machine was stopped between two events: its tasks still hold what they had.
  bool stopped = false;
};

using Outcome = tl::expected<void, Failure>;

inline tl::unexpected<Failure> bad_input(std::string text) {
  return tl::unexpected<Failure>(Failure{kExitBadInput, std::move(text)});
}
inline tl::unexpected<Failure> failure(std::string text) {
  return tl::unexpected<Failure>(Failure{kExitFailure, std::move(text)});
}

}  // namespace npu::cli
