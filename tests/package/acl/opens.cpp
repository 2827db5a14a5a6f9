// SPDX-License-Identifier: Apache-2.0
// Threads while another one opens a card: one that works on its own card, and one that ends.
#include <unistd.h>

#include <thread>

#include "check.h"

namespace {

// The machine opens it the first time, later the program alone.
void open_and_close() {
  OK(aclrtSetDevice(1));
  OK(aclrtResetDevice(1));
}

// Each of these asks the card's management.
void work() {
  OK(aclrtSetDevice(0));
  for (int i = 0; i < 100; ++i) OK(aclrtDestroyStream(new_stream()));
}

void end_soon() {
  uint32_t count = 0;
  OK(aclrtGetDeviceCount(&count));
  usleep(100);
}

void beside_opening(void (*what)()) {
  std::thread first(what), second(open_and_close);
  first.join();
  second.join();
}

}  // namespace

int main() {
  open_device();
  beside_opening(work);
  beside_opening(end_soon);
  return end_right();
}
