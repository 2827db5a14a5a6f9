// SPDX-License-Identifier: Apache-2.0
// A thread ends while another one opens a card.
#include <unistd.h>

#include <thread>

#include "check.h"

int main() {
  open_device();
  // The machine has it open from here on: another time the program alone opens it.
  OK(aclrtSetDevice(1));
  OK(aclrtResetDevice(1));
  std::thread first([] {
    uint32_t count = 0;
    OK(aclrtGetDeviceCount(&count));
    usleep(100);
  });
  std::thread second([] { OK(aclrtSetDevice(1)); });
  first.join();
  second.join();
  return end_right();
}
