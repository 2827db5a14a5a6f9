// SPDX-License-Identifier: Apache-2.0
// Owns the precompiled headers of all tests; does nothing itself.
int main() {
  return 0;
}
