// SPDX-License-Identifier: Apache-2.0
// The SystemC library's own main() refers to sc_main(). npusim's programs have their own main(),
// so this is never called.
extern "C" int sc_main(int, char**);

extern "C" int sc_main(int, char**) {
  return 1;
}
