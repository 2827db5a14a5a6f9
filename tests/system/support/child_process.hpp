// SPDX-License-Identifier: Apache-2.0
// What a run in a process of its own says: SystemC elaborates once in a process, and a report has
// the counters of that run alone.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/system/support/machine.hpp"
#include "tools/reports/report_reader.hpp"

namespace npu::test {

// `run` gives a text. It runs in a child; a failed expectation there is one here.
inline std::string text_of_process(const std::function<std::string()>& run) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = run();
    const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(testing::Test::HasFailure() || written != static_cast<ssize_t>(text.size()) ? 1 : 0);
  }
  close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t size = 0; (size = read(ends[0], piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return text;
}

// The same for a report as JSON.
inline reports::Report report_of_process(const std::function<std::string()>& run) {
  return must(reports::read_report(text_of_process(run)));
}

}  // namespace npu::test
