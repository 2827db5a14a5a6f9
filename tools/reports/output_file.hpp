// SPDX-License-Identifier: Apache-2.0
// A file that a command line names for what a run has to say. A regular file is replaced as a whole
// at the end: whatever ends the program before, nothing or the old contents are there.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "npu/base/byte_span.hpp"
#include "npu/base/errno_text.hpp"

namespace npu::reports {

class OutputFile {
 public:
  // Looks before a run whether `path` can be written. `what` begins the messages: "--report". A
  // regular file is not touched yet; a device, pipe or open descriptor (/dev/stdout, /dev/fd/3) is
  // opened, which waits for the reader of a FIFO. Errors as code_of_errno().
  static Result<OutputFile> open(const std::string& what, const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();  // what has not been committed is gone

  // Adds to what the file is going to hold. kIo
  Status append(ConstByteSpan bytes);
  Status append(const std::string& text);
  // The file holds what was appended. kIo
  Status commit();

 private:
  class Target;
  explicit OutputFile(std::unique_ptr<Target> target);
  std::unique_ptr<Target> target_;
};

}  // namespace npu::reports
