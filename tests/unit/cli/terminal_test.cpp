// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/terminal/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "tools/cli/terminal/duration_text.hpp"

namespace npu::cli {
namespace {

// A terminal that is nobody's.
class Terminal : public testing::Test {
 public:
  Terminal() : control_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    ::grantpt(control_);
    ::unlockpt(control_);
    terminal_ = ::open(::ptsname(control_), O_RDWR | O_NOCTTY);
  }
  ~Terminal() override {
    ::close(terminal_);
    ::close(control_);
  }

 protected:
  int control_, terminal_;
};

TEST_F(Terminal, HasTheSizeThatItWasGiven) {
  winsize size{};
  size.ws_row = 12;
  size.ws_col = 40;
  ASSERT_EQ(::ioctl(terminal_, TIOCSWINSZ, &size), 0);
  EXPECT_EQ(terminal_size(terminal_).rows, 12U);
  EXPECT_EQ(terminal_size(terminal_).columns, 40U);
}

TEST_F(Terminal, WithoutASizeHasTheUsualOne) {
  EXPECT_EQ(terminal_size(terminal_).columns, 80U);
  EXPECT_EQ(terminal_size(-1).rows, 24U);
}

TEST_F(Terminal, CanRedrawUnlessItIsADumbOne) {
  ::setenv("TERM", "xterm", 1);
  EXPECT_TRUE(can_redraw(terminal_));
  EXPECT_FALSE(can_redraw(-1));
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(can_redraw(terminal_));
  ::unsetenv("TERM");
  EXPECT_FALSE(can_redraw(terminal_));
}

TEST_F(Terminal, OfAnotherSessionIsNobodyElses) {
  EXPECT_TRUE(is_in_foreground(terminal_));
}

TEST(DurationText, HasTheUnitThatFits) {
  using std::chrono::seconds;
  EXPECT_EQ(duration_text(seconds(119)), "119 s");
  EXPECT_EQ(duration_text(seconds(120)), "2 min");
  EXPECT_EQ(duration_text(seconds(7199)), "119 min");
  EXPECT_EQ(duration_text(seconds(9000)), "2 h 30 min");
}

}  // namespace
}  // namespace npu::cli
