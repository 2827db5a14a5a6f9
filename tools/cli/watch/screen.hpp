// SPDX-License-Identifier: Apache-2.0
// The whole screen of the terminal that standard error is. What was there comes back when it is
// given back, when a signal ends the process and while Ctrl-Z stops it.
#pragma once

#include <signal.h>

#include <string>

namespace npu::cli {

// One at a time, on the main thread, beside an Interruption.
class Screen {
 public:
  Screen();
  ~Screen();  // gives it back
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // False while somebody else has the terminal: a shell that has put the process into the
  // background.
  bool is_ours() const;
  // Takes the screen if it has not been taken, or was given back; `text` says where on it.
  void draw(const std::string& text);

 private:
  struct sigaction before_ {};
};

}  // namespace npu::cli
