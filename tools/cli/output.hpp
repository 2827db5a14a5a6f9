// SPDX-License-Identifier: Apache-2.0
// What commands have to say: standard output, and files that the command line names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/failure.hpp"
#include "tools/reports/output_file.hpp"

namespace npu::cli {

// Standard descriptors that the caller closed must not become files that are opened later: then
// reading finds nothing and writing fails. Once, before anything else is opened.
void hold_standard_descriptors();

// All of `text` to standard output, at once. kExitFailure with errno's text.
Outcome print(const std::string& text);

// All of `text` to the file of --output, or to standard output if there is none.
Outcome write_output(const std::string& path, const std::string& text);

// Whether two paths name one file, by whatever name, or would once it is made.
bool is_same_file(const std::string& a, const std::string& b);

// An option names one of the files that the command reads: they would be lost.
Outcome check_not_read(const std::string& option, const std::string& path,
                       const std::vector<std::string>& read);

// More than `most` arguments of a command are bad input.
Outcome expect_at_most(std::size_t most, const std::string& command,
                       const std::vector<std::string>& arguments);

// A workload's or file's error as the end of a command: kInvalidArgument is bad input.
Failure to_failure(const Error& error, const std::string& text);

// The file of an option such as --report; without a path nothing is written.
class OptionFile {
 public:
  // Before the run, so that a file that cannot be written costs no simulation.
  static tl::expected<OptionFile, Failure> open(const std::string& option, const std::string& path);
  bool is_wanted() const { return file_.has_value(); }
  Outcome write(const std::string& text);

 private:
  std::optional<reports::OutputFile> file_;
};

}  // namespace npu::cli
